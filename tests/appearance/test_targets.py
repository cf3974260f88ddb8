"""What the look at small targets finds, and what it lets pass, on pages of a few lines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.appearance.targets import small_targets
from tests.system.browsers import chromium

pytestmark = pytest.mark.browser

SQUARE = "display: inline-block; vertical-align: top; padding: 0; border: 0; margin: 0; font-size: 10px;"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


def square(pixels: float, name: str, more: str = "") -> str:
    return f'<button style="{SQUARE} width: {pixels}px; height: {pixels}px; {more}">{name}</button>'


def found_on(browser: Browser, body: str) -> list[str]:
    page = browser.new_page(viewport={"width": 390, "height": 600})
    page.set_content(f"<!DOCTYPE html><body style='font: 14px/16px sans-serif'>{body}</body>")
    found = small_targets(page)
    page.close()
    return [each.split("“")[1].split("”")[0] for each in found]


LINKS = '<ul style="list-style: none">{}</ul>'.format("".join(f'<li><a href="#">{name}</a></li>' for name in "가나다"))
HIDDEN = f"<details><summary style='padding: 9px'>열기</summary><p>{square(20, '가')}{square(20, '나')}</p></details>"
CARD = (
    '<div style="position: relative; height: 200px"><a href="#1" id="whole">모두</a>'
    '<a href="#2" style="position: absolute; top: 80px; left: 90px; z-index: 1">안의 것</a></div>'
    "<style>#whole::after { content: ''; position: absolute; inset: 0 }</style>"
)
TICKED = "".join(
    f"<label style='display: block; padding: 4px'><input type='checkbox'> {name}</label>" for name in "가나"
)
WIDENED = (
    "<style>.wide { position: relative } .wide::after { content: ''; position: absolute; inset: -8px -4px }</style>"
    '<p style="padding: 20px; display: grid; justify-content: start; row-gap: 16px">'
    '<a class="wide" href="#1">하나</a><a class="wide" href="#2">둘째</a></p>'
)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        pytest.param(square(20, "가") + square(20, "나"), ["가", "나"], id="two small ones side by side"),
        pytest.param(square(20, "가") + square(40, "나"), ["가"], id="a small one beside a large one"),
        pytest.param(square(24, "가") + square(24, "나"), [], id="two of 24 pixels"),
        pytest.param(square(20, "가", "margin-right: 4px;") + square(20, "나"), [], id="circles that only touch"),
        pytest.param(square(20, "가"), [], id="one alone"),
        pytest.param(LINKS, ["가", "나", "다"], id="a list of links"),
        pytest.param("<p>앞의 말 <a href='#1'>가</a> <a href='#2'>나</a></p>", [], id="among words"),
        pytest.param("<p><a href='#1'>가</a>·<a href='#2'>나</a></p>", ["가", "나"], id="only a mark between them"),
        pytest.param(
            "<p><span class='visually-hidden'>말</span><a href='#1'>가</a> <a href='#2'>나</a></p>",
            ["가", "나"],
            id="words that nobody sees",
        ),
        pytest.param(TICKED, [], id="boxes to tick with large labels"),
        pytest.param(HIDDEN, ["가", "나"], id="what is folded"),
        pytest.param(CARD, ["안의 것"], id="above a link that fills its card"),
        pytest.param(WIDENED, [], id="with an edge that a style draws"),
    ],
)  # fmt: skip
def test_small_targets_are_found_but_for_the_exceptions(browser: Browser, body: str, names: list[str]) -> None:
    assert found_on(browser, body) == names
