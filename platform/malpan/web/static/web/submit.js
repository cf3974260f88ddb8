// Comforts on top of plain forms: drag and drop, a size check before sending, a copy button, errors that go. Nothing depends on them.
"use strict";

function enhanceUpload(form) {
  const drop = form.querySelector("[data-drop]");
  const input = drop.querySelector("input[type=file]");
  const error = drop.querySelector("[data-drop-error]");
  const button = form.querySelector("button:not([type=button])");
  const maxBytes = Number(form.dataset.maxBytes);

  drop.querySelector("[data-drop-hint]").hidden = false;

  function isTooLarge() {
    const file = input.files[0];
    const tooLarge = Boolean(file) && file.size > maxBytes;
    error.textContent = tooLarge ? form.dataset.tooLarge : "";
    error.hidden = !tooLarge;
    input.toggleAttribute("aria-invalid", tooLarge);
    return tooLarge;
  }

  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.add("is-over");
    });
  }
  for (const name of ["dragleave", "drop"]) {
    drop.addEventListener(name, () => drop.classList.remove("is-over"));
  }
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length === 1) {
      input.files = event.dataTransfer.files;
      isTooLarge();
    }
  });
  input.addEventListener("change", isTooLarge);

  form.addEventListener("submit", (event) => {
    if (isTooLarge()) {
      event.preventDefault();
      input.focus();
      return;
    }
    const pressed = event.submitter || button;
    form.querySelectorAll("button[type=submit]").forEach((each) => (each.disabled = true));
    pressed.dataset.label = pressed.textContent;
    pressed.textContent = form.dataset.sending;
  });
  // a page brought back from the history must be usable again
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) {
      for (const each of form.querySelectorAll("button[type=submit]")) {
        each.disabled = false;
        each.textContent = each.dataset.label || each.textContent;
      }
    }
  });
}

function enhanceCopy(button) {
  const source = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    source.select();
    try {
      await navigator.clipboard.writeText(source.value);
    } catch {
      document.execCommand("copy"); // without https the clipboard API is not there
    }
    button.textContent = button.dataset.copied;
  });
}

// a download leaves the page as it is: what was wrong the last time must not stay beside it
function enhanceDownload(form) {
  form.addEventListener("submit", () => {
    for (const error of form.querySelectorAll(".errorlist, .notice.error")) {
      error.remove();
    }
    for (const input of form.querySelectorAll("[aria-invalid]")) {
      input.removeAttribute("aria-invalid");
    }
  });
}

for (const form of document.querySelectorAll("form[data-download]")) {
  enhanceDownload(form);
}
for (const form of document.querySelectorAll("form[data-upload]")) {
  enhanceUpload(form);
}
for (const button of document.querySelectorAll("[data-copy]")) {
  enhanceCopy(button);
}
document.getElementById("errors")?.focus();
