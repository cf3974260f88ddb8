// Comforts of a judge's page on top of plain forms: keys, drafts kept by themselves, time measured, errors marked in the text.
// Nothing depends on them.
"use strict";

const TYPING = "textarea, select, input:not([type=radio], [type=checkbox])";
const MARKS = { minor: "is-minor", major: "is-major", critical: "is-critical" }; // class by severity
const SAVE_AFTER = 800; // milliseconds without a change

/* --- keys: by their place on the keyboard, as with a Korean layout U is ㅕ --- */

function keysAreOn() {
  return localStorage.getItem("arena-keys") !== "off";
}

function offerKeys() {
  const box = document.querySelector("[data-keys]");
  const isOn = box.querySelector("[data-keys-on]");
  box.hidden = false;
  isOn.checked = keysAreOn();
  isOn.addEventListener("change", () => localStorage.setItem("arena-keys", isOn.checked ? "on" : "off"));
}

function isAnswered(question) {
  return Boolean(question.querySelector("input:checked") ?? question.querySelector("input[type=number]")?.value);
}

// the question with the focus, else the first without an answer, else the first
function answer(form, digit) {
  const questions = [...form.querySelectorAll("[data-question]")];
  const ofKeys = questions.filter((each) => each.querySelector("[data-key]"));
  const here = ofKeys.find((each) => each.contains(document.activeElement));
  const question = here ?? ofKeys.find((each) => !isAnswered(each)) ?? ofKeys[0];
  const input = question?.querySelector(`[data-key="${digit}"]`);
  if (!input || input.matches(":disabled")) {
    return false;
  }
  input.checked = true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
  const next = questions.slice(questions.indexOf(question) + 1).find((each) => !isAnswered(each));
  (next?.querySelector("input") ?? input).focus();
  return true;
}

function rate(digit) {
  const row = document.activeElement.closest("[data-span]");
  const input = row?.querySelector(`[data-severity="${digit}"]`);
  if (!input) {
    return false;
  }
  input.checked = true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
  input.focus();
  return true;
}

function send(form) {
  form.requestSubmit(form.querySelector("[data-send]"));
}

function act(event, form) {
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1];
  if (digit !== undefined) {
    return rate(digit) || answer(form, digit);
  }
  if (event.key === "Enter" && form.querySelector("[data-send]")) {
    send(form);
    return true;
  }
  const target = {
    KeyN: () => form.querySelector("#note"),
    KeyS: () => form.querySelector("input[name=score]"),
    KeyM: () => document.querySelector("[data-marked][tabindex]"),
  }[event.code]?.();
  target?.focus();
  const undo = event.code === "KeyU" ? document.querySelector("[data-undo]") : null;
  undo?.click();
  return Boolean(target ?? undo);
}

function listenToKeys(form) {
  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.isComposing || event.defaultPrevented || event.altKey || event.metaKey) {
      return;
    }
    if (target.matches(TYPING)) {
      if (event.key === "Escape") {
        target.blur();
      } else if (event.key === "Enter" && (event.ctrlKey || (target.type !== "textarea" && target.localName === "input"))) {
        event.preventDefault();
        target.matches("[data-quote], [data-at]") && !event.ctrlKey ? target.blur() : send(form);
      }
      return;
    }
    if (event.ctrlKey || !keysAreOn() || (event.key === "Enter" && target.closest("a, button, summary"))) {
      return;
    }
    if (act(event, form)) {
      event.preventDefault();
    }
  });
}

/* --- time: while the page is looked at, over reloads --- */

function measure(form) {
  const key = `arena-seconds-${form.dataset.judge}-${form.elements.expected.value}`;
  const clock = form.querySelector("[data-clock]");
  let seconds = Number(sessionStorage.getItem(key) ?? 0);
  setInterval(() => {
    if (document.visibilityState !== "visible") {
      return;
    }
    seconds += 1;
    sessionStorage.setItem(key, String(seconds));
    clock.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }, 1000);
  form.addEventListener("submit", () => {
    form.elements.seconds.value = String(Math.max(1, seconds));
  });
}

/* --- drafts --- */

// logging in, in another tab as well, makes another token, and the one on this page is refused
function renewToken(form) {
  const token = /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1];
  if (token) {
    form.elements.csrfmiddlewaretoken.value = token;
  }
}

function keepDrafts(form) {
  const said = form.querySelector("[data-said]");
  let waiting = 0;
  let isSent = false;

  async function save() {
    waiting = 0;
    renewToken(form);
    try {
      const response = await fetch(form.dataset.draft, { method: "POST", body: new FormData(form) });
      said.textContent = response.redirected ? form.dataset.loggedOut : (await response.json()).said;
    } catch {
      said.textContent = isSent ? "" : form.dataset.notSaved;
    }
  }
  function later() {
    clearTimeout(waiting);
    waiting = isSent ? 0 : setTimeout(save, SAVE_AFTER);
  }
  form.addEventListener("input", later);
  form.addEventListener("change", later);
  form.addEventListener("submit", () => {
    isSent = true;
    clearTimeout(waiting);
  });
  window.addEventListener("pagehide", () => {
    if (waiting && !isSent) {
      renewToken(form);
      navigator.sendBeacon(form.dataset.draft, new FormData(form));
    }
  });
  form.querySelector("[data-draft-button]").hidden = true;
}

function sendOnce(form) {
  const button = form.querySelector("[data-send]");
  form.addEventListener("submit", () => {
    renewToken(form);
    button.disabled = true;
  });
  // a page brought back from the history must be usable again
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) {
      button.disabled = false;
    }
  });
}

/* --- errors marked in the text; places on the form are in characters, here in UTF-16 units --- */

function characters(text) {
  return Array.from(text).length;
}

function markErrors(form, text) {
  const source = text.textContent;
  const rows = form.querySelector("[data-spans]");
  const said = form.querySelector("[data-said]");
  const chosen = { anchor: 0, focus: 0, range: null };

  function units(count) {
    return Array.from(source).slice(0, count).join("").length;
  }

  /* what the rows say, and the text painted with it */
  function placeOf(row) {
    const words = row.querySelector("[data-quote]").value.trim().split(/\s+/);
    const start = row.querySelector("[data-start]").value;
    return words[0] && start !== "" ? [units(Number(start)), units(Number(row.querySelector("[data-end]").value))] : null;
  }
  function paint() {
    const marks = [...rows.children]
      .map((row) => ({ place: placeOf(row), severity: row.querySelector("[data-severity]:checked")?.value ?? "minor" }))
      .filter((mark) => mark.place);
    const edges = [0, source.length, ...marks.flatMap((mark) => mark.place)];
    const sorted = [...new Set(edges)].sort((one, other) => one - other);
    const pieces = sorted.slice(1).map((end, index) => {
      const start = sorted[index];
      const over = marks.filter((mark) => mark.place[0] <= start && mark.place[1] >= end);
      const piece = document.createTextNode(source.slice(start, end));
      if (!over.length) {
        return piece;
      }
      const mark = document.createElement("mark");
      mark.className = over.map((each) => MARKS[each.severity]).join(" ");
      mark.append(piece);
      return mark;
    });
    text.replaceChildren(...pieces);
  }

  /* rows */
  function pattern(quote) {
    const words = quote.trim().split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(words.join("\\s+"), "g");
  }
  function write(row, start, end) {
    row.querySelector("[data-start]").value = start === null ? "" : String(characters(source.slice(0, start)));
    row.querySelector("[data-end]").value = start === null ? "" : String(characters(source.slice(0, end)));
  }
  function find(row) {
    const quote = row.querySelector("[data-quote]").value;
    const at = Number(row.querySelector("[data-at]").value) || 1;
    const match = quote.trim() ? [...source.matchAll(pattern(quote))][at - 1] : null;
    write(row, match ? match.index : null, match ? match.index + match[0].length : null);
    paint();
  }
  function newRow() {
    const empty = [...rows.children].find((row) => !row.querySelector("[data-quote]").value.trim());
    if (empty) {
      return empty;
    }
    const holder = document.createElement("div");
    const number = form.elements.spans.value;
    holder.innerHTML = form.querySelector("[data-span-template]").innerHTML.replaceAll("__n__", number);
    form.elements.spans.value = String(Number(number) + 1);
    const row = holder.firstElementChild;
    rows.append(row);
    return enhance(row);
  }
  function isBegun(row) {
    return Boolean(row.querySelector("[data-quote]").value || row.querySelector("[data-severity]:checked") || row.querySelector("select")?.value);
  }
  function enhance(row) {
    const remove = row.querySelector("[data-remove]");
    remove.hidden = false;
    remove.addEventListener("click", () => {
      row.querySelector("[data-quote]").value = "";
      for (const input of row.querySelectorAll("[data-severity]:checked")) {
        input.checked = false;
      }
      for (const select of row.querySelectorAll("select")) {
        select.value = "";
      }
      find(row);
      row.hidden = rows.querySelectorAll("[data-span]:not([hidden])").length > 1;
      rows.dispatchEvent(new Event("change", { bubbles: true }));
      text.focus();
    });
    for (const name of ["[data-quote]", "[data-at]"]) {
      row.querySelector(name).addEventListener("input", () => find(row));
    }
    row.addEventListener("change", paint);
    if (row.querySelector("[data-quote]").value && !row.querySelector("[data-start]").value) {
      find(row); // a draft of a browser without script
    }
    return row;
  }

  /* choosing: with the pointer by the browser, with keys as in an editor, a character at least */
  function point(offset) {
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    let left = offset;
    let node = walker.nextNode();
    for (let next = node; next && left > node.length; left -= node.length, node = next) {
      next = walker.nextNode();
      if (!next) {
        break;
      }
    }
    return [node, Math.min(left, node.length)];
  }
  function select() {
    const [start, last] = [Math.min(chosen.anchor, chosen.focus), Math.max(chosen.anchor, chosen.focus)];
    const end = Math.min(source.length, last + (source.codePointAt(last) > 0xffff ? 2 : 1));
    getSelection().setBaseAndExtent(...point(start), ...point(end));
    chosen.range = [start, end]; // the event of the selection comes later, maybe after Enter
    said.textContent = source.slice(start, end).trim();
  }
  function step(direction, isWord) {
    const stops = isWord ? [...source.matchAll(/\S+/g)].map((match) => match.index) : Array.from(source.matchAll(/[^]/gu), (match) => match.index);
    const found = direction > 0 ? stops.find((stop) => stop > chosen.focus) : stops.findLast((stop) => stop < chosen.focus);
    return found ?? (direction > 0 ? stops.at(-1) : 0);
  }
  function mark() {
    const [first, last] = chosen.range ?? [0, 0];
    const quote = source.slice(first, last).trim();
    if (!quote) {
      text.focus();
      return;
    }
    const start = first + source.slice(first, last).indexOf(quote);
    const row = newRow();
    row.hidden = false;
    row.querySelector("[data-quote]").value = quote.replace(/\s+/g, " ");
    const before = [...source.matchAll(pattern(quote))].filter((match) => match.index < start).length;
    row.querySelector("[data-at]").value = String(before + 1);
    write(row, start, start + quote.length);
    paint();
    chosen.range = null;
    said.textContent = "";
    rows.dispatchEvent(new Event("change", { bubbles: true }));
    row.querySelector("[data-severity]").focus();
  }

  document.addEventListener("selectionchange", () => {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) {
      return;
    }
    const range = selection.getRangeAt(0);
    if (!text.contains(range.startContainer) || !text.contains(range.endContainer)) {
      return;
    }
    const before = document.createRange();
    before.selectNodeContents(text);
    before.setEnd(range.startContainer, range.startOffset);
    const start = before.toString().length;
    chosen.range = [start, start + range.toString().length];
  });
  text.addEventListener("keydown", (event) => {
    const isWord = event.ctrlKey || event.altKey;
    const to = {
      ArrowLeft: () => step(-1, isWord),
      ArrowRight: () => step(1, isWord),
      Home: () => 0,
      End: () => step(1, false) && source.length - 1,
    }[event.key]?.();
    if (event.key === "Enter") {
      mark();
    } else if (event.key === "Escape") {
      text.blur();
    } else if (to === undefined) {
      return;
    } else {
      chosen.focus = to;
      chosen.anchor = event.shiftKey ? chosen.anchor : to;
      select();
    }
    event.preventDefault();
  });
  text.addEventListener("focus", () => {
    if (text.matches(":focus-visible")) {
      select();
    }
  });
  const button = form.querySelector("[data-mark]");
  button.addEventListener("pointerdown", (event) => event.preventDefault()); // else the selection is gone
  button.addEventListener("click", mark);
  form.querySelector("[data-more]")?.addEventListener("click", (event) => {
    event.preventDefault();
    const row = newRow();
    row.hidden = false;
    row.querySelector("[data-quote]").focus();
  });
  form.querySelector("[data-mark-bar]").hidden = false;
  text.tabIndex = 0;
  text.setAttribute("role", "group");
  text.setAttribute("aria-describedby", "mark-help");
  for (const row of rows.children) {
    enhance(row);
    row.hidden = row !== rows.firstElementChild && !isBegun(row);
  }
  paint();
}

/* --- a page --- */

const judged = document.querySelector("form[data-judge]");
const next = document.querySelector("form[data-next]");
if (judged) {
  offerKeys();
  listenToKeys(judged);
  if (judged.querySelector("[data-send]")) {
    measure(judged);
    sendOnce(judged);
  }
  if (judged.dataset.draft) {
    keepDrafts(judged);
  }
  const text = document.querySelector("[data-marked]");
  if (text && judged.querySelector("[data-send]")) {
    markErrors(judged, text);
  }
}
if (next) {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && keysAreOn() && !event.target.closest("a, button, summary")) {
      next.requestSubmit();
    }
  });
}
document.getElementById("errors")?.focus();
