"""The queue by itself, with toy work: what it knows not it leaves alone, and nothing is lost with a ring."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from malpan.core.errors import StorageFull, SystemFault
from malpan.jobs import claim, doorbell, faults, outcome, queue, registry
from malpan.jobs.errors import WorkerLost
from malpan.jobs.lease import LeaseRenewer
from malpan.jobs.models import Job
from malpan.jobs.reconcile import reconcile
from malpan.jobs.tasks import work_next
from tests.submissions.conftest import collect_rings
from tests.threads import at_once

State = Job.State
pytestmark = pytest.mark.django_db(transaction=True)


class Toy(registry.Handler):
    """Does what it is told, and remembers what it was asked."""

    crashed: type[SystemFault] = StorageFull

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []
        self.act: Callable[[Job], None] = lambda _job: None

    def work(self, job: Job, lease: LeaseRenewer) -> None:
        self.calls.append(("work", job.number))
        self.act(job)
        outcome.finish(job_id=job.pk, attempt=job.attempt)

    def claimed(self, job: Job) -> None:
        self.calls.append(("claimed", job.number))

    def put_back(self, job: Job) -> None:
        self.calls.append(("put_back", job.number))

    def given_up(self, job: Job) -> None:
        self.calls.append(("given_up", job.number))


@pytest.fixture(autouse=True)
def rings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return collect_rings(monkeypatch)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    made = Toy()
    monkeypatch.setattr(registry, "_handlers", {"toy": made})
    return made


def add(count: int = 1, kind: str = "toy", **fields: Any) -> list[Job]:
    return queue.add(kind=kind, flow="team:1", lane=Job.Lane.LIVE, costs=[1] * count, **fields)


def states() -> list[str]:
    return list(Job.objects.order_by("pk").values_list("state", flat=True))


# --- the way of a job -------------------------------------------------------------------------------------------------
def test_a_job_is_done_once_in_its_turn_and_its_handler_told(toy):
    add(2)

    assert [job and job.number for job in (work_next(worker="w") for _ring in range(3))] == [0, 1, None]
    assert toy.calls == [("claimed", 0), ("work", 0), ("claimed", 1), ("work", 1)]
    assert states() == [State.FINISHED] * 2


def test_two_rings_for_one_job_are_one_too_many(toy):
    add()

    at_once([lambda: work_next(worker="w") for _ring in range(2)])

    assert toy.calls == [("claimed", 0), ("work", 0)]


def test_a_fault_is_tried_three_times_after_growing_pauses_then_given_up(toy):
    def crash(_job: Job) -> None:
        raise RuntimeError

    toy.act = crash
    [job] = add()
    pauses = []
    for _attempt in range(3):
        Job.objects.update(not_before=None)
        before = timezone.now()
        work_next(worker="w")
        job.refresh_from_db()
        pauses.append(job.not_before and round((job.not_before - before).total_seconds()))

    assert pauses == [faults.RETRY_PAUSE_SECONDS, 2 * faults.RETRY_PAUSE_SECONDS, None]
    assert [call for call, _number in toy.calls] == ["claimed", "work", "put_back"] * 2 + [
        "claimed",
        "work",
        "given_up",
    ]
    assert (job.state, job.error_code, job.tries) == (State.FAILED, "storage_full", 3)


def test_a_claim_that_its_handler_cannot_follow_is_no_claim(toy, monkeypatch):
    add()

    def fail(_job: Job) -> None:
        raise OperationalError

    with monkeypatch.context() as patch:
        patch.setattr(toy, "claimed", fail)
        with pytest.raises(OperationalError):
            work_next(worker="w")

    assert list(Job.objects.values_list("state", "attempt")) == [(State.QUEUED, 0)]
    assert work_next(worker="w") is not None


# --- workers of other versions ----------------------------------------------------------------------------------------
def test_a_kind_that_this_version_does_not_know_is_left_for_others(toy):
    add(kind="newer")
    add()

    assert work_next(worker="old").kind == "toy"
    assert work_next(worker="old") is None
    assert states() == [State.QUEUED, State.FINISHED]
    assert reconcile().rang, "somebody else may know it"


def test_a_silent_worker_s_job_of_an_unknown_kind_is_reclaimed_by_who_knows_it(toy, monkeypatch):
    add()
    claim.claim_next(worker="gone")
    Job.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))

    with monkeypatch.context() as patch:
        patch.setattr(registry, "_handlers", {})
        assert reconcile().reclaimed == 0
    assert reconcile().reclaimed == 1
    assert Job.objects.get().error_code == WorkerLost.code


def test_a_payload_that_this_version_does_not_know_is_put_back_and_counts_as_no_failure(toy):
    def unknown(_job: Job) -> None:
        raise registry.NotMine("recipe@9")

    toy.act = unknown
    [job, _other] = add(2)
    for _meeting in range(5):  # more often than a job is tried
        Job.objects.filter(pk=job.pk).update(not_before=None)
        work_next(worker="old")
    job.refresh_from_db()
    assert (job.state, job.failures, job.attempt) == (State.QUEUED, 0, 5)
    assert job.not_before > timezone.now(), "it stands in nobody's way meanwhile"

    toy.act = lambda _job: None
    Job.objects.update(not_before=None)
    assert work_next(worker="new") == job
    assert states()[0] == State.FINISHED


# --- children ---------------------------------------------------------------------------------------------------------
def parent_with(children: int) -> Job:
    [made] = add()
    taken = claim.claim_next(worker="w")
    assert outcome.wait_for_children(job=taken, kind="toy", costs=[1] * children)
    return made


def test_a_parent_waits_for_its_children_and_keeps_its_place(toy, rings):
    parent = parent_with(2)
    [later] = add()
    rings.clear()

    order = [work_next(worker="w") for _job in range(4)]

    assert [job.parent_id for job in order] == [parent.pk, parent.pk, None, None]
    assert order[2:] == [parent, later]
    assert Job.objects.get(pk=parent.pk).failures == 0


def test_a_child_that_is_given_up_counts_as_over(toy):
    parent = parent_with(1)

    def crash(_job: Job) -> None:
        raise RuntimeError

    toy.act = crash
    for _attempt in range(3):
        Job.objects.update(not_before=None)
        assert work_next(worker="w").parent_id == parent.pk
    toy.act = lambda _job: None

    assert work_next(worker="w") == parent
    assert states() == [State.FINISHED, State.FAILED]


def test_dropping_a_parent_drops_its_open_children(toy):
    parent = parent_with(3)
    work_next(worker="w")
    held = claim.claim_next(worker="w")

    assert outcome.drop([parent.pk], error_code="cancelled") == [parent.pk]

    assert states() == [State.FAILED, State.FINISHED, State.FAILED, State.FAILED]
    assert not outcome.fail(job_id=held.pk, attempt=held.attempt, error_code="late")
    assert outcome.drop([parent.pk], error_code="again") == []
    assert work_next(worker="w") is None


# --- the doorbell -----------------------------------------------------------------------------------------------------
def test_work_is_found_again_by_beat_whatever_became_of_the_rings(toy, rings):
    add(3)
    rings.clear()  # lost, all of them

    assert reconcile().rang
    done = 0
    while rings:
        rings.pop()
        done += work_next(worker="w") is not None
    assert done == 3


def test_a_worker_that_could_not_reach_the_database_loses_no_work(toy, rings, monkeypatch):
    add()

    def away(*_args: Any, **_options: Any) -> None:
        raise OperationalError("the connection is closed")

    with monkeypatch.context() as patch:
        patch.setattr(claim, "claim_next", away)
        with pytest.raises(OperationalError):
            work_next(worker="w")  # the ring is gone with it
    rings.clear()

    assert reconcile().rang
    assert rings == [doorbell.TASK]
    assert work_next(worker="w") is not None


def test_beat_looks_every_few_seconds(settings):
    entry = settings.CELERY_BEAT_SCHEDULE["look-for-work"]

    assert entry["task"] == "malpan.jobs.tasks.look_for_work"
    assert entry["schedule"] <= 5
