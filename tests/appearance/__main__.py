"""``python -m tests.appearance``: looks at every page and says what is wrong. Exit status 1 if something is.

Each page is opened in four forms (``FORMS``), asked by axe in each, has no target in any that is too small for
a finger and no row of a table that is laid out otherwise, and may not scroll sideways in any, nor at 320 pixels.
``--pictures FOLDER``: keeps what was seen.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page

from tests.appearance.crawl import Seeker, Seen, pages
from tests.appearance.rows import broken_rows
from tests.appearance.targets import small_targets
from tests.paths import ROOT
from tests.system.browsers import chromium, complaints_of
from tests.system.stack import Stack
from tests.waiting import wait_for

PEOPLE: Final = "tests.appearance.people"
WINNER: Final = "winner"  # of whom one page is looked at: the others are those of a participant
JUDGES: Final = ("judge", "newcomer")  # of whom those of an evaluation are, most of which a form leads to
SIDEWAYS: Final = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
NARROWEST: Final = 320


@dataclass(frozen=True)
class Form:
    language: str
    scheme: str
    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.language}-{self.scheme}-{self.width}"


FORMS: Final = (
    Form("ko", "light", 1280, 900),
    Form("ko", "dark", 390, 844),
    Form("en", "light", 390, 844),
    Form("en", "dark", 1280, 900),
)


def main() -> int:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # the site is stopped with it
    began = time.monotonic()
    with demo_site() as site, chromium() as browser:
        sessions = site.call(PEOPLE, "sessions")
        site.call(PEOPLE, "add_empty_competitions")
        awarded = wait_for(partial(site.call, PEOPLE, "awarded"), "the awards of the demo", seconds=600, every=2)
        found = list(_found(site, sessions, options, awarded["check"]))
        if not options.who or WINNER in options.who:
            sessions[WINNER] = awarded["session"]
            found.append(Seen(WINNER, "team", awarded["team"], 200))
        if not options.who or {*JUDGES} & {*options.who}:
            wait_for(lambda: "/arena/" in site.log, "the evaluation that goes on", seconds=600, every=2)
            judging = site.call(PEOPLE, "judging")
            sessions |= judging["sessions"]
            found += [Seen(*each, 200) for each in judging["pages"]]
        print(f"{len(found)} pages of {len({each.name for each in found})} views", flush=True)
        faults, runs = 0, 0
        for who in dict.fromkeys(each.who for each in found):
            for form in FORMS:
                with _context(browser, site, form, sessions.get(who)) as context:
                    for seen in (each for each in found if each.who == who):
                        wrong = look(context, site, seen, form, options.pictures)
                        print("".join(f"{line}\n" for line in wrong), end="", flush=True)
                        runs, faults = runs + 1, faults + len(wrong)
        missing = sorted({*site.call(PEOPLE, "all_names")} - {each.name for each in found})
    print(f"views without a page here: {', '.join(missing)}")
    print(f"{runs} looks in {time.monotonic() - began:.0f} s: {faults} faults")
    return 1 if faults else 0


@contextmanager
def demo_site() -> Iterator[Stack]:
    """A site with the demo, all of it scored."""
    folder = Path(tempfile.mkdtemp(prefix="malpan-"))
    var = Path(os.environ.get("MALPAN_TEST_VAR") or ROOT / "var" / "test")
    site = Stack(folder / "site", var / "models")
    site.environment["LOAD_DEMO"] = "on"
    try:
        site.start()
        wait_for(lambda: "board complete" in site.log, "the complete board", seconds=600, every=0.5)
        yield site
    finally:
        site.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _found(site: Stack, sessions: dict[str, str], options: argparse.Namespace, unlinked: str) -> Iterator[Seen]:
    names = partial(site.call, PEOPLE, "names_of")
    for who in options.who or ["visitor", *sessions]:
        if who in (WINNER, *JUDGES):
            continue
        cookies = {"sessionid": sessions[who]} if who in sessions else {}
        starts = ["/", "/competitions/just-made/manage/"] if who == "staff" else ["/", unlinked]
        yield from pages(site.url, Seeker(who, cookies, options.of_each), starts, names)


@contextmanager
def _context(browser: Browser, site: Stack, form: Form, session: str | None) -> Iterator[BrowserContext]:
    context = browser.new_context(
        locale=form.language, color_scheme=form.scheme, viewport={"width": form.width, "height": form.height}
    )
    cookies = {"django_language": form.language} | ({"sessionid": session} if session else {})
    context.add_cookies([{"name": name, "value": value, "url": site.url} for name, value in cookies.items()])
    yield context
    context.close()


def look(context: BrowserContext, site: Stack, seen: Seen, form: Form, pictures: Path | None) -> list[str]:
    """What is wrong with one page in one form."""
    page = context.new_page()
    complaints = complaints_of(page, but=f"status of {seen.status}")
    page.goto(site.url + seen.address)
    where = f"{seen.who} {seen.name} {seen.address} {form}"
    wrong = [f"{where}: {each}" for each in complaints]
    if pictures:
        name = re.sub(r"\W+", "-", f"{seen.who}-{seen.name}-{seen.address}")[:120].strip("-")
        (pictures / str(form)).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=pictures / str(form) / f"{name}.png", full_page=True)
    wrong += [f"{where}: {rule['id']}: {_nodes(rule)}" for rule in Axe().run(page).response["violations"]]
    wrong += [f"{where}: too small: {each}" for each in small_targets(page)]
    wrong += [f"{where}: no row of its table: {each}" for each in broken_rows(page)]
    wrong += [f"{where}: scrolls sideways at {width}" for width in _sideways(page, form)]
    page.close()
    return wrong


def _nodes(rule: dict) -> str:
    return "; ".join(str(node["html"])[:160] for node in rule["nodes"][:3])


def _sideways(page: Page, form: Form) -> list[int]:
    widths = [form.width] if form.width > 400 else [form.width, NARROWEST]
    found = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": form.height})
        if page.evaluate(SIDEWAYS) > 0:
            found.append(width)
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.appearance", description=__doc__)
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of all pages")
    parser.add_argument("--of-each", type=int, default=2, help="so many addresses of each view and person (2)")
    parser.add_argument(
        "--who", action="append", default=[], help="visitor, participant, organiser, staff, winner, judge or newcomer"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
