"""The expected end of a scoring: from what stands before it and how fast the last ones were, rounded, or not at all."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.jobs.clock import database_now
from malpan.jobs.heartbeat import beat, silence_limit
from malpan.jobs.models import Job, Worker
from malpan.jobs.outcome import fail, put_back
from malpan.submissions.evaluation.eta import ACTIVE_WITHIN, Forecast, RunForecast, pace_of
from malpan.submissions.models import RescoreBatch, ScoringRun, Submission
from tests.factories import (
    JobFactory,
    PhaseFactory,
    ScoringRunFactory,
    SubmissionFactory,
    TeamFactory,
    UserFactory,
    publish,
)

pytestmark = pytest.mark.django_db
NOW = timezone.now().replace(second=0, microsecond=0)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
State = ScoringRun.State


@pytest.fixture
def phase(db: None) -> Phase:
    made = PhaseFactory.create()
    publish(made)
    return made


def a_run(phase: Phase, **fields: Any) -> ScoringRun:
    if "submission" not in fields:
        team = TeamFactory.create(competition=phase.track.competition)
        fields["submission"] = SubmissionFactory.create(phase=phase, team=team)
    return ScoringRunFactory.create(**fields)


def queued(phase: Phase, cost: int, tag: int, **fields: Any) -> ScoringRun:
    return a_run(phase, job__cost=cost, job__fair_tag=tag, **fields)


def running(phase: Phase, cost: int, since: timedelta, worker: str = "w1", **fields: Any) -> ScoringRun:
    job = {"job__cost": cost, "job__worker": worker, "job__lease_expires_at": NOW + MINUTE}
    return a_run(phase, state=State.RUNNING, started_at=NOW - since, **job, **fields)


def finished(phase: Phase, cost: int, took: timedelta, ago: timedelta = MINUTE, **fields: Any) -> ScoringRun:
    fields = {"job__worker": fields.pop("worker", "w1"), "final_score": 0.5} | fields
    moments = {"started_at": NOW - ago - took, "finished_at": NOW - ago}
    return a_run(phase, state=State.FINISHED, job__cost=cost, **moments, **fields)


def slice_of(run: ScoringRun, number: int, cost: int, tag: int, **fields: Any) -> Job:
    """A slice of ``run``, which itself waits for it."""
    Job.objects.filter(pk=run.job_id).update(state=Job.State.QUEUED, lease_expires_at=None)
    return JobFactory.create(
        kind="slice", parent=run.job, number=number, cost=cost, fair_tag=tag, lane=run.job.lane, **fields
    )


def run_forecast(run: ScoringRun) -> RunForecast:
    return Forecast(NOW).of(run)


def end_of(run: ScoringRun) -> datetime | None:
    return run_forecast(run).finish_at


# --- how many before --------------------------------------------------------------------------------------------------
def test_those_before_are_counted_in_the_order_in_which_they_are_served(phase):
    late_but_small, huge = queued(phase, 10, tag=50), queued(phase, 900, tag=900)
    twin = queued(phase, 10, tag=50)
    rescored = queued(phase, 1, tag=1, batch=_batch(phase))

    assert [run_forecast(run).waiting_before for run in (late_but_small, twin, huge, rescored)] == [0, 1, 2, 3]
    assert run_forecast(running(phase, 10, MINUTE)).waiting_before is None


# --- how fast ---------------------------------------------------------------------------------------------------------
def test_pace_is_that_of_the_last_runs_of_a_kind_together(phase):
    for _old in range(30):
        finished(phase, 1, MINUTE, ago=timedelta(days=2))
    for _small in range(19):
        finished(phase, 10, SECOND)  # overhead, most of it
    finished(phase, 99_810, timedelta(seconds=81))
    finished(phase, 10**9, SECOND, profile="other")
    finished(phase, 10**9, SECOND, recipe="other")
    finished(phase, 10**9, SECOND, batch=_batch(phase))
    finished(phase, 0, SECOND)

    recipe = phase.track.recipe
    assert pace_of(recipe, "demo") == 1000
    assert pace_of(recipe, "never used") is None


def test_what_stands_before_takes_as_long_as_its_own_kind(phase):
    finished(phase, 1000, 10 * SECOND)  # 100 tokens a second
    finished(phase, 1000, SECOND, recipe="counts words")  # 1000
    running(phase, 120_000, since=MINUTE, recipe="counts words", worker="w1")  # 60 s of it are left
    queued(phase, 60_000, tag=1, recipe="counts words")  # 60 s
    queued(phase, 6_000, tag=2, recipe="never scored")  # 60 s, as far as one knows

    assert end_of(queued(phase, 6_000, tag=3)) == NOW + 4 * MINUTE


# --- the end of a run that waits --------------------------------------------------------------------------------------
def test_a_queued_run_ends_after_all_before_it_and_itself(phase):
    finished(phase, 1000, 10 * SECOND)  # 100 tokens a second
    running(phase, 12_000, since=MINUTE)  # 60 s of it are left
    queued(phase, 6_000, tag=1)  # 60 s
    queued(phase, 60_000, tag=99)  # later
    mine = queued(phase, 18_000, tag=2)  # 180 s

    assert end_of(mine) == NOW + 5 * MINUTE


def test_two_workers_share_what_stands_before_but_not_the_run_itself(phase):
    finished(phase, 1000, 10 * SECOND, worker="w1")
    finished(phase, 1000, 10 * SECOND, worker="w2")
    finished(phase, 1000, 10 * SECOND, worker="gone", ago=ACTIVE_WITHIN + SECOND)
    queued(phase, 24_000, tag=1)
    mine = queued(phase, 6_000, tag=2)

    assert end_of(mine) == NOW + 3 * MINUTE


def test_a_paused_run_begins_no_earlier_than_it_may(phase):
    finished(phase, 1000, 10 * SECOND)
    mine = queued(phase, 6_000, tag=1, job__not_before=NOW + 4 * MINUTE)

    assert end_of(mine) == NOW + 5 * MINUTE


def test_processes_of_one_worker_are_as_many_as_have_a_run_in_hand(phase):
    finished(phase, 1000, 10 * SECOND, worker="scoring@host")
    for _process in range(4):  # started with --concurrency 4
        running(phase, 12_000, since=MINUTE, worker="scoring@host")  # 60 s of each are left
    queued(phase, 24_000, tag=1)

    assert end_of(queued(phase, 6_000, tag=2)) == NOW + 3 * MINUTE


def test_the_end_is_told_to_the_minute_and_far_ones_to_five(phase):
    finished(phase, 1000, 10 * SECOND)
    near, far = queued(phase, 6_100, tag=1), queued(phase, 400_000, tag=2)

    assert end_of(near) == NOW + 2 * MINUTE
    assert NOW + 68 * MINUTE <= end_of(far) < NOW + 73 * MINUTE
    assert end_of(far).minute % 5 == 0


def test_where_nothing_is_known_nothing_is_told(phase):
    mine = queued(phase, 100, tag=1)
    assert end_of(mine) is None, "no run has finished yet"

    finished(phase, 1000, 10 * SECOND, ago=ACTIVE_WITHIN + SECOND)
    assert end_of(mine) is None, "no worker was seen lately"

    finished(phase, 1000, 10 * SECOND)
    assert end_of(mine) is not None
    assert end_of(queued(phase, 0, tag=1)) is None, "its own cost is unknown"
    assert end_of(queued(phase, 2**62, tag=1)) is None, "nobody can tell what will be in a million years"


# --- the end of a run at work -----------------------------------------------------------------------------------------
def test_a_running_run_ends_as_its_cost_foretells(phase):
    finished(phase, 1000, 10 * SECOND)

    assert end_of(running(phase, 18_000, since=MINUTE)) == NOW + 2 * MINUTE


@pytest.mark.parametrize(("progress", "left"), [(0.5, 2 * MINUTE), (0.75, MINUTE), (0.01, None)])
def test_one_that_takes_longer_ends_as_its_own_progress_says(phase, progress, left):
    finished(phase, 1000, 10 * SECOND)
    mine = running(phase, 1_000, since=2 * MINUTE, job__progress=progress)

    assert end_of(mine) == (left and NOW + left)


def test_the_first_run_of_a_profile_is_told_by_its_progress(phase):
    assert end_of(running(phase, 1_000, since=MINUTE, job__progress=0.5)) == NOW + MINUTE


def test_what_is_over_has_no_expected_end(phase):
    assert Forecast(NOW).of(None) == RunForecast()
    assert run_forecast(finished(phase, 1000, 10 * SECOND)) == RunForecast()


# --- large runs, computed in slices -----------------------------------------------------------------------------------
def test_of_a_large_run_only_what_is_at_work_or_has_its_turn_before_counts(phase):
    finished(phase, 1000, 10 * SECOND)  # 100 tokens a second
    large = running(phase, 100_000, MINUTE)
    slice_of(large, 0, 6000, tag=10, state=Job.State.FINISHED, finished_at=NOW)
    slice_of(large, 1, 12_000, tag=20, state=Job.State.RUNNING, progress=0.5, worker="w1", lease_expires_at=NOW)
    slice_of(large, 2, 6000, tag=30)
    slice_of(large, 3, 60_000, tag=900)

    assert end_of(queued(phase, 6000, tag=40)) == NOW + 3 * MINUTE


def test_workers_at_slices_are_workers(phase):
    finished(phase, 1000, 10 * SECOND, worker="w1")
    large = running(phase, 100_000, MINUTE)
    for number in range(2):
        at_work = {"state": Job.State.RUNNING, "worker": f"w{number + 1}", "lease_expires_at": NOW}
        slice_of(large, number, 6000, tag=number, **at_work)

    assert end_of(queued(phase, 6000, tag=40)) == NOW + 2 * MINUTE


def test_slices_of_rescoring_wait_behind_a_live_run(phase):
    finished(phase, 1000, 10 * SECOND)
    slice_of(running(phase, 10, MINUTE, batch=_batch(phase)), 0, 6_000, tag=1)

    assert end_of(queued(phase, 6_000, tag=50)) == NOW + MINUTE


def test_all_live_runs_come_before_a_rescored_one(phase):
    finished(phase, 1000, 10 * SECOND)
    queued(phase, 6_000, tag=90_000)
    queued(phase, 6_000, tag=1, batch=_batch(phase))

    assert end_of(queued(phase, 6_000, tag=2, batch=_batch(phase))) == NOW + 3 * MINUTE


def test_a_run_in_slices_ends_when_the_workers_come_to_the_last_of_them(phase):
    finished(phase, 1000, 10 * SECOND, worker="w1")
    finished(phase, 1000, 10 * SECOND, worker="w2")
    large = running(phase, 100_000, since=MINUTE)
    at_work = {"state": Job.State.RUNNING, "worker": "w1", "lease_expires_at": NOW + MINUTE}
    slice_of(large, 0, 6_000, tag=5, progress=0.5, **at_work)  # 30 s
    slice_of(large, 1, 6_000, tag=10)  # 60 s
    slice_of(large, 2, 6_000, tag=20)  # 60 s
    queued(phase, 9_000, tag=15)  # 90 s, between them
    queued(phase, 9_000, tag=30)

    assert end_of(large) == NOW + 2 * MINUTE


def test_all_workers_share_a_large_run_that_waits(phase, settings):
    finished(phase, 1000, 10 * SECOND, worker="w1")
    finished(phase, 1000, 10 * SECOND, worker="w2")
    mine = queued(phase, 24_000, tag=1)
    alone = end_of(mine)
    settings.LARGE_RUN_ITEMS = mine.submission.item_count - 1

    assert (alone, end_of(mine)) == (NOW + 4 * MINUTE, NOW + 2 * MINUTE)


def test_a_large_run_that_waits_ends_after_its_last_turn_not_its_first(phase, settings):
    settings.LARGE_RUN_ITEMS, settings.SLICE_ITEMS = 10, 5
    finished(phase, 1000, 10 * SECOND)
    mine, other = (queued(phase, 24_000, tag=6_000, submission=_of_items(phase, 20)) for _run in range(2))
    queued(phase, 6_000, tag=20_000)  # before the last of its four turns, though not before the first
    queued(phase, 6_000, tag=30_000)

    assert run_forecast(mine) == RunForecast(0, NOW + 9 * MINUTE)
    assert run_forecast(other).waiting_before == 1


def test_of_a_large_run_that_waits_only_the_turns_before_count(phase, settings):
    settings.LARGE_RUN_ITEMS, settings.SLICE_ITEMS = 10, 5
    finished(phase, 1000, 10 * SECOND)
    queued(phase, 24_000, tag=6_000, submission=_of_items(phase, 20))  # turns at 6, 12, 18 and 24 thousand

    assert run_forecast(queued(phase, 6_000, tag=12_001)) == RunForecast(1, NOW + 4 * MINUTE)


def test_large_runs_whose_pieces_have_their_turn_before_are_counted_once_each(phase):
    early, late, rescored = (running(phase, 9, MINUTE, batch=batch) for batch in (None, None, _batch(phase)))
    for number in range(3):
        slice_of(early, number, 3, tag=number)
        slice_of(late, number, 3, tag=90 + number)
        slice_of(rescored, number, 3, tag=number)

    assert run_forecast(queued(phase, 9, tag=50)).waiting_before == 1


def test_pace_is_not_that_of_runs_which_several_workers_shared(phase):
    finished(phase, 1000, 10 * SECOND)
    for _run in range(3):
        shared = finished(phase, 90_000, 10 * SECOND)
        slice_of(shared, 0, 90_000, tag=1, state=Job.State.FINISHED, finished_at=NOW)

    assert pace_of(phase.track.recipe, "demo") == 100


# --- whether anybody can do it ---------------------------------------------------------------------------------------
def test_a_run_lacks_a_worker_until_one_is_alive_that_keeps_it(phase):
    waiting = queued(phase, 10, tag=1, queued_at=NOW - 2 * MINUTE)
    assert not Forecast().lacks_worker(queued(phase, 10, tag=1))  # just come
    assert Forecast().lacks_worker(waiting)
    beat("scoring@a/0", {}, "its numbers differ")
    assert Forecast().lacks_worker(waiting)
    beat("scoring@a/0", {})
    assert not Forecast().lacks_worker(waiting)
    Worker.objects.update(seen_at=database_now() - 2 * silence_limit())
    assert Forecast().lacks_worker(waiting)
    assert not Forecast().lacks_worker(None)
    assert not Forecast().lacks_worker(running(phase, 10, MINUTE))


def test_an_end_is_promised_only_while_somebody_works(phase):
    finished(phase, 1000, 10 * SECOND)
    waiting = queued(phase, 1000, tag=1, queued_at=NOW - MINUTE)
    assert Forecast(NOW).of(waiting).finish_at is None
    assert Forecast(NOW).of(waiting).waiting_before == 0
    beat("scoring@a/0", {})
    assert Forecast(NOW).of(waiting).finish_at is not None


def test_a_run_that_a_worker_put_back_as_not_its_own_lacks_one_and_one_after_a_fault_does_not(phase):
    beat("scoring@a/0", {})
    left, failed = queued(phase, 10, tag=1), queued(phase, 10, tag=2)
    for run in (left, failed):
        Job.objects.filter(pk=run.job_id).update(state=Job.State.RUNNING, attempt=1, lease_expires_at=NOW)
    put_back(job_id=left.job_id, attempt=1, pause=60)
    fail(job_id=failed.job_id, attempt=1, error_code="scoring_crashed", pause=60)
    found = [ScoringRun.objects.get(pk=run.pk) for run in (left, failed)]
    assert [Forecast().lacks_worker(run) for run in found] == [True, False]


# --- its price --------------------------------------------------------------------------------------------------------
def test_many_runs_share_three_queries(phase, django_assert_num_queries):
    finished(phase, 1000, 10 * SECOND)
    runs = [queued(phase, 100, tag=tag) for tag in range(5)] + [running(phase, 100, MINUTE) for _run in range(5)]
    forecast = Forecast(NOW)

    with django_assert_num_queries(3 + 5):
        for run in runs:
            forecast.of(run)


def test_the_pieces_of_large_runs_cost_as_many_queries_however_many_they_are(phase, django_assert_num_queries):
    finished(phase, 1000, 10 * SECOND)
    for _run in range(3):
        large = running(phase, 100, MINUTE)
        for number in range(20):
            slice_of(large, number, 5, tag=number)
    mine = queued(phase, 100, tag=50)

    with django_assert_num_queries(3 + 1 + 2):
        Forecast(NOW).of(mine)


def _of_items(phase: Phase, items: int) -> Submission:
    team = TeamFactory.create(competition=phase.track.competition)
    return SubmissionFactory.create(phase=phase, team=team, item_count=items)


def _batch(phase: Phase) -> RescoreBatch:
    return RescoreBatch.objects.create(
        competition=phase.track.competition, phase=phase, reason="이유", created_by=UserFactory.create(), repeats=2
    )
