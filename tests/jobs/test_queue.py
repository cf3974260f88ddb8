"""The queue by itself, with toy work: what it knows not it leaves alone, and nothing is lost with a ring."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone

from malpan.jobs import claim, doorbell, faults, order, outcome, queue, registry
from malpan.jobs.errors import VersionMissing, WorkerLost
from malpan.jobs.models import Job
from malpan.jobs.reconcile import reconcile
from malpan.jobs.tasks import work_next
from tests.jobs.toys import add
from tests.threads import at_once

State = Job.State
pytestmark = pytest.mark.django_db(transaction=True)


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
        raise IntegrityError

    with monkeypatch.context() as patch:
        patch.setattr(toy, "claimed", fail)
        with pytest.raises(IntegrityError):
            work_next(worker="w")

    assert list(Job.objects.values_list("state", "attempt")) == [(State.QUEUED, 0)]
    assert work_next(worker="w") is not None


def test_a_claim_is_a_new_attempt_with_a_lease_and_clears_the_pause(toy):
    [job] = add()
    Job.objects.update(not_before=timezone.now() - timedelta(seconds=1), attempt=4)

    claim.claim_next(worker="w" * 121)

    job.refresh_from_db()
    assert (job.state, job.attempt, job.worker, job.not_before) == (State.RUNNING, 5, "w" * 120, None)
    assert job.started_at <= timezone.now() < job.lease_expires_at


def test_a_job_is_due_from_its_moment_on(toy):
    [job] = add()
    moment = timezone.now()
    Job.objects.update(not_before=moment)

    assert list(claim.due(moment - timedelta(microseconds=1))) == []
    assert list(claim.due(moment)) == [job]


def test_a_result_is_taken_once_and_of_the_running_attempt_alone(toy):
    [job, other] = add(2)
    Job.objects.update(error_code="worker_lost", progress=0.25)
    claim.claim_next(worker="w")

    assert not outcome.finish(job_id=job.pk, attempt=2)
    assert outcome.finish(job_id=job.pk, attempt=1)
    assert not outcome.finish(job_id=job.pk, attempt=1)
    assert not outcome.finish(job_id=other.pk, attempt=0), "nobody claimed it"

    job.refresh_from_db()
    assert (job.state, job.progress, job.error_code, job.lease_expires_at) == (State.FINISHED, 1.0, "", None)
    assert job.finished_at <= timezone.now()
    assert states() == [State.FINISHED, State.QUEUED]


@pytest.mark.parametrize(("pause", "rung"), [(0, [doorbell.TASK]), (60, [])])
def test_a_job_that_is_put_back_begins_anew_and_is_announced_where_it_need_not_wait(toy, rings, pause, rung):
    [job, _other] = add(2)
    claim.claim_next(worker="w")
    Job.objects.filter(pk=job.pk).update(stage="bleurt", progress=0.5)
    rings.clear()

    assert outcome.put_back(job_id=job.pk, attempt=1, pause=pause)
    assert not outcome.put_back(job_id=job.pk, attempt=1, pause=pause)

    job.refresh_from_db()
    assert (job.state, job.stage, job.progress, job.lease_expires_at) == (State.QUEUED, "", 0.0, None)
    assert (job.failures, job.not_before is None) == (0, pause == 0)
    assert rings == rung
    assert toy.calls == [("claimed", 0), ("put_back", 0)]


def test_a_job_that_is_given_up_is_over(toy, settings):
    settings.JOB_MAX_FAILURES = 1
    [job] = add()
    claim.claim_next(worker="w")

    assert outcome.fail(job_id=job.pk, attempt=1, error_code="storage_full")
    assert not outcome.fail(job_id=job.pk, attempt=1, error_code="again")

    job.refresh_from_db()
    assert (job.state, job.failures, job.error_code) == (State.FAILED, 1, "storage_full")
    assert (job.lease_expires_at, job.finished_at <= timezone.now()) == (None, True)


# --- turns ------------------------------------------------------------------------------------------------------------
def test_the_next_tag_of_a_flow_starts_at_the_virtual_time_or_behind_its_own_waiting_jobs(toy):
    def tagged(flow: str, tag: int, **fields: Any) -> None:
        lane = fields.pop("lane", Job.Lane.LIVE)
        [job] = queue.add(kind="toy", flow=flow, lane=lane, costs=[1])
        Job.objects.filter(pk=job.pk).update(fair_tag=tag, **fields)

    over = {"state": State.FINISHED, "finished_at": timezone.now()}
    assert order.next_fair_tag("a", Job.Lane.LIVE) == 0
    tagged("b", 30)
    tagged("b", 500, lane=Job.Lane.RESCORING, attempt=1)
    assert order.next_fair_tag("a", Job.Lane.LIVE) == 0, "what others have waiting is no time that has passed"
    tagged("b", 20, attempt=1, **over)
    assert order.next_fair_tag("a", Job.Lane.LIVE) == 20
    tagged("a", 70)
    tagged("a", 90, **over)
    assert order.next_fair_tag("a", Job.Lane.LIVE) == 70
    assert order.assign_fair_tags([5, 1], 70) == [75, 76]


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
    assert job.error_code == VersionMissing.code
    assert job.waiting_since < job.started_at, "since the first meeting: the age of the queue does not tell it"

    toy.act = lambda _job: None
    Job.objects.update(not_before=None)
    assert work_next(worker="new") == job
    assert states()[0] == State.FINISHED


def test_a_job_that_a_worker_with_other_numbers_puts_back_waits_for_no_version(toy):
    def differs(_job: Job) -> None:
        raise registry.NumbersDiffer("its numbers differ")

    toy.act = differs
    [job] = add()
    work_next(worker="bad")
    job.refresh_from_db()
    assert (job.state, job.failures, job.error_code, job.waiting_since) == (State.QUEUED, 0, "", None)
    assert job.not_before > timezone.now()


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

    done = [work_next(worker="w") for _job in range(4)]

    assert [job.parent_id for job in done] == [parent.pk, parent.pk, None, None]
    assert done[2:] == [parent, later]
    assert Job.objects.get(pk=parent.pk).failures == 0


def test_a_parent_that_waits_for_its_children_waits_for_nothing_outside(toy):
    [made] = add()
    taken = claim.claim_next(worker="old")
    assert outcome.wait(job_id=made.pk, attempt=taken.attempt, error_code="version_missing", pause=0, at_most=None)
    assert Job.objects.get().waiting_since is not None
    taken = claim.claim_next(worker="new")
    assert outcome.wait_for_children(job=taken, kind="toy", costs=[1])
    assert Job.objects.get(pk=made.pk).waiting_since is None


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


def test_a_parent_tells_how_many_of_its_children_are_over(toy, rings):
    parent = parent_with(2)
    progress = []
    for _child in range(2):
        rings.clear()
        work_next(worker="w")
        parent.refresh_from_db()
        progress.append(round(parent.progress, 3))
        assert doorbell.TASK in rings, "the parent may be due"
    assert progress == [0.333, 0.667]
    assert (parent.state, parent.lease_expires_at) == (State.QUEUED, None)


def test_children_are_of_the_parents_flow_and_only_the_attempt_that_runs_has_any(toy):
    [parent] = add()
    taken = claim.claim_next(worker="w")
    taken.attempt = 2
    assert not outcome.wait_for_children(job=taken, kind="toy", costs=[1])
    taken.attempt = 1
    assert outcome.wait_for_children(job=taken, kind="toy", costs=[3, 4])

    children = Job.objects.filter(parent=parent)
    assert list(children.order_by("pk").values_list("flow", "lane", "cost")) == [("team:1", 0, 3), ("team:1", 0, 4)]


def test_dropping_ends_nothing_else(toy):
    first, [second] = parent_with(1), add()
    add(parent=second)

    outcome.drop([first.pk], error_code="cancelled")

    assert set(Job.objects.filter(parent=second).values_list("state", flat=True)) == {State.QUEUED}
    first.refresh_from_db()
    assert (first.error_code, first.lease_expires_at, first.finished_at is None) == ("cancelled", None, False)
    assert Job.objects.get(pk=second.pk).state == State.QUEUED


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


def test_beat_looks_every_few_seconds(settings):
    entry = settings.CELERY_BEAT_SCHEDULE["look-for-work"]

    assert entry["task"] == "malpan.jobs.tasks.look_for_work"
    assert entry["schedule"] <= 5
