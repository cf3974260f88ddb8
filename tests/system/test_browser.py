"""A real browser on a real site: sign up, make a team, upload a bad and a good file, see both outcomes, the board."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.appearance.rows import broken_rows
from tests.system.browsers import complaints_of
from tests.system.make_contest import answers
from tests.system.stack import Stack

SCORED_WITHIN = 300_000  # milliseconds

pytestmark = [pytest.mark.browser, pytest.mark.services]


@dataclass
class Contest:
    slug: str
    ids: list[str]

    def address(self, page: str = "") -> str:
        return f"/competitions/{self.slug}/{page}"

    def good_file(self, path: Path) -> Path:
        path.write_bytes(answers(self.ids, words=3, wrong=1))
        return path

    def bad_file(self, path: Path) -> Path:
        """The good file, laid out over lines, its second answer a number."""
        rows = json.loads(answers(self.ids, words=3))
        rows[1]["output"]["answer"] = 7
        path.write_text("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]")
        return path


@pytest.fixture(scope="module")
def contest(stack: Stack) -> Contest:
    """One for all: everybody who comes founds a team of their own."""
    made = stack.call("tests.system.make_contest", "make_numbered", f"web-{uuid.uuid4().hex[:8]}", 4, 3)
    return Contest(made["slug"], made["ids"])


@dataclass
class Person:
    """Somebody at a browser. ``complaints`` are errors of its console: of scripts or of the security policy."""

    page: Page
    site: str
    complaints: list[str]

    def open(self, address: str) -> None:
        self.page.goto(self.site + address)

    def sign_up(self) -> None:
        self.open("/")
        self.page.get_by_role("link", name="회원가입").click()
        self.page.get_by_label("이름", exact=True).fill("김말판")
        self.page.get_by_label("이메일", exact=True).fill(f"{uuid.uuid4().hex}@example.org")
        self.page.get_by_label("비밀번호", exact=True).fill("열두글자가넘는비밀번호")
        self.page.get_by_label("비밀번호 확인").fill("열두글자가넘는비밀번호")
        self.page.get_by_label("개인정보 처리방침을 읽었고").check()
        self.page.get_by_role("button", name="가입하기").click()
        expect(self.page.get_by_role("status")).to_contain_text("김말판 님, 로그인되었습니다.")

    def make_team(self, contest: Contest, name: str) -> None:
        self.open(contest.address())
        self.page.get_by_role("link", name="팀 만들기").click()
        self.page.get_by_label("팀 이름").fill(name)
        self.page.get_by_role("button", name="팀 만들기").click()
        expect(self.page.get_by_role("heading", name=name)).to_be_visible()

    def upload(self, contest: Contest, path: Path) -> None:
        self.open(contest.address("submit/"))
        self.page.get_by_label("제출 파일", exact=True).set_input_files(path)
        self.page.get_by_role("button", name="제출하기").click()


@contextmanager
def people_at(browser: Browser, site: str) -> Iterator[Callable[..., Person]]:
    """Seats people at browsers that know nothing of each other."""
    contexts = []

    def sit_down(**options: Any) -> Person:
        contexts.append(browser.new_context(locale="ko-KR", **options))
        page = contexts[-1].new_page()
        return Person(page, site, complaints_of(page))

    yield sit_down
    for context in contexts:
        context.close()


@pytest.fixture
def at_browser(browser: Browser, stack: Stack) -> Iterator[Callable[..., Person]]:
    with people_at(browser, stack.url) as sit_down:
        yield sit_down


def test_a_person_signs_up_uploads_a_bad_and_a_good_file_and_stands_on_the_board(
    at_browser: Any, contest: Contest, tmp_path: Path
) -> None:
    person: Person = at_browser()
    person.sign_up()
    person.make_team(contest, "브라우저 팀")
    page = person.page

    person.upload(contest, contest.bad_file(tmp_path / "bad.json"))
    errors = page.locator("#errors")
    expect(errors).to_be_focused()
    expect(errors).to_contain_text("제출 횟수도 차감되지 않았습니다")
    cells = errors.get_by_role("cell")
    expect(cells.nth(0)).to_have_text("3")
    expect(cells.nth(1)).to_have_text(contest.ids[1])
    expect(cells.nth(3)).to_contain_text("파일 형식 오류 - 데이터 형태가 제출 기준과 다름")

    person.upload(contest, contest.good_file(tmp_path / "good.json"))
    expect(page.get_by_role("status")).to_contain_text("제출을 접수했습니다")
    address = page.url
    expect(page.get_by_text("채점 완료")).to_be_visible(timeout=SCORED_WITHIN)  # polled, never reloaded
    assert page.url == address
    expect(page.get_by_role("row", name="EM")).to_contain_text("75.0000000")
    score = float(page.locator(".state-score").inner_text().split()[0])

    page.get_by_role("navigation", name="대회 메뉴").get_by_role("link", name="순위표").click()
    own = page.locator("tr.own")  # of a short board: not once more below it
    expect(own).to_contain_text("브라우저 팀")
    expect(own).to_contain_text(f"{score:.4f}")
    expect(page.get_by_role("columnheader", name="순위")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("link", name="내 제출").click()
    expect(page.locator(".history-row")).to_have_count(2)
    assert broken_rows(page) == []
    assert person.complaints == []


def test_everything_works_without_scripts(at_browser: Any, contest: Contest, tmp_path: Path) -> None:
    person: Person = at_browser(java_script_enabled=False)
    person.sign_up()
    person.make_team(contest, "스크립트 없는 팀")
    person.upload(contest, contest.bad_file(tmp_path / "bad.json"))
    expect(person.page.get_by_role("cell", name=contest.ids[1])).to_be_visible()
    person.upload(contest, contest.good_file(tmp_path / "good.json"))
    finished = person.page.get_by_text("채점 완료")
    for _ in range(SCORED_WITHIN // 1000):
        if finished.is_visible():
            break
        person.page.get_by_role("link", name="새로 고침").click()
        person.page.wait_for_timeout(1000)
    expect(finished).to_be_visible()


def test_a_dropped_file_is_taken_and_a_file_too_large_is_stopped_before_it_is_sent(
    at_browser: Any, contest: Contest
) -> None:
    person: Person = at_browser()
    person.sign_up()
    person.make_team(contest, "끌어다 놓는 팀")
    person.open(contest.address("submit/"))
    drop = """(length) => {
        const files = new DataTransfer();
        files.items.add(new File(["x".repeat(length)], "dropped.json"));
        document.querySelector("[data-drop]").dispatchEvent(
            new DragEvent("drop", {dataTransfer: files, bubbles: true, cancelable: true}));
        return document.querySelector("input[type=file]").files[0].name;
    }"""
    assert person.page.evaluate(drop, 21 * 1024 * 1024) == "dropped.json"
    expect(person.page.get_by_role("alert")).to_contain_text("20.0 MB보다 큽니다")
    person.page.get_by_role("button", name="제출하기").click()
    assert person.page.url.endswith("/submit/")

    assert person.page.evaluate(drop, 3) == "dropped.json"
    person.page.get_by_role("button", name="제출하기").click()
    expect(person.page.locator("#errors")).to_contain_text("dropped.json")
    assert person.complaints == []


@pytest.fixture(scope="module")
def long_names(
    browser: Browser, stack: Stack, contest: Contest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Person, str]]:
    """A person whose team and files have long names, and the page of a scored file."""
    files = tmp_path_factory.mktemp("files")
    with people_at(browser, stack.url) as sit_down:
        person = sit_down(viewport={"width": 320, "height": 800})
        person.sign_up()
        person.make_team(contest, "320" + "아주긴팀이름을띄어쓰지않고" * 4)
        person.upload(contest, contest.bad_file(files / ("긴이름" * 20 + ".json")))
        person.upload(contest, contest.good_file(files / ("긴이름" * 20 + ".json")))
        expect(person.page.get_by_text("채점 완료")).to_be_visible(timeout=SCORED_WITHIN)
        yield person, person.page.url.removeprefix(person.site)


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_no_page_scrolls_sideways(long_names: tuple[Person, str], contest: Contest, width: int) -> None:
    person, scored = long_names
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    person.page.set_viewport_size({"width": width, "height": 800})
    pages = ("", "data/", "submit/", "board/", "submissions/", "team/")
    scrolled = {}
    for address in (scored, *map(contest.address, pages), "/", "/accounts/email/", "/no/such/page/"):
        person.open(address)
        scrolled[address] = person.page.evaluate(sideways)
    assert {address: pixels for address, pixels in scrolled.items() if pixels > 0} == {}


def test_the_keyboard_reaches_the_content_first(at_browser: Any, contest: Contest) -> None:
    person: Person = at_browser()
    person.open(contest.address())
    person.page.keyboard.press("Tab")
    expect(person.page.locator(".skip-link")).to_be_focused()
    expect(person.page.locator(".skip-link")).to_be_in_viewport()
    person.page.keyboard.press("Enter")
    expect(person.page.locator("#main")).to_be_focused()


def test_letters_are_those_of_the_sites_own_typeface(at_browser: Any) -> None:
    """Its pieces for Latin and for the site's own Korean; nothing is asked of the third for what nobody wrote."""
    person: Person = at_browser()
    person.open("/accounts/login/")
    states = "document.fonts.ready.then((all) => [...all].map((face) => face.status))"
    assert person.page.evaluate(states) == ["loaded", "loaded", "unloaded"]
    person.page.evaluate("(h1 => (h1.append('뎅뎅'), h1.offsetWidth))(document.querySelector('h1'))")
    assert person.page.evaluate(states) == ["loaded", "loaded", "loaded"]
    assert person.complaints == []


LOW_CONTRAST = """() => {
    const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const luminance = (colour) => channels(colour).slice(0, 3).map((c) => c / 255)
        .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const ground = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            const alpha = channels(colour)[3];
            if (alpha === undefined || alpha === 1) return colour;
        }
        return getComputedStyle(document.body).backgroundColor;
    };
    const low = [];
    for (const element of document.body.querySelectorAll("*")) {
        const text = [...element.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join("").trim();
        if (!text || !element.checkVisibility() || element.disabled) continue;
        const [one, other] = [luminance(getComputedStyle(element).color), luminance(ground(element))];
        const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        if (ratio < 4.5) low.push(`${text.slice(0, 30)}: ${ratio.toFixed(2)}`);
    }
    return low;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(at_browser: Any, contest: Contest, tmp_path: Path, scheme: str) -> None:
    person: Person = at_browser(color_scheme=scheme)
    low = {}

    def see(address: str, who: str) -> None:
        person.open(address)
        low[address, who] = person.page.evaluate(LOW_CONTRAST)

    pages = [contest.address(page) for page in ("", "data/", "submit/", "board/", "team/")]
    for address in (*pages, "/", "/accounts/login/", "/no/such/page/"):
        see(address, "a visitor")
    person.sign_up()
    person.make_team(contest, f"팀 {scheme}")
    person.upload(contest, contest.bad_file(tmp_path / "bad.json"))
    expect(person.page.locator("#errors")).to_be_focused()
    low["after a bad file", ""] = person.page.evaluate(LOW_CONTRAST)
    person.upload(contest, contest.good_file(tmp_path / "good.json"))
    expect(person.page.get_by_role("status")).to_contain_text("제출을 접수했습니다")
    person.page.wait_for_load_state()
    low["while it waits", ""] = person.page.evaluate(LOW_CONTRAST)
    expect(person.page.get_by_text("채점 완료")).to_be_visible(timeout=SCORED_WITHIN)
    low["once it is scored", ""] = person.page.evaluate(LOW_CONTRAST)
    for address in (*pages, contest.address("submissions/"), "/accounts/email/"):
        see(address, "a member")
    assert {place: texts for place, texts in low.items() if texts} == {}
