"""By the keyboard alone: a file is uploaded, a team found on a long board, two results are compared, a final board and
a stage are published. The focus is seen at every stop, in a wide window and in a narrow one.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.system.browsers import log_in_somebody, pages_of
from tests.system.keyboard import Keyboard
from tests.system.make_contest import answers
from tests.system.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.services]

WIDTHS = [(1280, 900), (390, 844)]


@pytest.fixture(params=WIDTHS, ids=["wide", "narrow"])
def keyboard(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Keyboard]:
    with pages_of(browser, 1) as (page,):
        page.set_viewport_size(dict(zip(("width", "height"), request.param, strict=True)))
        yield Keyboard(page)


def link(page: Page, name: str) -> Locator:
    return page.get_by_role("main").get_by_role("link", name=name, exact=True)


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("main").get_by_role("button", name=name, exact=True)


def test_a_participant_needs_no_pointer(keyboard: Keyboard, stack: Stack, tmp_path: Path) -> None:
    page = keyboard.page
    email = log_in_somebody(page, stack)
    made = stack.call("tests.system.make_long_board", "prepare", f"keys-{uuid.uuid4().hex[:8]}", email)
    page.goto(stack.url)
    keyboard.skip()
    keyboard.follow(page.get_by_role("link", name="제출하러 가기").first)
    upload(keyboard, made, tmp_path)
    search(keyboard)
    compare(keyboard, made)


def upload(keyboard: Keyboard, made: dict[str, Any], folder: Path) -> None:
    page, path = keyboard.page, folder / "third.json"
    path.write_bytes(answers(made["ids"], words=4, wrong=1))
    keyboard.skip()
    keyboard.reach(page.get_by_label("제출 파일", exact=True))
    with page.expect_file_chooser() as chosen:
        page.keyboard.press("Space")
    chosen.value.set_files(path)
    keyboard.fill(page.get_by_label("메모"), "자판으로 올림")
    keyboard.follow(button(page, "제출하기"))
    expect(page.get_by_role("status")).to_contain_text("제출을 접수했습니다")


def search(keyboard: Keyboard) -> None:
    page = keyboard.page
    keyboard.follow(page.get_by_role("navigation", name="대회 메뉴").get_by_role("link", name="순위표"))
    keyboard.skip()
    keyboard.fill(page.get_by_label("팀 이름", exact=True), "자판")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.locator("tbody:not(.pinned) tr.own")).to_contain_text("자판 팀")
    keyboard.follow(link(page, "순위표 전체 보기"))
    keyboard.follow(page.get_by_role("columnheader", name="ROUGE-1").get_by_role("link"))
    expect(page.locator("[aria-sort]")).to_contain_text("ROUGE-1")


def compare(keyboard: Keyboard, made: dict[str, Any]) -> None:
    page = keyboard.page
    keyboard.follow(page.get_by_role("navigation", name="대회 메뉴").get_by_role("link", name="내 제출"))
    keyboard.skip()
    keyboard.follow(page.get_by_role("table", name="내 제출").get_by_role("link", name=made["files"][1]))
    keyboard.reach(page.get_by_label("비교할 제출"))
    page.keyboard.press("End")
    keyboard.follow(button(page, "비교하기"))
    expect(page.get_by_role("heading", name="두 제출 비교")).to_be_visible()
    for name in made["files"]:
        expect(link(page, name)).to_be_visible()


def test_an_organiser_publishes_without_a_pointer(keyboard: Keyboard, stack: Stack) -> None:
    page = keyboard.page
    email = log_in_somebody(page, stack)
    other = stack.call("tests.system.make_people", "log_in_somebody")["email"]
    made = stack.call("tests.system.make_stages", "prepare", f"keys-{uuid.uuid4().hex[:8]}", email, other)
    page.goto(stack.url)
    keyboard.skip()
    keyboard.follow(link(page, f"시험 대회 {made['slug']}").first)
    menu(keyboard, "단계")
    keyboard.follow(link(page, "최종 순위 미리 보기"))
    keyboard.fill(page.locator("#publish-title ~ form input[name=word]"), "main")
    keyboard.follow(button(page, "최종 순위표 발표"))
    expect(page.get_by_role("status")).to_contain_text("최종 순위표 1판을 발표했습니다")
    menu(keyboard, "심사")
    keyboard.follow(link(page, "순위표"))
    keyboard.tick(page.get_by_label("위의 결과를 누구에게나 공개합니다"))
    keyboard.follow(button(page, "심사 결과 발표"))
    expect(page.get_by_role("status")).to_contain_text("심사 결과 1판을 발표했습니다")


def menu(keyboard: Keyboard, name: str) -> None:
    """A page of the manage pages, by the rail, or where it is narrow by the menu that is folded."""
    page = keyboard.page
    keyboard.skip()
    folded = page.locator(".rail-folded")
    if folded.is_visible():
        keyboard.reach(folded.locator("summary"))
        page.keyboard.press("Enter")
        expect(folded.get_by_role("link").first).to_be_visible()
    keyboard.follow(page.get_by_role("navigation", name="운영실 메뉴").get_by_role("link", name=name, exact=True))
