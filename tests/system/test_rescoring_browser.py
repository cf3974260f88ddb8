"""The rule changes mid-contest, in a real browser: 40 teams, 400 submissions, uploads going on, a reader polling."""

from __future__ import annotations

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests
from playwright.sync_api import Page, expect

from tests.system.browsers import log_in_somebody
from tests.system.make_contest import answers
from tests.system.stack import Stack
from tests.system.test_rescoring import batch_of, board_of
from tests.system.visitor import Visitor
from tests.waiting import wait_for

pytestmark = [pytest.mark.browser, pytest.mark.services]
TEAMS, EACH, ITEMS, WORDS = 40, 10, 6, 4
READY_WITHIN = 300_000  # milliseconds
STRICT = "rag-qa-strict@1"


def contest(stack: Stack, teams: int, each: int) -> dict[str, Any]:
    slug = f"many-{uuid.uuid4().hex[:8]}"
    return stack.call("tests.system.make_rescoring", "prepare", slug, teams, each, ITEMS, WORDS)


class Reader:
    """Reads the public board over and over; ``seen`` are the distinct ones in order."""

    def __init__(self, stack: Stack, slug: str) -> None:
        self.seen: list[dict[str, Any]] = []
        self.looks = 0
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(1)
        self._reading = self._pool.submit(self._read, stack, slug)

    def _read(self, stack: Stack, slug: str) -> None:
        while not self._stop.is_set():
            now = board_of(stack, slug)
            self.looks += 1
            if not self.seen or self.seen[-1] != now:
                self.seen.append(now)

    def look_again(self) -> None:
        wanted = self.looks + 3
        wait_for(lambda: self.looks >= wanted or self._reading.done(), "the reader looks")

    def stop(self) -> list[dict[str, Any]]:
        self._stop.set()
        self._reading.result(timeout=60)
        self._pool.shutdown()
        return self.seen


def test_a_changed_rule_is_previewed_and_applied_at_once(stack: Stack, page: Page) -> None:
    made = contest(stack, TEAMS, EACH)
    slug = made["slug"]
    assert made["submissions"] == TEAMS * EACH
    email = log_in_somebody(page, stack)
    stack.call("tests.system.make_rescoring", "organise", slug, email)
    old = board_of(stack, slug)

    page.goto(f"{stack.url}/competitions/{slug}/manage/rescoring/")
    page.get_by_role("link", name="재채점 시작").click()
    page.get_by_label("사유").fill("이유를 빠뜨린 문항은 0점")
    page.get_by_label("채점 방식").select_option(STRICT)
    page.get_by_role("button", name="재채점 시작").click()
    expect(page.get_by_role("status")).to_contain_text("순위표는 적용할 때까지 바뀌지 않습니다")
    assert board_of(stack, slug) == old

    visitor = Visitor(stack)
    visitor.found_team(slug, "늦게 온 팀")
    late = visitor.submit(slug, answers(made["ids"], WORDS, wrong=1))
    heading = page.get_by_role("heading", name="미리보기")
    expect(heading).to_be_visible(timeout=READY_WITHIN)  # polled, never reloaded by hand
    everything = f"{TEAMS * EACH + 1} / {TEAMS * EACH + 1}"  # nobody waited for the late one: it may be missing yet
    expect(page.locator("#progress")).to_contain_text(everything, timeout=READY_WITHIN)
    wait_for(lambda: states_of(stack, late) == ["finished", "finished"], "the late one is scored by both rules")
    batch = batch_of(stack, slug)
    assert batch is not None
    neural = stack.query(
        "SELECT count(DISTINCT m.metric_signature), count(*) FROM submissions_metricresult m"
        " JOIN submissions_submission s ON s.id = m.submission_id WHERE s.phase_id = %s AND m.metric = 'bleurt'",
        made["phase"],
    )
    assert neural == [(1, TEAMS * EACH + 1)], "one set of values a submission, for both rules"
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV로 받기").click()
    assert len(download.value.path().read_text("utf-8-sig").splitlines()) == TEAMS * EACH + 2

    before = board_of(stack, slug)
    assert before != old, "the late team stands on the old board"
    reader = Reader(stack, slug)
    reader.look_again()
    page.get_by_label("모든 팀의 제출 횟수를 초기화합니다").check()
    page.get_by_label("공지 제목", exact=False).first.fill("채점 규칙이 바뀌었습니다")
    page.get_by_label("공지 내용", exact=False).first.fill("이유를 빠뜨린 문항은 0점으로 채점합니다.")
    page.get_by_role("button", name="지금 적용").click()
    expect(page.get_by_label("미리보기를 확인했고")).to_be_focused()  # the browser asks for the tick
    page.get_by_label("미리보기를 확인했고").check()
    page.get_by_role("button", name="지금 적용").click()
    expect(page.get_by_role("status")).to_contain_text("한꺼번에 바뀌었습니다")
    wait_for(lambda: reader.seen[-1] != before, "the reader sees another board")
    reader.look_again()
    assert reader.stop() == [before, board_of(stack, slug)]

    assert requests.get(f"{stack.url}/competitions/{slug}/", timeout=30).text.count("채점 규칙이 바뀌었습니다") == 1
    resets = stack.query("SELECT count(*) FROM submissions_quotaentry WHERE batch_id = %s", batch[0])
    assert resets == [(TEAMS + 1,)]
    assert states_of(stack, late) == ["finished", "finished"]


def states_of(stack: Stack, public_id: str) -> list[str]:
    rows = stack.query(
        "SELECT r.state FROM submissions_scoringrun r JOIN submissions_submission s ON s.id = r.submission_id"
        " WHERE s.public_id = %s",
        public_id,
    )
    return [row[0] for row in rows]


def test_the_pages_of_the_workflow_do_not_scroll_sideways_on_a_phone(stack: Stack, page: Page) -> None:
    made = contest(stack, 5, 2)
    slug = made["slug"]
    email = log_in_somebody(page, stack)
    stack.call("tests.system.make_rescoring", "organise", slug, email)
    page.set_viewport_size({"width": 390, "height": 800})
    start = f"{stack.url}/competitions/{slug}/manage/rescoring/start/{made['phase']}/"
    addresses = [f"{stack.url}/competitions/{slug}/manage/{name}/" for name in ("references", "rescoring")]
    page.goto(start)
    page.get_by_label("사유").fill("이유를 빠뜨린 문항은 0점")
    page.get_by_label("채점 방식").select_option(STRICT)
    page.get_by_role("button", name="재채점 시작").click()
    expect(page.get_by_role("heading", name="미리보기")).to_be_visible(timeout=READY_WITHIN)
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    scrolled = {}
    for address in (page.url, start, *addresses):
        page.goto(address)
        scrolled[address] = page.evaluate(sideways)
    assert {address: pixels for address, pixels in scrolled.items() if pixels > 0} == {}
