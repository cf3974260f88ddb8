"""Plans of large runs: what shards cost, planners that are killed, late or unwanted, and plans that no longer hold."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from malpan.core.storage import remove_work, works
from malpan.submissions.evaluation import queueing, shard_steps, shard_work, shards, work
from malpan.submissions.evaluation.faults import StepFailed
from malpan.submissions.evaluation.leases import LeaseLost
from malpan.submissions.evaluation.reconciling import reconcile
from malpan.submissions.models import RunShard, ScoringRun, Submission
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.batches import Selection
from scoring.running import sharding
from tests.factories import TeamFactory, UserFactory
from tests.submissions.conftest import send
from tests.submissions.evaluation.large_runs import (
    ITEMS,
    SHARDS,
    answers,
    asked,
    in_one_piece,
    large_phase,
    large_run,
    pass_by,
    planned_run,
    result_of,
    states,
    work_off,
)

__all__ = ["asked"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("asked")]
State = RunShard.State
RunState = ScoringRun.State


# --- costs ------------------------------------------------------------------------------------------------------------
def test_large_run_waits_for_the_cost_of_one_shard_and_its_shards_follow_one_another():
    run = large_run()
    assert 0 < run.fair_tag <= -(-run.cost * 3 // ITEMS)
    work.do_next(worker="planner")

    tags = list(run.shards.order_by("number").values_list("fair_tag", flat=True))
    costs = list(run.shards.order_by("number").values_list("cost", flat=True))
    assert [after - before for before, after in pairwise(tags)] == costs[1:]
    assert tags[0] == run.fair_tag + costs[0]
    assert sum(costs) == pytest.approx(run.cost, abs=SHARDS)  # nothing is known


@pytest.mark.parametrize("is_older_than_the_queue", [False, True])
def test_shards_of_a_mostly_known_file_cost_what_is_left_of_it(settings, is_older_than_the_queue):
    settings.PAIR_VALUES_MAX_ROWS = 10**6
    phase, team = large_phase()
    send(phase, team, answers())
    work_off()
    other = TeamFactory.create(competition=phase.track.competition)
    changed = json.loads(answers())
    changed[0]["output"]["answer"] += " 다르게"
    run = send(phase, other, json.dumps(changed).encode()).runs.get()
    cost = run.cost
    if is_older_than_the_queue:
        ScoringRun.objects.update(cost=0)
        cost = queueing.known_costs([run.submission])[run.submission_id]
    work.do_next(worker="planner")

    [shard] = run.shards.all()
    assert 0.2 * cost / ITEMS < shard.cost < 2 * cost / ITEMS  # the first of its lines, which is a short one


# --- planners ---------------------------------------------------------------------------------------------------------
def test_killed_planner_leaves_nothing_and_the_run_is_planned_again(settings, monkeypatch):
    whole = in_one_piece(settings)
    run = large_run()

    def killed(*_args: Any, **_options: Any) -> Any:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(shards, "create_shards", killed)  # the files are written, the rows are not
        with pytest.raises(SystemExit):
            work.do_next(worker="killed")
    assert (run.shards.count(), works()) == (0, [shards.work_of(run.pk)])

    assert pass_by(run).taken_back == 1
    work_off()

    assert result_of(run) == result_of(whole)
    assert (run.attempt, works()) == (2, [])


def test_planner_that_comes_late_is_refused():
    run = large_run()
    late = queueing.claim_next(worker="slow")
    pass_by(run)
    work.do_next(worker="quick")
    planned = list(run.shards.values_list("pk", flat=True))
    assert len(planned) == SHARDS

    with pytest.raises(LeaseLost):
        shard_steps.plan_run(late.pk, late.attempt)
    assert not shards.create_shards(run=late, shards=[])

    assert list(run.shards.values_list("pk", flat=True)) == planned


def test_planning_that_fails_is_tried_three_times_like_a_run(monkeypatch):
    def crash(*_args: Any, **_options: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(sharding, "plan", crash)
    run = large_run()
    seen = []
    for _attempt in range(3):
        ScoringRun.objects.update(not_before=None)
        work.do_next(worker="w")
        run.refresh_from_db()
        seen.append((run.state, run.attempt))

    assert seen == [(RunState.QUEUED, 1), (RunState.QUEUED, 2), (RunState.FAILED, 3)]
    assert Submission.objects.get(pk=run.submission_id).refunded_at is not None


def test_planner_that_dies_after_its_commit_leaves_the_run_to_its_shards(monkeypatch):
    def dies_late(step: str, pk: int, attempt: int, check: Any) -> None:
        shard_steps.plan_run(pk, attempt)
        raise StepFailed("worker_lost")

    run = large_run()
    with monkeypatch.context() as patch:
        patch.setattr(shard_work, "run_apart", dies_late)
        work.do_next(worker="planner")

    run.refresh_from_db()
    assert (run.state, run.attempt, states(run)) == (RunState.RUNNING, 1, {State.QUEUED: SHARDS})


def test_batch_cancelled_while_it_is_planned_gets_no_shards():
    run = large_run()
    work_off()
    organiser = UserFactory.create(is_superuser=True)
    batch = rescoring.start_batch(
        phase=run.submission.phase, actor=organiser, reason="잡음", repeats=2, selection=Selection()
    )
    planned = queueing.claim_next(worker="planner")
    rescoring.cancel_batch(batch=batch, actor=organiser)

    with pytest.raises(LeaseLost):
        shard_steps.plan_run(planned.pk, planned.attempt)

    planned.refresh_from_db()
    assert (planned.state, planned.error_code) == (RunState.FAILED, "rescoring_cancelled")
    assert not planned.shards.exists()
    reconcile()
    assert works() == []


# --- plans that no longer hold ----------------------------------------------------------------------------------------
def try_until_planned_anew(run: ScoringRun) -> None:
    for _attempt in range(3):
        RunShard.objects.update(not_before=None)
        work_off()
    run.refresh_from_db()
    assert (run.state, run.attempt) == (RunState.QUEUED, 1)
    assert not run.shards.filter(state__in=shards.OPEN).exists()
    ScoringRun.objects.update(not_before=None)


def test_worker_with_other_models_fails_the_shard_and_not_the_result(monkeypatch):
    run = planned_run()
    RunShard.objects.update(signatures={"bertscore": "0" * 64, "bleurt": "0" * 64, "rouge_1": "0" * 64})

    work.do_next(worker="other models")

    assert run.shards.get(attempt=1).error_code == "plan_outdated"
    assert not run.shards.exclude(values=None).exists()


def test_run_whose_workers_were_upgraded_is_planned_anew_and_finishes(settings):
    whole = in_one_piece(settings)
    run = planned_run()
    work.do_next(worker="old")
    run.shards.filter(state=State.QUEUED).update(signatures={"bertscore": "0" * 64, "bleurt": "0" * 64})

    try_until_planned_anew(run)
    assert run.error_code == "plan_outdated"
    work_off()

    assert result_of(run) == result_of(whole)


@pytest.mark.parametrize("done", [0, SHARDS])
def test_run_whose_files_were_not_restored_is_planned_anew_and_finishes(settings, done):
    whole = in_one_piece(settings)
    run = planned_run()
    for _shard in range(done):
        work.do_next(worker="before")
    remove_work(shards.work_of(run.pk))

    try_until_planned_anew(run)
    assert run.error_code == "stored_file_missing"
    work_off()

    assert result_of(run) == result_of(whole)


def test_run_that_is_planned_in_vain_is_given_up_after_its_last_attempt(monkeypatch):
    def foreign(*_args: Any, **_options: Any) -> Any:
        raise sharding.ForeignShard

    monkeypatch.setattr(sharding, "score_shard", foreign)
    run = large_run()
    for _attempt in range(3 * 4):
        ScoringRun.objects.update(not_before=None)
        RunShard.objects.update(not_before=None)
        work_off()

    run.refresh_from_db()
    assert (run.state, run.attempt, run.error_code) == (RunState.FAILED, 3, "plan_outdated")
    assert Submission.objects.get(pk=run.submission_id).refunded_at is not None


def test_run_read_in_from_an_archive_without_its_shards_is_planned_again():
    run = planned_run()
    run.shards.all().delete()

    assert pass_by(run).taken_back == 1
    work_off()

    run.refresh_from_db()
    assert (run.state, run.attempt) == (RunState.FINISHED, 2)
