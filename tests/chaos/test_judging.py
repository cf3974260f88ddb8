"""What was said by judges beside what the database has: lost, or counted twice; and whose answer is one."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import requests

from tests.chaos import judging
from tests.chaos.judging import Judge, Said, lost_or_twice

KEY = "0f3c9a52-0000-4000-8000-000000000001"
QUEUE = "/arena/7/judge/"


class Kept:
    """A database with these judgements."""

    def __init__(self, *rows: Said) -> None:
        self.rows = [tuple(row) for row in rows]

    def query(self, _statement: str) -> list[tuple[Any, ...]]:
        return self.rows


class Site:
    """Takes one judgement; ``breaks`` answers before are none, though the first of them was recorded."""

    def __init__(self, breaks: list[int | None]) -> None:
        self.breaks, self.taken = breaks, set[tuple[str, str]]()

    def post(self, address: str, *, data: dict[str, str], **_given: Any) -> requests.Response:
        if data:
            self.taken.add((data["choice"], data["note"]))
        answer = requests.Response()
        answer.status_code = 302
        answer.headers["Location"] = f"{QUEUE}{KEY}/"
        if data and self.breaks:
            status = self.breaks.pop(0)
            if status is None:
                raise requests.ConnectionError
            answer.status_code = status
            answer.headers["Location"] = "/accounts/login/" if status == 302 else ""
        return answer


@pytest.fixture
def judge() -> Judge:
    return Judge("http://site", 7, "session", "1")


def sent(judge: Judge, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging.requests, "post", site.post)
    monkeypatch.setattr(judging, "AGAIN_SECONDS", 0.0)
    judge._say(judge._next())


def test_what_was_said_and_is_kept_once_is_neither_lost_nor_twice(judge: Judge) -> None:
    judge.said = [Said(KEY, 1, "first", "하나"), Said(KEY, 2, "tie", "둘")]
    assert lost_or_twice(Kept(*judge.said), [judge]) == ([], [])


def test_a_missing_a_changed_and_a_doubled_judgement_are_found(judge: Judge) -> None:
    first, second = Said(KEY, 1, "first", "하나"), Said(KEY, 2, "tie", "둘")
    judge.said = [first, second]
    assert lost_or_twice(Kept(first), [judge]) == ([str(second)], [])
    assert lost_or_twice(Kept(first, second, second), [judge]) == ([], [str(second)])
    other = second._replace(choice="second")
    assert lost_or_twice(Kept(first, other), [judge]) == ([str(second)], [str(other)])


def test_a_form_is_sent_until_it_is_answered(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site([None, 503, 500])
    sent(judge, site, monkeypatch)
    assert judge.tries >= 4
    assert [(each.choice, each.note) for each in judge.said] == [*site.taken]
    assert judge.refused == []


@pytest.mark.parametrize("status", [302, 403, 409, 422])
def test_a_way_to_the_log_in_or_a_refusal_is_no_answer(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    sent(judge, Site([status, status]), monkeypatch)
    assert str(status) in judge.refused[0]


def test_an_assignment_that_was_judged_and_is_asked_for_again_is_told(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent(judge, Site([]), monkeypatch)
    judge._next()
    assert "once more" in judge.refused[0]


def test_a_judge_stops_when_told(judge: Judge) -> None:
    stop = threading.Event()
    stop.set()
    judge.work(stop)
    assert judge.tries == 0
