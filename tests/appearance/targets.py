"""Targets of a pointer that are too small: success criterion 2.5.8 of WCAG 2.2, of a page as a browser laid it out.

A target is large enough where it, or a label of it, fills a square of 24 CSS pixels. A smaller one may be so among
words of the same line (the inline exception), or where a circle of 24 pixels around its middle meets no other target
and no circle of another small one (the spacing exception). What is folded is looked at once it is open.
"""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Page

SMALL: Final = r"""() => {
    const WANTED = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=link]";
    const SIZE = 24, ROUNDING = 0.5;

    const boxOf = (element) => element.getBoundingClientRect();
    const middleOf = (element) => {
        const box = boxOf(element);
        return [box.left + box.width / 2, box.top + box.height / 2];
    };
    const isShown = (element) => {
        const box = boxOf(element);
        return element.checkVisibility({ visibilityProperty: true }) && !element.disabled
            && box.width > 1 && box.height > 1 && box.bottom + scrollY > 0;  // no link that comes in with the focus
    };
    const show = (element) => element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const targetAt = (x, y) => {
        const top = document.elementFromPoint(x, y);
        return top && (top.closest(WANTED) || top.closest("label")?.control);
    };

    // in its box or a label's; or with an edge that a style draws around it
    const isLarge = (element) => {
        const fills = (box) => Math.min(box.width, box.height) >= SIZE - ROUNDING;
        if ([element, ...(element.labels || [])].some((each) => fills(boxOf(each)))) return true;
        show(element);
        const [x, y] = middleOf(element), steps = [-1, 0, 1].map((step) => step * (SIZE / 2 - ROUNDING));
        return steps.every((dx) => steps.every((dy) => targetAt(x + dx, y + dy) === element));
    };

    const blockOf = (node) => {
        let at = node.parentElement;
        while (/^(inline|contents)$/.test(getComputedStyle(at).display)) at = at.parentElement;
        return at;
    };
    const isAmongWords = (element) => {
        if (getComputedStyle(element).display !== "inline") return false;
        const block = blockOf(element), texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
            const text = texts.currentNode, around = text.parentElement;
            const isWord = /[\p{L}\p{N}]/u.test(text.data) && around.checkVisibility()
                && !around.closest(WANTED) && !around.closest(".visually-hidden");
            if (isWord && blockOf(text) === block) return true;
        }
        return false;
    };

    // the parts of an element that its scrolling frames show
    const partsOf = (element) => {
        let parts = [...element.getClientRects()];
        for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
            if (getComputedStyle(at).overflow === "visible") continue;
            const frame = boxOf(at);
            parts = parts.map((part) => ({
                left: Math.max(part.left, frame.left), right: Math.min(part.right, frame.right),
                top: Math.max(part.top, frame.top), bottom: Math.min(part.bottom, frame.bottom),
            })).filter((part) => part.left < part.right && part.top < part.bottom);
        }
        return parts;
    };
    const neighbourOf = (element, targets, small) => {
        show(element);
        const [x, y] = middleOf(element);
        const isNear = (part) => Math.hypot(
            Math.max(part.left - x, 0, x - part.right), Math.max(part.top - y, 0, y - part.bottom),
        ) < SIZE / 2 - ROUNDING;
        const meets = (other) => {
            if (other === element || other.contains(element) || element.contains(other)) return false;
            if (partsOf(other).some(isNear)) return true;
            const [otherX, otherY] = middleOf(other);
            return small.has(other) && Math.hypot(otherX - x, otherY - y) < SIZE - ROUNDING;
        };
        const around = [...Array(12).keys()].map((hour) => targetAt(
            x + Math.cos(hour * Math.PI / 6) * (SIZE / 2 - ROUNDING),
            y + Math.sin(hour * Math.PI / 6) * (SIZE / 2 - ROUNDING),
        ));
        return targets.find(meets) || around.find((other) => other && other !== element);
    };

    const named = (element) => {
        const words = (element.getAttribute("aria-label") || element.innerText || element.value || element.name || "");
        const box = boxOf(element), size = `${box.width.toFixed(1)}×${box.height.toFixed(1)}`;
        const kind = [element.localName, ...element.classList].join(".");
        return `${kind} “${words.trim().slice(0, 30)}” ${size}`;
    };
    const found = new Set();
    const look = (isLookedAt) => {
        const targets = [...document.querySelectorAll(WANTED)].filter(isShown);
        const small = new Set(targets.filter((each) => !isLarge(each)));
        for (const each of [...small].filter(isLookedAt)) {
            const neighbour = isAmongWords(each) ? null : neighbourOf(each, targets, small);
            if (neighbour) found.add(`${named(each)} beside ${named(neighbour)}`);
        }
    };
    look(() => true);
    for (const folded of document.querySelectorAll("details:not([open])")) {
        const closed = [];
        for (let at = folded; at; at = at.parentElement) if (at.localName === "details" && !at.open) closed.push(at);
        closed.forEach((each) => { each.open = true; });
        look((element) => folded.contains(element) && element.parentElement !== folded);
        closed.forEach((each) => { each.open = false; });
    }
    return [...found];
}"""


def small_targets(page: Page) -> list[str]:
    """What is too small on ``page``, each with the target that is too near; the page may be scrolled afterwards."""
    found: list[str] = page.evaluate(SMALL)
    return found
