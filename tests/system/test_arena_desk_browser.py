"""An organiser in a real browser: a human evaluation from its rubric to the published votes. Every page is looked at
by axe, at 1280 and at 390 pixels, where one team's name is as long as names may be.

Pictures of the pages are in the test's temporary folder if PICTURES is set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from scoring.cli import main
from tests.system.browsers import log_in_somebody, pages_of, take_pictures
from tests.system.make_arena import LONG_NAME
from tests.system.stack import Stack
from tests.waiting import wait_for

pytestmark = [pytest.mark.browser, pytest.mark.services]

JUDGES = ("haneul", "bada", "careless")
INVITATION = re.compile(r"/arena/invitation/([\w-]+)/")


class Desk:
    """The manage pages of a competition at a browser."""

    def __init__(self, page: Page, stack: Stack, folder: Path) -> None:
        self.page, self.stack, self.folder = page, stack, folder
        made = stack.call("tests.system.make_arena", "organise", log_in_somebody(page, stack))
        self.slug, self.track = made["slug"], made["track"]
        self.looks = 0

    def open(self, path: str = "") -> None:
        self.page.goto(f"{self.stack.url}/competitions/{self.slug}/manage/arena/{path}")

    def part(self, name: str) -> None:
        """Go to a page of the campaign by its tab."""
        with self.page.expect_navigation():
            self.page.get_by_role("navigation", name="평가의 화면").get_by_role("link", name=name, exact=True).click()

    def follow(self, name: str) -> None:
        with self.page.expect_navigation():
            self.page.get_by_role("link", name=name).first.click()

    def press(self, name: str, *, says: str = "") -> None:
        """Press a button that leads to a page; it ``says`` that it was done."""
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=name, exact=True).click()
        if says:
            expect(self.page.get_by_role("status").first).to_contain_text(says)

    def fill(self, **fields: str) -> None:
        """The fields of these names, each once on the page."""
        for name, text in fields.items():
            self.page.locator(f"main [name={name}]").fill(text)

    def computed(self, text: str) -> None:
        """The page has ``text`` once a worker has answered."""
        expect(self.page.get_by_text("계산 중", exact=True)).to_have_count(0)
        expect(self.page.get_by_text(text).first).to_be_visible()

    def look(self, name: str) -> None:
        self.looks += 1
        take_pictures(self.page, self.folder, f"{self.looks:02}-{name}", axe=True)


@pytest.fixture
def desk(browser: Browser, stack: Stack, tmp_path: Path) -> Iterator[Desk]:
    with pages_of(browser, 1, but="422") as (page,):  # a form that is refused: to the browser an error
        yield Desk(page, stack, tmp_path)


def test_a_whole_campaign_at_the_desk(desk: Desk) -> None:
    write_rubric(desk)
    make_draft(desk)
    choose_systems(desk)
    plan(desk)
    invite_judges(desk)
    open_campaign(desk)
    judged = desk.stack.call("tests.system.make_arena", "judge", desk.slug, address("careless"))
    watch_quality(desk, judged)
    exclude(desk)
    close(desk)
    publish(desk)
    read_in_public(desk)


def address(name: str) -> str:
    return f"{name}@example.org"


def write_rubric(desk: Desk) -> None:
    desk.open()
    desk.look("nothing")
    desk.follow("평가 기준표 쓰기")
    desk.fill(title_ko="결선 평가 기준표", guideline_ko="## 순서\n\n1. 입력을 읽습니다.\n2. 두 출력을 끝까지 읽습니다.")
    desk.fill(**{"reason-0-label_ko": "더 정확함", "reason-1-label_ko": "더 자연스러움"})
    desk.look("rubric-new")
    desk.press("새 판으로 저장", says="평가 기준표 1판을 만들었습니다")
    desk.look("rubric")
    desk.follow("새 평가 만들기")


def make_draft(desk: Desk) -> None:
    page = desk.page
    expect(page.get_by_label("쌍 비교")).to_be_checked()
    desk.fill(title_ko="결선 사람 평가", item_count="12", units_per_item="2", judges_per_unit="4")
    desk.fill(notice_ko="두 주 동안 합니다.", control_percent="20", resamples="200")
    page.get_by_role("radio", name="순위 매기기").check()
    desk.press("평가 만들기")
    expect(page.get_by_role("main")).to_contain_text("순위 매기기에서는 한 번에 출력 3~8개를 보입니다")
    desk.look("draft-refused")
    page.get_by_label("쌍 비교").check()
    desk.press("평가 만들기", says="이제 평가할 제출을 고르십시오")


def choose_systems(desk: Desk) -> None:
    page = desk.page
    desk.look("systems-none")
    desk.fill(count="3")
    desk.press("상위 팀 고르기", says="제출 3개를 평가합니다")
    for team in ("청출어람팀", LONG_NAME):
        page.get_by_label(team).check()
    desk.press("고른 제출 더하기", says="제출 5개를 평가합니다")
    page.get_by_label(f"{LONG_NAME}의 소속 기관").fill("가온대학교 국어국문학과와 인공지능연구소의 합동 연구실")
    desk.press("저장", says="저장했습니다")
    desk.look("systems")


def plan(desk: Desk) -> None:
    """The planner: half of the fewest judgements of a judge is no other plan than the fewest."""
    page = desk.page
    desk.open()
    desk.follow("판단 수 계획하기")
    desk.fill(systems="5", judges="3", votes="20", items="20")
    desk.press("셈하기")
    desk.computed("판단 수와 구간의 너비")
    assert page.get_by_role("row").locator("td:first-child").all_inner_texts() == ["20", "40"]
    desk.look("planner")
    desk.open()
    desk.follow("결선 사람 평가")


def invite_judges(desk: Desk) -> None:
    page = desk.page
    desk.look("draft")
    desk.part("평가자")
    desk.fill(lines="\n".join(f"{address(name)}, 가온대학교" for name in JUDGES[:2]) + f"\n{address('careless')}")
    desk.press("초대 보내기", says="3명")
    desk.look("judges-invited")
    sent = wait_for(lambda: sent_to(desk.stack, JUDGES), "the invitations are sent")
    desk.stack.call("tests.system.make_arena", "accept", sent)
    page.reload()
    expect(page.get_by_text("수락함", exact=True)).to_have_count(len(JUDGES))


def sent_to(stack: Stack, names: Any) -> list[str]:
    """The tokens in the mails to ``names``, printed by the site; empty until all are there."""
    mails = stack.log.split("받는 이 / to: ")
    found = [INVITATION.search(mail) for name in names for mail in mails if mail.startswith(address(name))]
    return [each[1] for each in found if each] if len(found) == len(names) and all(found) else []


def open_campaign(desk: Desk) -> None:
    desk.part("시작")
    expect(desk.page.get_by_role("main")).to_contain_text("‘묶음마다 평가자 수’를 3 이하로 줄이거나")
    desk.look("opening-refused")
    desk.part("설정")
    desk.fill(judges_per_unit="2")
    desk.press("저장", says="저장했습니다")
    desk.part("시작")
    expect(desk.page.get_by_role("region", name="같은 기관입니까?")).to_contain_text(LONG_NAME)
    desk.page.get_by_label("위의 배정으로 평가를 시작합니다").check()
    desk.look("opening")
    desk.press("평가 시작", says="평가를 시작했습니다")
    desk.part("평가자")
    desk.press("남은 평가자에게 알리기", says="평가자 3명에게 알렸습니다")
    desk.look("judges-reminded")
    desk.part("품질")
    desk.look("quality-none")


def watch_quality(desk: Desk, judged: int) -> None:
    assert judged > 0
    desk.page.reload()
    desk.computed("평가자마다")
    desk.look("quality")
    desk.follow("평가자 careless")
    desk.look("judge")


def exclude(desk: Desk) -> None:
    desk.follow("이 평가자를 셈에서 빼기")
    desk.computed("빼면 달라지는 것")
    desk.fill(reason="출력을 읽지 않고 늘 첫째 것을 골랐습니다.")
    desk.page.get_by_role("main").get_by_role("checkbox").check()
    desk.look("exclusion-preview")
    desk.press("셈에서 빼기")
    desk.part("제외")
    desk.look("exclusions")


def close(desk: Desk) -> None:
    desk.part("마감")
    desk.page.get_by_label("평가를 마감합니다").check()
    desk.look("closing")
    desk.press("평가 마감", says="평가를 마감했습니다")


def publish(desk: Desk) -> None:
    desk.computed("결과의 서명 해시")
    desk.look("result-preview")
    desk.page.get_by_label("위의 결과와 이름을 가린 판단을").check()
    desk.press("평가 결과 발표", says="평가 결과 1판을 발표했습니다")
    desk.open()
    desk.look("list")
    desk.follow("결선 사람 평가")
    desk.look("overview")
    desk.part("결과와 발표")
    wait_for(lambda: has_plots(desk.page), "a worker has held the metrics against the result", every=0.5)
    desk.look("published")


def has_plots(page: Page) -> bool:
    page.reload()
    return page.locator("svg.plot").count() > 0


def read_in_public(desk: Desk) -> None:
    """The page for everybody; the votes that it offers give the result that it offers, byte for byte."""
    page = desk.page
    desk.follow("누구나 보는 화면")
    expect(page.get_by_role("main")).to_contain_text(LONG_NAME)
    desk.look("public")
    desk.follow("← 사람 평가")
    desk.look("public-list")
    desk.follow("결선 사람 평가")
    files = [downloaded(page, name, desk.folder) for name in ("평가 파일(이름 없음)", "결과 파일")]
    assert main(["arena", str(files[0]), "--check", str(files[1])]) == 0
    assert not any(name in files[0].read_text(encoding="utf-8") for name in JUDGES)


def downloaded(page: Page, link: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.get_by_role("link", name=link, exact=True).first.click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path
