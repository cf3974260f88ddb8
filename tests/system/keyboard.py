"""Somebody at a browser without a pointer: goes on by Tab alone, and must see at every stop where the focus is."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Locator, Page, expect

STOPS: Final = 400  # of one page; more are a trap
FOCUS: Final = """() => {
    const element = document.activeElement;
    if (element === document.body) return {name: "", wrong: []};  // past the end of the page
    const name = `${element.localName} ${element.innerText || element.name || element.className}`.slice(0, 60);
    const isRinged = (at) => {
        const style = getComputedStyle(at);
        const channels = style.outlineColor.match(/[\\d.]+/g).map(Number);
        return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && channels[3] !== 0;
    };
    const wrong = [];
    let ringed = element;
    while (ringed && !isRinged(ringed)) ringed = ringed.parentElement;
    if (!ringed) wrong.push("it has no ring");
    const box = element.getBoundingClientRect();
    const [left, right] = [Math.max(box.left, 0), Math.min(box.right, innerWidth)];
    const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
    if (left >= right || top >= bottom) wrong.push("it is out of view");
    const isOnTop = ([across, down]) => {
        const at = document.elementFromPoint(left + (right - left) * across, top + (bottom - top) * down);
        return at && (element.contains(at) || at.contains(element) || at.closest("label")?.control === element);
    };
    const places = [[0.5, 0.5], [0.1, 0.2], [0.9, 0.2], [0.1, 0.8], [0.9, 0.8]];
    if (!wrong.length && !places.some(isOnTop)) wrong.push("something lies above it");
    return {name, wrong};
}"""


class Keyboard:
    """``page`` by the keyboard."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def reach(self, wanted: Locator) -> None:
        """Press Tab until ``wanted`` has the focus, past the end of the page where an address led into its middle. The
        focus is seen wherever it stops; where the page has ended twice the test fails.
        """
        expect(wanted).to_have_count(1)
        ends = 0
        for _stop in range(STOPS):
            self.page.keyboard.press("Tab")
            seen = self.page.evaluate(FOCUS)
            assert not seen["wrong"], (self.page.url, str(wanted), seen)
            ends += not seen["name"]
            assert ends < 2, f"not on {self.page.url}: {wanted}"
            if wanted.evaluate("element => element === document.activeElement"):
                return
        raise AssertionError(f"Tab goes in a circle at {self.page.url} before {wanted}")

    def skip(self) -> None:
        """Use the first stop of a page: the link to its content."""
        link = self.page.locator(".skip-link")
        self.reach(link)
        expect(link).to_be_in_viewport()
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#main")).to_be_focused()

    def follow(self, wanted: Locator) -> None:
        """Reach a link or a button, and press Enter: it leads to another page."""
        self.reach(wanted)
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")

    def fill(self, wanted: Locator, text: str) -> None:
        self.reach(wanted)
        self.page.keyboard.insert_text(text)

    def tick(self, wanted: Locator) -> None:
        self.reach(wanted)
        self.page.keyboard.press("Space")
        expect(wanted).to_be_checked()
