"""A judge in a real browser: a whole short campaign by the keyboard alone, in every protocol; the same by touch at 390
pixels, and without script; drafts kept by themselves. Every page is looked at by axe.

Pictures of the pages, at 1280 and 390 pixels, are in the test's temporary folder if PICTURES is set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.system.browsers import PASSWORD, complaints_of, log_in_somebody, new_page, sign_up, take_pictures
from tests.system.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.services]

PROTOCOLS = ("pairwise", "rubric", "ranking", "errors")
ITEMS = 3
READING_MS = 1000  # of the first item
ALIKE = {"1-invitation", "2-campaign"}  # in every protocol
ALIKE_LOOKED_AT: set[str] = set()
PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}
VALUES: dict[str, Any] = {
    "pairwise": {"choice": "second", "reasons": []},
    "rubric": {"scores": {"fluency": 4, "accuracy": 2, "overall": 85}},
    "ranking": {"ranks": [2, 1, 3]},
}

HEARD: dict[str, str] = {  # what stands on the page of a practice item, in the order in which it is read
    "pairwise": """
      - main:
        - heading "어느 출력이 더 낫습니까?" [level=1]
        - region "입력"
        - region "출력 A"
        - region "출력 B"
        - group "나의 판단":
          - group "판단":
            - radio "A가 나음"
            - radio "B가 나음"
            - radio "비슷함"
            - radio "둘 다 나쁨"
          - group "그렇게 판단한 까닭 (선택)"
          - textbox "메모 (선택)"
          - button "판단 보내기"
        - status
    """,
    "rubric": """
      - main:
        - heading "출력을 기준마다 평가해 주십시오" [level=1]
        - region "출력"
        - group "나의 판단":
          - group "유창성":
            - radio "1 읽기 어려움"
            - radio "2"
            - radio "3 어색한 곳이 있음"
            - radio "4"
            - radio "5 자연스러움"
          - group "정확성"
          - spinbutton "종합 0–100"
          - textbox "메모 (선택)"
          - button "판단 보내기"
        - status
    """,
    "ranking": """
      - main:
        - heading "출력의 순위를 매겨 주십시오" [level=1]
        - region "출력 A"
        - region "출력 B"
        - region "출력 C"
        - group "나의 판단":
          - group "출력 A의 순위":
            - radio "1위"
            - radio "2위"
            - radio "3위"
          - group "출력 B의 순위"
          - group "출력 C의 순위"
          - textbox "메모 (선택)"
          - button "판단 보내기"
        - status
    """,
    "errors": """
      - main:
        - heading "출력의 오류를 표시해 주십시오" [level=1]
        - region "출력":
          - heading "출력" [level=2]
          - group "출력"
        - group "나의 판단":
          - group "오류":
            - button "고른 곳을 오류로 표시"
          - spinbutton "전체 점수 0–100"
          - textbox "메모 (선택)"
          - button "판단 보내기"
        - status
    """,
}


class Judge:
    """A judge at a browser, who signed up there if they need a password. ``complaints``: errors of scripts or of the
    security policy.
    """

    def __init__(
        self, browser: Browser, stack: Stack, folder: Path, *, has_password: bool = False, **options: Any
    ) -> None:
        self.context = browser.new_context(locale="ko-KR", **options)
        self.page, self.stack, self.folder = new_page(self.context), stack, folder
        self.complaints = complaints_of(self.page, but="422")  # a form that is refused: to the browser an error
        self.email = (sign_up if has_password else log_in_somebody)(self.page, stack)
        self.campaign = 0

    def invite(self, protocol: str, items: int = ITEMS) -> str:
        made = self.stack.call("tests.system.make_arena", "prepare", self.email, protocol, items)
        self.campaign = made["campaign"]
        return self.stack.url + made["path"]

    def open_campaign(self, *, is_long: bool = False) -> int:
        count = self.stack.call("tests.system.make_arena", "begin", self.campaign)
        if is_long:
            self.stack.call("tests.system.make_arena", "lengthen", self.campaign)
        return int(count)

    def said(self) -> list[Any]:
        return list(self.stack.call("tests.system.make_arena", "said", self.campaign))

    def look(self, name: str) -> None:
        """The page as axe sees it in both widths, and pictures of it; once where it is the same in every protocol."""
        if name in ALIKE_LOOKED_AT:
            return
        ALIKE_LOOKED_AT.update({name} & ALIKE)
        take_pictures(self.page, self.folder, name, axe=True)

    # --- the keyboard ---
    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def tab_to(self, selector: str) -> None:
        """Press Tab until what ``selector`` names has the focus."""
        for _ in range(80):
            if self.page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
                return
            self.press("Tab")
        raise AssertionError(f"Tab does not lead to {selector}")

    def go_by(self, *keys: str) -> None:
        """Press ``keys``, the last of which leads to another page."""
        self.press(*keys[:-1])
        with self.page.expect_navigation():
            self.press(keys[-1])

    def accept_and_agree(self, path: str) -> None:
        """By keys alone, from the link in the mail to the consent."""
        self.page.goto(path)
        self.look("1-invitation")
        self.tab_to("main button")
        self.go_by("Enter")
        expect(self.page.get_by_role("status")).to_contain_text("초대를 수락했습니다")
        self.look("2-campaign")
        for name in ("consent", "guideline"):
            self.tab_to(f"input[name={name}]")
            self.press("Space")
        self.tab_to("#consent button")
        self.go_by("Enter")
        expect(self.page.get_by_role("status")).to_contain_text("동의를 기록했습니다")

    def answer_by_keys(self, protocol: str) -> None:
        """``VALUES`` of the protocol, entered and not yet sent."""
        if protocol == "pairwise":
            self.press("2")
        elif protocol == "rubric":
            self.press("4", "2")
            self.press("8", "5")  # typed: the focus is in the number
        elif protocol == "ranking":
            self.press("2", "1", "3")
        else:
            self.mark_by_keys()

    def mark_by_keys(self) -> None:
        """The second word of the output and the character after it, of middle severity; a score."""
        self.press("m", "Control+ArrowRight", "Shift+ArrowRight", "Enter")
        expect(self.page.locator("[data-severity]:focus")).to_have_count(1)
        self.press("2")
        self.tab_to("[data-span] select")
        self.press("ArrowDown", "Tab", "s")
        self.press("7", "2")


@pytest.fixture
def at_browser(browser: Browser, stack: Stack, tmp_path: Path) -> Iterator[Any]:
    seated: list[Judge] = []

    def sit_down(**options: Any) -> Judge:
        seated.append(Judge(browser, stack, tmp_path, **options))
        return seated[-1]

    yield sit_down
    for judge in seated:
        judge.context.close()
        assert judge.complaints == []


def place(page: Page) -> str:
    found = re.search(r"문항 \d+/\d+", page.title())
    return found[0] if found else page.title()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_whole_campaign_by_the_keyboard_alone(at_browser: Any, protocol: str) -> None:
    judge: Judge = at_browser()
    judge.accept_and_agree(judge.invite(protocol))
    expect(judge.page.get_by_text("아직 시작하지 않은 평가입니다")).to_be_visible()
    count = judge.open_campaign()
    judge.page.reload()
    judge.tab_to("main form button")
    judge.go_by("Enter")
    expect(judge.page).to_have_title(re.compile("연습 문항"))
    judge.answer_by_keys(protocol)
    judge.look("3-practice")
    judge.go_by("Enter")
    expect(judge.page.locator("#feedback")).to_be_visible()
    judge.look("4-feedback")
    judge.go_by("Enter")
    for number in range(1, count + 1):
        assert place(judge.page) == f"문항 {number}/{count}"
        judge.answer_by_keys(protocol)
        if number == 1:
            judge.press("Escape", "n")
            judge.page.keyboard.type("ㄴ 1 메모")
            judge.look("5-judging")
            judge.page.wait_for_timeout(READING_MS)
            judge.go_by("Control+Enter")
        else:
            judge.go_by("Enter")
        if number == 2 and number < count:
            correct_the_last(judge, protocol)
    expect(judge.page.get_by_role("heading", name="나의 판단")).to_be_visible()
    expect(judge.page.get_by_text("배정된 문항을 모두 마쳤습니다.")).to_be_visible()
    judge.look("6-done")

    said = judge.said()
    assert len(said) == count
    for index, (value, note, number, seconds) in enumerate(said):
        assert note == ("ㄴ 1 메모" if index == 0 else "")
        assert number == (2 if index == 1 else 1)
        assert seconds >= (READING_MS // 1000 if index == 0 else 0)
        check(protocol, value, is_corrected=index == 1)


def correct_the_last(judge: Judge, protocol: str) -> None:
    """``u`` leads to what was just sent; it is changed and sent again, and the judge is where they were."""
    before = judge.page.url
    judge.go_by("u")
    expect(judge.page.get_by_text("이미 보낸 판단입니다")).to_be_visible()
    judge.press(*{"pairwise": "0", "rubric": "1", "ranking": "1", "errors": ""}[protocol])
    if protocol == "ranking":
        judge.tab_to("#rank-1-1, input[name=rank-1]")
        judge.press("2")
    if protocol == "errors":
        judge.press("s", "Control+a", "9", "0")
    judge.look("7-correcting")
    judge.go_by("Enter")
    expect(judge.page.get_by_role("status").first).to_contain_text("판단을 고쳤습니다")
    assert judge.page.url == before


def check(protocol: str, value: dict[str, Any], *, is_corrected: bool) -> None:
    if protocol == "errors":
        assert value["score"] == (90 if is_corrected else 72)
        assert [(span["severity"], span["category"]) for span in value["spans"]] == [("major", "accuracy")]
        assert value["spans"][0]["end"] - value["spans"][0]["start"] in (1, 2)
        assert value["spans"][0]["start"] > 0, value
        return
    corrected = {
        "pairwise": {"choice": "tie", "reasons": []},
        "rubric": {"scores": {"fluency": 1, "accuracy": 2, "overall": 85}},
        "ranking": {"ranks": [1, 2, 3]},
    }
    assert value == (corrected if is_corrected else VALUES)[protocol]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_campaign_by_touch_on_a_phone(at_browser: Any, protocol: str) -> None:
    judge: Judge = at_browser(**PHONE)
    page = judge.page
    page.goto(judge.invite(protocol, 2))
    page.get_by_role("button", name="초대 수락").tap()
    page.get_by_label("위의 안내를 읽었고").tap()
    page.get_by_label("평가 지침을 끝까지 읽었고").tap()
    page.get_by_role("button", name="동의하기").tap()
    expect(page.get_by_role("status")).to_contain_text("동의를 기록했습니다")
    count = judge.open_campaign(is_long=True)
    page.reload()
    go_on(page, "연습 시작", by_touch=True)
    answer_by_touch(page, protocol)
    go_on(page, "판단 보내기", by_touch=True)
    go_on(page, "평가 시작", by_touch=True)
    for number in range(1, count + 1):
        expect(page).to_have_title(re.compile(f"문항 {number}/{count}"))
        answer_by_touch(page, protocol)
        if number == 1:
            judge.look(f"phone-{protocol}")
            says_keys = "Shift" in page.locator("form[data-judge]").inner_text()
            assert not says_keys, "nobody presses a key on a phone"
            expect(page.get_by_text("단축키", exact=True)).to_be_hidden()
            page.set_viewport_size(PHONE["viewport"])  # type: ignore[arg-type]
        go_on(page, "판단 보내기", by_touch=True)
    expect(page.get_by_role("heading", name="나의 판단")).to_be_visible()
    values = [row[0] for row in judge.said()]
    assert len(values) == count
    if protocol == "errors":
        assert all(value["score"] == 72 and len(value["spans"]) == 1 for value in values)
    else:
        assert values == [VALUES[protocol]] * count


def answer_by_touch(page: Page, protocol: str) -> None:
    if protocol == "pairwise":
        page.get_by_label("B가 나음").tap()
    elif protocol == "rubric":
        page.get_by_role("group", name="유창성").get_by_label("4").tap()
        page.get_by_role("group", name="정확성").get_by_label("2").tap()
        page.get_by_label("종합").fill("85")
    elif protocol == "ranking":
        for letter, rank in zip("ABC", (2, 1, 3), strict=True):
            page.get_by_role("group", name=f"출력 {letter}의 순위").get_by_label(f"{rank}위").tap()
    else:
        page.locator("[data-marked]").evaluate(
            "(text) => getSelection().setBaseAndExtent(text.firstChild, 2, text.firstChild, 5)"
        )
        page.get_by_role("button", name="고른 곳을 오류로 표시").tap()
        page.get_by_label("무거움").first.tap()
        page.get_by_label("종류").first.select_option(label="더 자연스러움")
        page.get_by_label("전체 점수").fill("72")


def begun(judge: Judge, protocol: str) -> Page:
    """The judge at the first assignment, practice, by a pointer."""
    page = judge.page
    page.goto(judge.invite(protocol, 2))
    page.get_by_role("button", name="초대 수락").click()
    page.get_by_label("위의 안내를 읽었고").check()
    page.get_by_label("평가 지침을 끝까지 읽었고").check()
    page.get_by_role("button", name="동의하기").click()
    expect(page.get_by_role("status")).to_contain_text("동의를 기록했습니다")
    judge.open_campaign()
    page.reload()
    go_on(page, "연습 시작")
    return page


def go_on(page: Page, name: str, *, by_touch: bool = False) -> None:
    """Press the button that leads to another page; that is there with its script."""
    button = page.get_by_role("button", name=name)
    with page.expect_navigation():
        button.tap() if by_touch else button.click()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_screen_reader_hears_what_is_asked_and_what_may_be_answered(at_browser: Any, protocol: str) -> None:
    page = begun(at_browser(), protocol)
    expect(page.get_by_role("main")).to_match_aria_snapshot(HEARD[protocol])


def test_what_was_entered_is_kept_by_itself_and_there_after_a_reload(at_browser: Any) -> None:
    judge: Judge = at_browser()
    page = begun(judge, "pairwise")
    page.get_by_label("A가 나음").check()
    page.get_by_label("메모").fill("아직 모르겠음")
    expect(page.get_by_role("status").last).to_contain_text("임시 저장했습니다")
    page.reload()
    expect(page.get_by_label("A가 나음")).to_be_checked()
    expect(page.get_by_label("메모")).to_have_value("아직 모르겠음")


def log_in(judge: Judge, page: Page) -> None:
    page.get_by_label("이메일").fill(judge.email)
    page.get_by_label("비밀번호", exact=True).fill(PASSWORD)
    go_on(page, "로그인")


def test_what_is_written_after_the_log_in_expired_is_there_after_the_next(at_browser: Any) -> None:
    judge: Judge = at_browser(has_password=True)
    page = begun(judge, "pairwise")
    page.get_by_label("메모").fill("끊기기 전")
    expect(page.get_by_role("status").last).to_contain_text("임시 저장했습니다")
    judge.context.clear_cookies(name="sessionid")
    page.get_by_label("메모").fill("끊긴 뒤")
    expect(page.get_by_role("status").last).to_contain_text("로그인이 끊겼습니다")
    page.get_by_label("B가 나음").check()
    go_on(page, "판단 보내기")
    expect(page.get_by_text("적은 것은 이 브라우저에 남겨 두었으니")).to_be_visible()
    log_in(judge, page)
    expect(page.get_by_text("아직 기록하지 않았으니 확인하고 다시")).to_be_visible()
    expect(page.get_by_label("메모")).to_have_value("끊긴 뒤")
    expect(page.get_by_label("B가 나음")).to_be_checked()
    judge.look("9-logged-out")
    go_on(page, "판단 보내기")
    expect(page.locator("#feedback")).to_be_visible()


def test_a_log_in_in_another_tab_is_good_for_the_page_that_was_open(at_browser: Any) -> None:
    judge: Judge = at_browser(has_password=True)
    page = begun(judge, "pairwise")
    judge.context.clear_cookies(name="sessionid")
    other = judge.context.new_page()
    other.goto(f"{judge.stack.url}/arena/")
    log_in(judge, other)
    page.get_by_label("메모").fill("첫째 창에서 씀")
    expect(page.get_by_role("status").last).to_contain_text("임시 저장했습니다")
    page.get_by_label("B가 나음").check()
    go_on(page, "판단 보내기")
    expect(page.locator("#feedback")).to_be_visible()


def test_what_comes_too_late_stays_on_the_screen_to_be_copied(at_browser: Any) -> None:
    judge: Judge = at_browser()
    page = begun(judge, "pairwise")
    page.get_by_label("B가 나음").check()
    page.get_by_label("메모").fill("끝까지 읽고\n둘째 줄까지 적은 것")
    judge.stack.call("tests.system.make_arena", "end", judge.campaign)
    go_on(page, "판단 보내기")
    expect(page.locator("#errors")).to_be_focused()
    expect(page.locator("#errors")).to_contain_text("운영자가 이 판단이 도착하기 전에 평가를 마감했습니다")
    own = page.get_by_label("보낸 그대로의 내용")
    expect(own).to_have_value("판단: B가 나음\n메모:\n끝까지 읽고\n둘째 줄까지 적은 것")
    own.focus()
    judge.press("Control+a")
    assert page.evaluate("getSelection().toString()") == own.input_value(), "it can be chosen and copied"
    judge.look("8-refused")
    refused = [each for each in judge.complaints if "409" in each]
    assert refused, "to the browser a refusal is an error"
    judge.complaints[:] = [each for each in judge.complaints if each not in refused]


def test_keys_of_a_letter_can_be_turned_off_and_do_nothing_while_somebody_writes(at_browser: Any) -> None:
    judge: Judge = at_browser()
    page = begun(judge, "pairwise")
    page.get_by_label("메모").focus()
    judge.press("1", "u", "9")
    expect(page.get_by_label("메모")).to_have_value("1u9")
    expect(page.locator("input[name=choice]:checked")).to_have_count(0)
    judge.press("Escape", "1")
    expect(page.get_by_label("A가 나음")).to_be_checked()
    page.get_by_text("단축키", exact=True).click()
    page.get_by_label("한 글자 단축키 쓰기").uncheck()
    page.reload()
    judge.press("2", "0")
    expect(page.get_by_label("B가 나음")).not_to_be_checked()


def test_errors_are_marked_without_script(at_browser: Any) -> None:
    judge: Judge = at_browser(java_script_enabled=False)
    page = begun(judge, "errors")
    expect(page.get_by_label("이 오류 지우기").first).to_be_visible()
    for _practice_then_real in range(2):
        text = page.locator("[data-marked]").inner_text()
        word = text.split()[1]
        page.get_by_label("잘못된 곳").first.fill("출력에 없는 글")
        page.get_by_label("전체 점수").fill("72")
        page.get_by_label("메모").fill("스크립트 없이")
        page.get_by_role("button", name="판단 보내기").click()
        expect(page.get_by_role("alert")).to_contain_text("출력에서 찾지 못했습니다")
        expect(page.get_by_label("메모")).to_have_value("스크립트 없이")
        page.get_by_label("잘못된 곳").first.fill(word)
        page.get_by_label("치명적").first.check()
        page.get_by_label("종류").first.select_option(label="더 정확함")
        page.get_by_role("button", name="임시 저장").click()
        expect(page.get_by_role("status").first).to_contain_text("임시 저장했습니다")
        expect(page.get_by_label("잘못된 곳").first).to_have_value(word)
        go_on(page, "판단 보내기")
        if page.get_by_role("button", name="평가 시작").is_visible():
            go_on(page, "평가 시작")
    [value, note, *_rest] = judge.said()[0]
    at = text.index(word)
    span = {"output": 0, "start": at, "end": at + len(word), "severity": "critical", "category": "accuracy"}
    assert (value, note) == ({"score": 72, "spans": [span]}, "스크립트 없이")
