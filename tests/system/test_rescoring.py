"""A rescoring batch on a running site, through its pages: it survives kill -9 of the worker and of the web server."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest
import requests

from tests.system.make_contest import answers
from tests.system.stack import Stack
from tests.system.visitor import Visitor
from tests.waiting import wait_for

pytestmark = pytest.mark.services
TEAMS, EACH, ITEMS, WORDS = 3, 2, 60, 6


@pytest.fixture
def contest(stack: Stack) -> dict[str, Any]:
    slug = f"rescoring-{uuid.uuid4().hex[:8]}"
    return stack.call("tests.system.make_rescoring", "prepare", slug, TEAMS, EACH, ITEMS, WORDS)


@pytest.fixture
def organiser(stack: Stack, contest: dict[str, Any]) -> Visitor:
    visitor = Visitor(stack)
    stack.call("tests.system.make_rescoring", "organise", contest["slug"], visitor.email)
    return visitor


# how sure the ranks are, and in the first hour of a day in Korea how it began
NOTED_LATER = ("intervals", "rank_interval", "tie_band", "tied_rank", "above_p", "rank_yesterday")


def board_of(stack: Stack, slug: str) -> dict[str, Any]:
    """The public board as the API gives it, without what is computed some time after it."""
    board = requests.get(f"{stack.url}/api/v1/competitions/{slug}/tracks/main/board/", timeout=120).json()
    return board | {"sureness": None, "rows": [{**row, **dict.fromkeys(NOTED_LATER)} for row in board["rows"]]}


def batch_of(stack: Stack, slug: str) -> tuple[int, str] | None:
    """The newest batch, and its state as people see it: ready where every run is finished."""
    rows = stack.query(
        "SELECT b.id, CASE WHEN b.state = 'running' AND (SELECT bool_and(r.state = 'finished')"
        " FROM submissions_scoringrun r WHERE r.batch_id = b.id) THEN 'ready' ELSE b.state END"
        " FROM submissions_rescorebatch b JOIN competitions_competition c"
        " ON c.id = b.competition_id WHERE c.slug = %s ORDER BY b.id DESC",
        slug,
    )
    return rows[0] if rows else None


def runs_of(stack: Stack, batch: int) -> list[tuple[str, int, int]]:
    """(state, attempt, submission) of every run of the batch."""
    return stack.query(
        "SELECT r.state, j.attempt, r.submission_id FROM submissions_scoringrun r JOIN jobs_job j ON j.id = r.job_id"
        " WHERE r.batch_id = %s",
        batch,
    )


def kill_with_children(programs: list[psutil.Process]) -> None:
    for process in [*programs, *(child for program in programs for child in program.children(recursive=True))]:
        process.kill()


def waits_for_a_lock(stack: Stack) -> bool:
    return bool(stack.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = 'malpan'"))


def test_a_batch_survives_the_death_of_the_worker_and_of_the_web_server(
    stack: Stack, contest: dict[str, Any], organiser: Visitor
) -> None:
    slug = contest["slug"]
    stack.wait_for_models()
    draft = stack.call("tests.system.make_rescoring", "draft", slug, ITEMS, WORDS + 2)
    old = board_of(stack, slug)

    start = f"/competitions/{slug}/manage/rescoring/start/{contest['phase']}/"
    organiser.post(
        start, at_end="/manage/rescoring/", reason="새 이유", reference_version=str(draft["reference_version"])
    )
    batch = wait_for(lambda: batch_of(stack, slug), "the batch is there")[0]
    kill_with_children(stack.programs("malpan.web_server"))
    with stack.held("submissions_rescorebatch", batch):  # no run is finished, so that the kill is not between two
        wait_for(lambda: any(state == "running" for state, *_ in runs_of(stack, batch)), "a run is claimed", every=0.02)
        kill_with_children([stack.program("scoring")])

    wait_for(stack.is_well, "the site is back")
    assert board_of(stack, slug) == old
    wait_for(lambda: batch_of(stack, slug) == (batch, "ready"), "the batch is ready", seconds=300, every=0.5)
    runs = runs_of(stack, batch)
    assert len(runs) == len({submission for *_, submission in runs}) == TEAMS * EACH
    assert {state for state, *_ in runs} == {"finished"}
    assert max(attempt for _state, attempt, _submission in runs) == 2
    assert board_of(stack, slug) == old

    page = f"/competitions/{slug}/manage/rescoring/{batch}/"
    notice = {"title_ko": "정정", "body_ko": "새 이유로 채점"}
    seen = organiser.hidden_at(page, "seen")
    organiser.post(f"{page}apply/", form_at=page, at_end=page, confirm="on", seen=seen, **notice)
    wait_for(lambda: board_of(stack, slug) != old, "the new board, by whoever computes it")
    live = stack.query(
        "SELECT count(*) FROM submissions_submission s JOIN submissions_scoringrun r ON r.id = s.live_run_id"
        " WHERE r.batch_id = %s",
        batch,
    )
    assert live == [(TEAMS * EACH,)]


def test_a_web_server_killed_while_applying_leaves_the_old_board_or_the_new_one(
    stack: Stack, contest: dict[str, Any], organiser: Visitor
) -> None:
    slug = contest["slug"]
    old = board_of(stack, slug)
    start = f"/competitions/{slug}/manage/rescoring/start/{contest['phase']}/"
    organiser.post(start, at_end="/manage/rescoring/", reason="엄격", recipe="rag-qa-strict@1")
    batch = wait_for(lambda: batch_of(stack, slug), "the batch is there")[0]
    wait_for(lambda: batch_of(stack, slug) == (batch, "ready"), "the batch is ready", seconds=300, every=0.2)

    page = f"/competitions/{slug}/manage/rescoring/{batch}/"
    web = stack.programs("malpan.web_server")
    seen = organiser.hidden_at(page, "seen")
    with stack.held("competitions_phase", contest["phase"]), ThreadPoolExecutor(1) as pool:
        applying = pool.submit(organiser.post, f"{page}apply/", form_at=page, at_end=page, confirm="on", seen=seen)
        wait_for(lambda: waits_for_a_lock(stack), "the application waits in the middle of its transaction")
        kill_with_children(web)
        assert applying.exception(timeout=120) is not None
    wait_for(stack.is_well, "the site is back")

    assert batch_of(stack, slug) == (batch, "ready")
    assert board_of(stack, slug) == old
    organiser.post(f"{page}apply/", form_at=page, at_end=page, confirm="on", seen=seen)
    assert batch_of(stack, slug) == (batch, "applied")


def test_uploads_while_a_batch_is_open_are_scored_both_ways(
    stack: Stack, contest: dict[str, Any], organiser: Visitor
) -> None:
    slug = contest["slug"]
    draft = stack.call("tests.system.make_rescoring", "draft", slug, ITEMS, WORDS + 2)
    start = f"/competitions/{slug}/manage/rescoring/start/{contest['phase']}/"
    organiser.post(
        start, at_end="/manage/rescoring/", reason="새 이유", reference_version=str(draft["reference_version"])
    )
    batch = wait_for(lambda: batch_of(stack, slug), "the batch is there")[0]
    visitor = Visitor(stack)
    visitor.found_team(slug, "늦게 온 팀")

    public_id = visitor.submit(slug, answers(contest["ids"], WORDS, wrong=3))

    def states() -> list[tuple[Any, ...]]:
        return stack.query(
            "SELECT r.batch_id, r.state, r.finished_at FROM submissions_scoringrun r JOIN submissions_submission s"
            " ON s.id = r.submission_id WHERE s.public_id = %s ORDER BY r.id",
            public_id,
        )

    assert [row[0] for row in states()] == [None, batch]
    wait_for(lambda: all(row[1] == "finished" for row in states()), "both are scored", seconds=300, every=0.5)
    live, beside = states()
    assert live[2] < beside[2], "an upload does not wait behind the rescoring"
    wait_for(lambda: batch_of(stack, slug) == (batch, "ready"), "the batch is ready", seconds=300, every=0.5)
