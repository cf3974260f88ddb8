"""What the tests at a real browser share: pages that hear complaints, an account, pictures in two widths."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.system.stack import Stack

# the first is the same engine without the windows and the emulated graphics card of the others: a quarter of the time
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PASSWORD = "열두글자가넘는비밀번호"
EXPECTED_WITHIN = 60_000  # milliseconds; a page takes a fraction of one second where nothing else runs
WIDTHS = {1280: 900, 390: 800}


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


def complaints_of(page: Page, *, but: str | None = None) -> list[str]:
    """The errors that ``page`` has, of scripts or of the security policy, as they come; none with ``but`` in it."""
    heard: list[str] = []

    def hear(text: str) -> None:
        if but is None or but not in text:
            heard.append(text)

    page.on("console", lambda said: hear(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: heard.append(str(error)))
    return heard


@contextmanager
def pages_of(browser: Browser, count: int, *, but: str | None = None) -> Iterator[list[Page]]:
    """Pages that know nothing of each other; complaints of one, none with ``but`` in it, fail the test."""
    contexts = [browser.new_context(locale="ko-KR") for _ in range(count)]
    pages = [new_page(context) for context in contexts]
    complaints = [complaints_of(page, but=but) for page in pages]
    yield pages
    for context in contexts:
        context.close()
    assert not any(complaints), complaints


def new_page(context: BrowserContext) -> Page:
    """A page that waits as long for a field as a test for what it expects: others load the cores."""
    page = context.new_page()
    page.set_default_timeout(EXPECTED_WITHIN)
    return page


def sign_up(page: Page, stack: Stack) -> str:
    """The address of a new account, which is logged in on ``page``."""
    email = f"{uuid.uuid4().hex[:12]}@example.org"
    page.goto(f"{stack.url}/accounts/signup/")
    page.get_by_label("이름", exact=True).fill("김운영")
    page.get_by_label("이메일", exact=True).fill(email)
    page.get_by_label("비밀번호", exact=True).fill(PASSWORD)
    page.get_by_label("비밀번호 확인").fill(PASSWORD)
    page.get_by_label("개인정보 처리방침을 읽었고").check()
    page.get_by_role("button", name="가입하기").click()
    expect(page.get_by_role("status")).to_contain_text("로그인되었습니다")
    return email


def log_in_somebody(page: Page, stack: Stack) -> str:
    """The address of a new account, which is logged in on ``page``, where it matters to no test how it came about."""
    made = stack.call("tests.system.make_people", "log_in_somebody")
    page.context.add_cookies([{"name": made["cookie"], "value": made["session"], "url": stack.url}])
    return str(made["email"])


def take_pictures(page: Page, folder: Path, name: str, *, axe: bool = False) -> None:
    """The page in both widths: it may not scroll sideways in either, nor with ``axe`` have what axe objects to. With
    PICTURES in the environment, pictures of it are in ``folder``.
    """
    script = Axe()
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        sideways = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if "PICTURES" in os.environ:
            page.screenshot(path=folder / f"{name}-{width}.png", full_page=True)
        assert sideways <= 0, (name, width)
        if axe:
            found = script.run(page)
            script = Axe(axe_script="null")  # it is in the page now: half a megabyte to be read again
            assert found.violations_count == 0, (name, width, found.generate_report())
    be_drawn(page, 1280)


def be_drawn(page: Page, width: int) -> None:
    """Give ``page`` that width and see that the browser draws it. Once it drew nothing more after a change of size, for
    a minute and on a busy machine, and whatever waits for two frames (a click does) waited in vain.
    """
    frame = "new Promise(drawn => { requestAnimationFrame(() => drawn(true)); setTimeout(() => drawn(false), 5000) })"
    for _ in range(3):
        page.set_viewport_size({"width": width, "height": WIDTHS[width]})
        if page.evaluate(frame):
            return
        page.bring_to_front()
        page.screenshot()  # asks the browser for a frame
    raise AssertionError("the browser draws no frames")
