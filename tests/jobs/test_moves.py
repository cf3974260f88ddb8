"""Every move of a job is of that job alone, and its rows are locked as ``core.locks`` says."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.core.locks import Level, LockOrderBroken, note
from malpan.jobs import claim, outcome
from malpan.jobs.models import Job
from tests.jobs.toys import Toy, add
from tests.threads import at_once

State = Job.State
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def beside(toy: Toy) -> Job:
    """A job that runs with its first attempt."""
    add()
    running = claim.claim_next(worker="beside")
    assert running is not None
    return running


def _all_but(job: Job) -> list[tuple[Any, ...]]:
    rows = Job.objects.exclude(pk=job.pk).exclude(parent=job.pk).order_by("pk")
    return list(rows.values_list("pk", "state", "attempt", "failures", "progress", "lease_expires_at", "error_code"))


MOVES: dict[str, Callable[[Job], Any]] = {
    "finish": lambda job: outcome.finish(job_id=job.pk, attempt=1),
    "fail": lambda job: outcome.fail(job_id=job.pk, attempt=1, error_code="x"),
    "put back": lambda job: outcome.put_back(job_id=job.pk, attempt=1, pause=0),
    "wait for children": lambda job: outcome.wait_for_children(job=job, kind="toy", costs=[1]),
    "drop": lambda job: outcome.drop([job.pk], error_code="x"),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
@pytest.mark.usefixtures("beside")
def test_a_move_is_of_one_job(move: Callable[[Job], Any]) -> None:
    add()
    job = claim.claim_next(worker="w")
    assert job is not None
    add()
    before = _all_but(job)
    assert [row[1] for row in before] == [State.RUNNING, State.QUEUED]
    assert move(job)
    assert _all_but(job) == before


def test_a_fault_without_a_pause_is_due_at_once_and_rung_for(toy: Toy, rings: list[str]) -> None:
    [job] = add()
    claim.claim_next(worker="w")
    rings.clear()
    assert outcome.fail(job_id=job.pk, attempt=1, error_code="x")
    job.refresh_from_db()
    assert (job.state, job.not_before, len(rings)) == (State.QUEUED, None, 1)


# --- waiting for something outside ------------------------------------------------------------------------------------
@pytest.fixture
def told(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of every wait that the handler was told of, whether it is a new one."""
    calls: list[bool] = []
    monkeypatch.setattr(toy, "waits", lambda _job, *, is_new: calls.append(is_new))
    return calls


def _waits(job: Job, error_code: str, *, is_back: bool = False, **options: Any) -> bool:
    """A worker claims ``job`` and finds that it must wait, after progress if ``is_back``; whether that was told."""
    Job.objects.filter(pk=job.pk).update(not_before=None)
    claimed = claim.claim_next(worker="w")
    assert claimed == job
    assert not is_back or outcome.resumed(job_id=job.pk)
    done = outcome.wait(
        job_id=job.pk, attempt=claimed.attempt, error_code=error_code, **{"pause": 0, "at_most": None} | options
    )
    job.refresh_from_db()
    return done


def test_a_job_that_must_wait_is_queued_again_without_a_failure(told: list[bool]) -> None:
    [job] = add()
    since = []
    for code in ("judge_away", "judge_away", "budget"):
        assert _waits(job, code)
        assert (job.state, job.failures, job.error_code, job.lease_expires_at) == (State.QUEUED, 0, code, None)
        since.append(job.waiting_since)
    assert told == [True, False, True]
    assert since[0] == since[1] < since[2], "of each cause, since the first time"


def test_a_job_waits_its_pause_and_only_as_the_attempt_that_runs(told: list[bool]) -> None:
    [job] = add()
    before = timezone.now()
    assert _waits(job, "judge_away", pause=60)
    assert job.not_before > before + timedelta(seconds=50)
    assert not outcome.wait(job_id=job.pk, attempt=job.attempt, error_code="late", pause=0, at_most=None)
    job.refresh_from_db()
    assert (job.error_code, told) == ("judge_away", [True])


@pytest.mark.parametrize(("is_back", "failures"), [(False, 1), (True, 0)])
def test_waiting_too_long_is_a_failure_unless_it_was_back_meanwhile(
    told: list[bool], is_back: bool, failures: int
) -> None:
    [job] = add()
    assert _waits(job, "judge_away", at_most=0)
    assert job.failures == 0, "no time has passed"
    Job.objects.update(waiting_since=timezone.now() - timedelta(hours=1))

    assert _waits(job, "judge_away", at_most=3599.0, is_back=is_back)

    assert (job.state, job.failures, told) == (State.QUEUED, failures, [True] if failures else [True, False])


def test_only_the_running_job_that_waited_goes_on(told: list[bool]) -> None:
    first, other = add(2)
    assert _waits(first, "judge_away")
    assert not outcome.resumed(job_id=first.pk), "it is queued: nobody has seen that what it waits for is back"
    since, lease = timezone.now() - timedelta(minutes=1), timezone.now() + timedelta(minutes=1)
    Job.objects.filter(pk=other.pk).update(state=State.RUNNING, lease_expires_at=lease, waiting_since=since)
    claimed = claim.claim_next(worker="w")
    assert claimed is not None
    assert claimed.pk == first.pk

    assert outcome.resumed(job_id=first.pk)
    assert not outcome.resumed(job_id=first.pk), "it waits no longer"

    assert dict(Job.objects.values_list("pk", "waiting_since")) == {first.pk: None, other.pk: since}


def test_waiting_for_less_than_the_time_is_no_failure(told: list[bool]) -> None:
    [job] = add()
    _waits(job, "judge_away")
    Job.objects.update(waiting_since=timezone.now() - timedelta(hours=1))
    assert _waits(job, "judge_away", at_most=3700.0)
    assert (job.failures, told) == (0, [True, False])


# --- children ---------------------------------------------------------------------------------------------------------
def _parent() -> tuple[Job, Job]:
    """A parent that waits for its child, and the child, which runs."""
    add()
    parent = claim.claim_next(worker="w")
    assert parent is not None
    assert outcome.wait_for_children(job=parent, kind="toy", costs=[1])
    child = claim.claim_next(worker="w")
    assert child is not None
    return parent, child


def test_a_child_that_is_given_up_tells_its_parent_alone(toy: Toy, rings: list[str], settings: Any) -> None:
    settings.JOB_MAX_FAILURES = 1
    parent, child = _parent()
    [other] = add()
    rings.clear()
    assert outcome.fail(job_id=child.pk, attempt=1, error_code="x")
    parent.refresh_from_db()
    other.refresh_from_db()
    assert (parent.progress, other.progress) == (0.5, 0.0)
    assert rings, "the parent is due now"


def test_a_parent_that_runs_again_is_told_nothing(toy: Toy) -> None:
    parent, child = _parent()
    lease = timezone.now() + timedelta(minutes=1)
    Job.objects.filter(pk=parent.pk).update(state=State.RUNNING, progress=0.25, lease_expires_at=lease)
    assert outcome.finish(job_id=child.pk, attempt=1)
    parent.refresh_from_db()
    assert parent.progress == 0.25


def test_a_parent_that_cannot_be_told_undoes_nothing(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    parent, child = _parent()

    def fail(_parent_id: int) -> None:
        raise RuntimeError

    monkeypatch.setattr(outcome, "_note_progress", fail)
    with transaction.atomic():
        assert outcome.finish(job_id=child.pk, attempt=1)
    child.refresh_from_db()
    assert (child.state, parent.state) == (State.FINISHED, State.RUNNING)


# --- locks ------------------------------------------------------------------------------------------------------------
def test_a_job_that_is_locked_for_a_moment_is_waited_for_where_there_is_no_other(toy: Toy) -> None:
    [job] = add()
    is_locked, is_asked = Event(), Event()
    found = []

    def hold() -> None:
        with transaction.atomic():
            Job.objects.select_for_update().get(pk=job.pk)
            is_locked.set()
            assert is_asked.wait(20)
            connection.cursor().execute("SELECT pg_sleep(0.3)")

    def ask() -> None:
        assert is_locked.wait(20)
        is_asked.set()
        found.append(claim.claim_next(worker="w"))

    at_once([hold, ask])
    assert found == [job]


def test_a_claim_is_refused_behind_locks_that_come_later(toy: Toy) -> None:
    add()
    with transaction.atomic():
        note(Level.TEAM)
        with pytest.raises(LockOrderBroken):
            claim.claim_next(worker="w")


LOCKING: dict[str, Callable[[Job], Any]] = {"claim": lambda _job: claim.claim_next(worker="w"), **MOVES}


@pytest.mark.parametrize(("name", "order"), [("claim", '"fair_tag"'), ("fail", '"id"'), ("drop", '("id"|1)')])
def test_rows_are_locked_so_that_others_may_refer_to_them_and_in_one_order(toy: Toy, name: str, order: str) -> None:
    add(2)
    job = claim.claim_next(worker="w")
    assert job is not None
    with CaptureQueriesContext(connection) as captured:
        LOCKING[name](job)
    locking = [query["sql"] for query in captured if " FOR " in query["sql"]]
    assert locking
    for statement in locking:
        assert "FOR NO KEY UPDATE" in statement
        assert re.search(f"ORDER BY .*{order} ASC.* FOR NO KEY", statement)
