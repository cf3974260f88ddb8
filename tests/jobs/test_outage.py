"""A database that is away for a while: a worker keeps its ring and its result, and each is used exactly once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone
from psycopg.errors import DiskFull

from malpan import worker_process
from malpan.jobs import claim, doorbell, faults, outage, outcome
from malpan.jobs.clock import database_now
from malpan.jobs.lease import lease_length
from malpan.jobs.models import Job
from malpan.jobs.reconcile import reconcile
from malpan.jobs.tasks import work_next
from tests import database
from tests.jobs.toys import add
from tests.waiting import wait_for

State = Job.State
OUTAGE = 1.2
SOON = timedelta(seconds=3)  # with room for a machine that has other work
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "AGAIN_SECONDS", 0.1)


@pytest.fixture
def away() -> Iterator[Callable[[], None]]:
    """Takes the database away for ``OUTAGE`` seconds."""
    with database.away_for(OUTAGE) as begin:
        yield begin


@pytest.fixture
def worker() -> Iterator[ThreadPoolExecutor]:
    """A worker beside the test, with a connection of its own."""
    with ThreadPoolExecutor(1) as pool:
        yield pool
        pool.submit(connection.close)


def the_job() -> tuple[Any, ...]:
    return Job.objects.values_list("state", "attempt", "failures").get()


# --- the ring ---------------------------------------------------------------------------------------------------------
def test_a_worker_keeps_its_ring_and_looks_for_work_when_the_database_is_back(toy, rings, worker):
    add(2)
    rings.clear()
    connection.close()
    with database.away():
        waiting = worker.submit(work_next, worker="w")
        with pytest.raises(TimeoutError):
            waiting.result(OUTAGE)
    back = timezone.now()

    assert waiting.result(10).number == 0
    assert rings == [doorbell.TASK], "the next worker is woken, without beat"
    assert toy.calls == [("claimed", 0), ("work", 0)]
    assert Job.objects.get(number=0).finished_at < back + SOON


def test_a_ring_is_not_kept_for_ever_and_beat_rings_again(toy, rings, monkeypatch):
    monkeypatch.setattr(outage, "RING_SECONDS", 0.3)
    add()
    with database.away(), pytest.raises(outage.StillAway):
        work_next(worker="w")
    rings.clear()

    assert reconcile().rang
    assert rings == [doorbell.TASK]
    assert work_next(worker="w") is not None


def test_a_worker_that_is_stopped_does_not_wait_for_the_database(toy, worker, monkeypatch):
    shared = bytearray(1)
    monkeypatch.setattr(worker_process, "_is_stopping", shared)
    monkeypatch.setattr(worker_process, "_serves_scoring", True)
    monkeypatch.setattr(outage, "is_stopping", lambda: bool(shared[0]))
    connection.close()
    with database.away():
        waiting = worker.submit(work_next, worker="w")
        with pytest.raises(TimeoutError):
            waiting.result(0.5)
        worker_process.tell_pool()
        with pytest.raises(outage.StillAway):
            waiting.result(30)


def test_a_claim_whose_answer_was_lost_is_the_worker_s(toy, monkeypatch):
    add(2)
    database.lose_next_answer(monkeypatch)

    assert work_next(worker="w").number == 0

    assert toy.calls == [("claimed", 0), ("work", 0)]
    assert list(Job.objects.order_by("pk").values_list("state", "attempt")) == [(State.FINISHED, 1), (State.QUEUED, 0)]


def test_a_claim_whose_answer_was_lost_and_that_another_has_now_is_his(toy, monkeypatch):
    add(2)
    [first, _second] = Job.objects.order_by("pk")
    take = claim.take

    def take_and_lose(job: Job, worker: str) -> None:
        take(job, worker)
        if job == first:
            database.lose_next_answer(monkeypatch)
            monkeypatch.setattr(claim, "claim_next", taken_by_another)

    def taken_by_another(**options: Any) -> Job | None:
        raise AssertionError

    def sleep(_seconds: float) -> None:
        Job.objects.filter(pk=first.pk).update(attempt=2, worker="other")
        monkeypatch.setattr(claim, "claim_next", real)

    real = claim.claim_next
    monkeypatch.setattr(claim, "take", take_and_lose)
    monkeypatch.setattr(time, "sleep", sleep)

    assert work_next(worker="w").number == 1
    assert [call for call in toy.calls if call[0] == "work"] == [("work", 1)]


def test_a_claim_whose_answer_was_lost_has_a_whole_lease_again(toy, monkeypatch):
    add()
    database.lose_next_answer(monkeypatch)
    monkeypatch.setattr(time, "sleep", lambda _seconds: Job.objects.update(lease_expires_at=database_now()))

    assert claim.claim_patiently(worker="w").attempt == 1

    left = Job.objects.get().lease_expires_at - database_now()
    assert lease_length() - SOON < left <= lease_length()


def test_a_claim_whose_answer_was_lost_and_that_was_taken_back_is_made_anew(toy, monkeypatch):
    """Though another job of the same worker has all that the claim had."""
    first, second = add(2)
    database.lose_next_answer(monkeypatch)

    def take_back(_seconds: float) -> None:
        of_first = Job.objects.values("state", "attempt", "worker", "started_at", "lease_expires_at").get(pk=first.pk)
        Job.objects.filter(pk=first.pk).update(state=State.QUEUED, lease_expires_at=None)
        Job.objects.filter(pk=second.pk).update(**of_first)

    monkeypatch.setattr(time, "sleep", take_back)
    claimed = claim.claim_patiently(worker="w")

    assert (claimed.pk, claimed.attempt) == (first.pk, 2)
    assert list(Job.objects.order_by("pk").values_list("state", "attempt")) == [(State.RUNNING, 2), (State.RUNNING, 1)]


def test_a_job_is_done_even_if_the_database_goes_before_the_next_worker_is_woken(toy, rings, monkeypatch):
    add()
    rings.clear()

    def unreachable(_now: Any) -> None:
        raise OperationalError

    take, due = claim.take, claim.due

    def take_the_last(job: Job, worker: str) -> None:
        take(job, worker)
        monkeypatch.setattr(claim, "due", unreachable)

    monkeypatch.setattr(claim, "take", take_the_last)
    toy.act = lambda _job: monkeypatch.setattr(claim, "due", due)
    assert work_next(worker="w") is not None

    assert the_job() == (State.FINISHED, 1, 0)
    assert rings == [doorbell.TASK], "one too many finds nothing"


# --- the result -------------------------------------------------------------------------------------------------------
def test_a_result_waits_for_the_database_and_is_not_computed_again(toy, away):
    add()
    toy.act = lambda _job: away()

    assert work_next(worker="w") is not None

    assert toy.calls == [("claimed", 0), ("work", 0)]
    assert the_job() == (State.FINISHED, 1, 0)


def test_a_result_waits_for_the_database_though_another_job_is_finished(toy, away):
    add(2)
    work_next(worker="w")
    toy.act = lambda _job: away()

    assert work_next(worker="w").number == 1

    assert list(Job.objects.order_by("pk").values_list("state", "attempt")) == [(State.FINISHED, 1)] * 2


def test_a_result_that_another_attempt_wrote_meanwhile_is_not_ours(toy, monkeypatch):
    add()
    ours = claim.claim_next(worker="w")
    asked = []

    def write() -> bool:
        asked.append(1)
        if len(asked) == 1:
            raise OperationalError
        return outcome.finish(job_id=ours.pk, attempt=ours.attempt)

    def finish_as_another(_seconds: float) -> None:
        Job.objects.update(attempt=2, state=State.FINISHED, lease_expires_at=None, finished_at=database_now())

    monkeypatch.setattr(time, "sleep", finish_as_another)
    assert outcome.written(ours, write) is False
    assert len(asked) == 2


def test_a_connection_that_broke_during_the_work_costs_no_wait(toy, rings, monkeypatch):
    """The server was restarted while a model computed: nobody asked it anything meanwhile."""
    add()

    def restart(_job: Job) -> None:
        with database.away():
            pass
        rings.clear()

    toy.act = restart
    monkeypatch.setattr(time, "sleep", lambda _seconds: pytest.fail("waited"))
    work_next(worker="w")

    assert the_job() == (State.FINISHED, 1, 0)
    assert rings == [], "no answer was lost"


def test_a_fault_waits_for_the_database(toy, away, rings):
    add()

    def crash(_job: Job) -> None:
        away()
        raise RuntimeError

    toy.act = crash
    work_next(worker="w")

    assert the_job() == (State.QUEUED, 1, 1)
    assert ("put_back", 0) in toy.calls


def test_work_that_an_outage_broke_off_is_begun_again_at_once_and_later_after_pauses(toy, away, rings):
    [job] = add()

    def asks(_job: Job) -> None:
        if job.attempt == 0:
            away()
        job.attempt += 1
        connection.ensure_connection()
        Job.objects.exists()
        raise OperationalError

    toy.act = asks
    rings.clear()
    work_next(worker="w")
    assert the_job() == (State.QUEUED, 1, 1)
    assert doorbell.TASK in rings
    assert Job.objects.get().not_before is None

    before = timezone.now()
    work_next(worker="w")
    pause = Job.objects.get().not_before - before
    wanted = timedelta(seconds=faults.RETRY_PAUSE_SECONDS)
    assert wanted <= pause < wanted + SOON, "the same job may be the cause"


@pytest.mark.parametrize(("ends", "row"), [(None, (State.FINISHED, 1, 0)), (RuntimeError, (State.QUEUED, 1, 1))])
def test_an_end_whose_answer_was_lost_is_not_written_twice(toy, rings, monkeypatch, caplog, ends, row):
    add()

    def act(_job: Job) -> None:
        database.lose_next_answer(monkeypatch)
        if ends:
            raise ends

    toy.act = act
    rings.clear()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("malpan.jobs.outcome.finish", in_transaction())
        work_next(worker="w")

    assert the_job() == row
    assert [call for call, _number in toy.calls].count("put_back") == bool(ends)
    assert "refused" not in caplog.text
    assert rings == [doorbell.TASK] * len(rings) != [], "what follows a commit is made up for"


def in_transaction() -> Callable[..., bool]:
    from django.db import transaction

    from malpan.jobs.outcome import finish

    return transaction.atomic(finish)


def test_a_result_of_an_attempt_that_another_followed_is_refused_after_an_outage(toy, away, monkeypatch):
    [job] = add()
    followers = []
    pause = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _seconds: followers[0].join())
    monkeypatch.setattr(outage, "time", pause)  # it is tried again when the other has the job, however late

    def follow() -> None:
        wait_for(lambda: not _is_away(), "the database is back")
        with database.server(connection.settings_dict["NAME"]) as postgres:
            postgres.execute("UPDATE jobs_job SET attempt = 2, worker = 'other' WHERE id = %s", [job.pk])

    def act(_job: Job) -> None:
        away()
        followers.append(threading.Thread(target=follow))
        followers[0].start()

    toy.act = act
    work_next(worker="w")

    row = Job.objects.get()
    assert (row.state, row.attempt, row.worker, row.finished_at) == (State.RUNNING, 2, "other", None)


def _is_away() -> bool:
    name = connection.settings_dict["NAME"]
    with database.server() as postgres:
        return postgres.execute("SELECT datallowconn FROM pg_database WHERE datname = %s", [name]).fetchone() != (True,)


def test_a_result_is_not_kept_beyond_a_lease_and_the_job_is_taken_back(toy, away, settings):
    settings.JOB_LEASE_SECONDS = 1
    [job] = add()
    with database.away_for(4 * OUTAGE) as begin:
        toy.act = lambda _job: begin()
        with pytest.raises(outage.StillAway):
            work_next(worker="w")

    connection.close()
    assert the_job() == (State.RUNNING, 1, 0)
    assert reconcile().reclaimed == 1
    toy.act = lambda _job: None
    assert work_next(worker="w") == job


# --- a full disk ------------------------------------------------------------------------------------------------------
def disk_full() -> OperationalError:
    """PostgreSQL's, as Django hands it on."""
    error = OperationalError("could not extend file: No space left on device")
    error.__cause__ = DiskFull()
    return error


def refuse(*_args: Any, **_options: Any) -> bool:
    raise disk_full()


@pytest.mark.parametrize("place", ["work", "result"])
def test_a_database_without_room_costs_no_try_however_long_it_takes(toy, rings, settings, monkeypatch, place):
    settings.JOB_LEASE_SECONDS = 0.2
    add()
    with monkeypatch.context() as full:
        if place == "work":
            toy.act = refuse
        else:
            full.setattr(outcome, "finish", refuse)
        for attempt in range(1, settings.JOB_MAX_FAILURES + 2):
            before = timezone.now()
            assert work_next(worker="w") is not None
            assert the_job() == (State.QUEUED, attempt, 0)
            pause = Job.objects.get().not_before - before
            assert pause >= timedelta(seconds=faults.RETRY_PAUSE_SECONDS)
            Job.objects.update(not_before=None)
    toy.act = lambda _job: None

    work_next(worker="w")

    assert the_job()[0] == State.FINISHED
    assert ("given_up", 0) not in toy.calls
