"""A large run meets faults, cancellations and other teams: the trouble of one slice is its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.core import mail
from django.db import connection, transaction
from django.utils import timezone

from malpan.jobs import outcome
from malpan.jobs.claim import claim_next
from malpan.jobs.models import Job
from malpan.jobs.reconcile import reconcile
from malpan.jobs.tasks import work_next
from malpan.submissions.evaluation import actions, large_runs
from malpan.submissions.models import MetricResult, ScoringRun, Submission
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.batches import Selection
from malpan.submissions.withdrawal import withdraw
from tests.factories import CANARY, TeamFactory, UserFactory, leader_of, update_jobs
from tests.submissions.conftest import fresh, send
from tests.submissions.evaluation.large_runs import (
    ITEMS,
    SLICES,
    answers,
    asked,
    forget,
    in_one_piece,
    large_run,
    planned_run,
    result_of,
    slices_of,
    states,
    work_off,
)
from tests.waiting import wait_for

__all__ = ["asked"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("asked")]
State = Job.State
RunState = ScoringRun.State


# --- faults -----------------------------------------------------------------------------------------------------------
def test_slice_that_is_lost_for_good_lets_the_run_proceed_to_the_same_result(settings, monkeypatch, asked, caplog):
    settings.ADMINS = [("운영자", "operator@example.com")]
    whole = in_one_piece(settings)
    run = planned_run()
    lost = slices_of(run).first()
    real = large_runs.precompute

    def crash(work: Any, **options: Any) -> None:
        if Job.objects.filter(pk=lost.pk, state=State.RUNNING).exists():
            raise RuntimeError(f"near {CANARY}")
        real(work, **options)

    monkeypatch.setattr(large_runs, "precompute", crash)
    for _attempt in range(3):
        Job.objects.update(not_before=None)
        work_off()

    lost.refresh_from_db()
    assert (lost.state, lost.attempt, lost.error_code) == (State.FAILED, 3, "scoring_crashed")
    assert result_of(run) == result_of(whole)
    assert (run.job.failures, run.error_code) == (0, "")
    assert Submission.objects.get(pk=run.submission_id).refunded_at is None
    assert mail.outbox == [], "nobody has to do anything"
    assert CANARY not in caplog.text


def test_fault_of_one_slice_is_tried_again_after_a_pause_and_costs_the_others_nothing(monkeypatch):
    run = planned_run()
    real = large_runs.precompute
    tried: list[int] = []

    def crash_once(*args: Any, **options: Any) -> Any:
        tried.append(1)
        if len(tried) == 1:
            raise MemoryError
        return real(*args, **options)

    monkeypatch.setattr(large_runs, "precompute", crash_once)
    work_off()
    assert states(run) == {State.FINISHED: SLICES - 1, State.QUEUED: 1}

    Job.objects.update(not_before=None)
    work_off()

    assert (fresh(run).state, run.error_code) == (RunState.FINISHED, "")
    assert sorted(slices_of(run).values_list("attempt", flat=True)) == [1] * (SLICES - 1) + [2]


# --- taken back by people ---------------------------------------------------------------------------------------------
def test_run_that_is_cancelled_while_its_slices_wait_takes_them_along():
    run = planned_run()
    held = claim_next(worker="w")

    actions.cancel_run(run=run, actor=UserFactory.create(is_superuser=True))

    assert claim_next(worker="w") is None
    assert not outcome.finish(job_id=held.pk, attempt=held.attempt)
    assert states(run) == {State.FAILED: SLICES}
    assert (fresh(run).state, run.error_code) == (RunState.FAILED, "cancelled_by_organiser")
    assert Submission.objects.get(pk=run.submission_id).refunded_at is not None
    assert reconcile(now=timezone.now()).reclaimed == 0


def test_run_that_is_cancelled_while_it_is_planned_gets_no_slices():
    run = large_run()
    planner = claim_next(worker="planner")
    actions.cancel_run(run=run, actor=UserFactory.create(is_superuser=True))

    assert not outcome.wait_for_children(job=planner, kind="slice", costs=[1])
    assert not slices_of(run).exists()


def test_withdrawn_submission_is_scored_to_the_end_as_in_one_piece():
    run = planned_run()

    withdraw(submission=run.submission, actor=leader_of(run.submission.team))
    work_off()

    assert fresh(run).state == RunState.FINISHED


def test_cancelled_batch_drops_its_slices():
    run, batch, organiser = _rescored()
    work_next(worker="planner")
    rescored = batch.runs.get()
    assert states(rescored) == {State.QUEUED: SLICES}

    rescoring.cancel_batch(batch=batch, actor=organiser)

    assert claim_next(worker="w") is None
    assert fresh(rescored).state == RunState.FAILED
    assert (states(rescored), fresh(run).state) == ({State.FAILED: SLICES}, RunState.FINISHED)


def test_batch_that_is_cancelled_while_its_run_is_planned_gets_no_slices():
    _run, batch, organiser = _rescored()
    planner = claim_next(worker="planner")
    rescoring.cancel_batch(batch=batch, actor=organiser)

    assert not outcome.wait_for_children(job=planner, kind="slice", costs=[1])

    rescored = batch.runs.get()
    assert (rescored.state, rescored.error_code) == (RunState.FAILED, "rescoring_cancelled")
    assert not slices_of(rescored).exists()


# --- the fair order ---------------------------------------------------------------------------------------------------
def test_small_run_of_another_team_passes_between_the_slices_of_a_huge_one():
    run = planned_run()
    work_next(worker="w")
    virtual_time = slices_of(run).get(attempt=1).fair_tag
    other = TeamFactory.create(competition=run.submission.phase.track.competition)
    small = send(run.submission.phase, other, answers(mark="다른 ")).runs.get()
    update_jobs(ScoringRun.objects.filter(pk=small.pk), fair_tag=virtual_time + 1)  # as of a file of one token

    jobs = [claim_next(worker="w") for _job in range(SLICES)]

    assert [job.kind for job in jobs] == ["run"] + ["slice"] * (SLICES - 1)
    assert jobs[0] == small.job


def test_next_run_of_the_team_stands_behind_its_slices():
    run = planned_run()
    last = max(slices_of(run).values_list("fair_tag", flat=True))

    following = send(run.submission.phase, run.submission.team, answers(mark="둘째 ")).runs.get()

    assert following.job.fair_tag > last


def test_live_run_goes_before_the_slices_of_a_rescoring():
    run, _batch, _organiser = _rescored()
    work_next(worker="planner")
    assert claim_next(worker="w").kind == "slice"

    phase = run.submission.phase
    other = TeamFactory.create(competition=phase.track.competition)
    live = send(phase, other, answers(mark="새 ")).runs.filter(batch=None).get()

    assert claim_next(worker="w") == live.job


# --- claims that meet others ------------------------------------------------------------------------------------------
def test_slices_are_claimed_and_ended_while_somebody_has_the_run():
    run = planned_run()

    def claim_and_end() -> bool:
        job = claim_next(worker="w")
        return outcome.finish(job_id=job.pk, attempt=job.attempt)

    with ThreadPoolExecutor() as pool, transaction.atomic():
        ScoringRun.objects.select_for_update(no_key=True).get(pk=run.pk)
        assert pool.submit(apart, claim_and_end).result(timeout=10)


def test_a_cancellation_and_the_end_of_a_slice_never_wait_for_each_other_in_a_circle():
    run = planned_run()
    held = claim_next(worker="w")

    with ThreadPoolExecutor() as pool, transaction.atomic():
        outcome.finish(job_id=held.pk, attempt=held.attempt)  # the slice is held, and its parent is told on commit
        cancelled = pool.submit(apart, partial(outcome.drop, [run.job_id], error_code="cancelled_by_organiser"))
        wait_for(somebody_waits_for_us, "the cancellation has the run, and waits for the slice")
    assert cancelled.result(timeout=10) == [run.job_id]
    assert states(run) == {State.FINISHED: 1, State.FAILED: SLICES - 1}


def test_reconciler_waits_for_nobody_who_has_a_run_with_slices():
    run = planned_run()

    with ThreadPoolExecutor() as pool, transaction.atomic():
        Job.objects.select_for_update(no_key=True).get(pk=run.job_id)
        pool.submit(apart, reconcile).result(timeout=10)


def apart(call: Callable[[], Any]) -> Any:
    """What ``call`` gives, on a connection of its own."""
    try:
        return call()
    finally:
        connection.close()


def somebody_waits_for_us() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
        )
        return cursor.fetchone()[0]


def _rescored() -> tuple[ScoringRun, Any, Any]:
    """A large run that is scored again in a batch, of which nothing is known any more."""
    run = large_run()
    work_off()
    MetricResult.objects.all().delete()
    forget()
    organiser = UserFactory.create(is_superuser=True)
    batch = rescoring.start_batch(
        phase=run.submission.phase, actor=organiser, reason="엄격", recipe="rag-qa-strict@1", selection=Selection()
    )
    assert batch.runs.get().submission.item_count == ITEMS
    return run, batch, organiser
