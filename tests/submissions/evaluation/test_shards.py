"""A large run: cut into shards, each leased, fenced and tried again by itself, and gathered exactly once."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from malpan.submissions.evaluation import runs, shard_steps, shards, work
from malpan.submissions.evaluation.leases import LeaseLost
from malpan.submissions.evaluation.reconciling import reconcile
from malpan.submissions.models import HiddenResult, MetricResult, RescoreBatch, RunShard, ScoringRun, Submission
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.batches import Selection
from scoring import engine
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
    silence,
    states,
    work_off,
)
from tests.threads import at_once

__all__ = ["asked"]
# leases are renewed on connections of their own
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("asked")]
State = RunShard.State
RunState = ScoringRun.State
EVERYTHING = Selection()


# --- the same result --------------------------------------------------------------------------------------------------
def test_large_run_gives_what_it_gives_in_one_piece(settings, asked):
    whole = in_one_piece(settings)
    asked_by_whole = sorted(asked)
    asked.clear()

    run = large_run()
    work_off()

    assert result_of(run) == result_of(whole)
    assert run.state == RunState.FINISHED
    assert (run.attempt, run.progress, run.lease_expires_at) == (1, 1.0, None)
    assert Submission.objects.get(pk=run.submission_id).live_run == run
    assert states(run) == {State.FINISHED: SHARDS + 1}
    assert sorted(asked) == asked_by_whole  # every pair once


def test_run_at_the_threshold_stays_in_one_piece(settings):
    settings.SHARD_ABOVE_ITEMS = ITEMS
    run = large_run()
    work_off()

    run.refresh_from_db()
    assert (run.state, run.shards.count()) == (RunState.FINISHED, 0)


@pytest.mark.parametrize("covers_all", [False, True])
def test_public_and_private_part_are_those_of_one_piece(settings, asked, covers_all):
    public = [f"q{number}" for number in range(1, 6)]
    whole = in_one_piece(settings, public_ids=public, private_covers_all=covers_all)
    asked.clear()
    run = large_run(public_ids=public, private_covers_all=covers_all)
    work_off()

    assert result_of(run) == result_of(whole)
    hidden, hidden_whole = (HiddenResult.objects.get(run=each) for each in (run, whole))
    assert (hidden.scores, hidden.signature_hash) == (hidden_whole.scores, hidden_whole.signature_hash)
    assert Counter(name for name, *_ in asked) == {"bertscore": ITEMS, "bleurt": ITEMS}


def test_what_is_known_is_not_planned(settings, asked):
    run = large_run()
    work_off()
    asked.clear()

    again = runs.queue_run(submission=run.submission)
    work_off()

    assert [shard.kind for shard in again.shards.all()] == [RunShard.Kind.GATHER]
    assert asked == []
    assert result_of(again)["scores"] == result_of(run)["scores"]


def test_rescoring_plans_only_what_changed_and_a_repetition_everything(asked):
    run = large_run()
    work_off()
    asked.clear()
    organiser = UserFactory.create(is_superuser=True)
    phase = run.submission.phase

    noise = rescoring.start_batch(phase=phase, actor=organiser, reason="잡음", repeats=2, selection=EVERYTHING)
    work_off()
    assert [row.shards.count() for row in noise.runs.all()] == [SHARDS + 1] * 2
    assert Counter(name for name, *_ in asked) == {"bertscore": 2 * ITEMS, "bleurt": 2 * ITEMS}

    asked.clear()
    strict = rescoring.start_batch(
        phase=phase, actor=organiser, reason="엄격", recipe="rag-qa-strict@1", selection=EVERYTHING
    )
    work_off()
    strict.refresh_from_db()
    assert strict.state == RescoreBatch.State.READY
    assert asked == []


def test_pairs_in_the_store_are_not_planned_and_new_ones_get_there(settings, asked):
    settings.PAIR_VALUES_MAX_ROWS = 10**6
    phase, team = large_phase()
    send(phase, team, answers())
    work_off()
    assert len(asked) == 2 * ITEMS
    asked.clear()

    other = TeamFactory.create(competition=phase.track.competition)
    changed = json.loads(answers())
    changed[0]["output"]["answer"] += " 다르게"
    run = send(phase, other, json.dumps(changed).encode()).runs.get()
    work_off()

    run.refresh_from_db()
    assert (run.state, len(asked)) == (RunState.FINISHED, 2)


# --- once -------------------------------------------------------------------------------------------------------------
def test_eight_workers_do_every_piece_once_and_one_gathers(settings, asked):
    whole = in_one_piece(settings)
    asked.clear()
    run = large_run()

    while not ScoringRun.objects.filter(pk=run.pk, state=RunState.FINISHED).exists():
        at_once([lambda n=n: work.do_next(worker=f"worker-{n}") for n in range(8)])

    assert result_of(run) == result_of(whole)
    assert list(run.shards.values_list("attempt", flat=True)) == [1] * (SHARDS + 1)
    assert len(asked) == len(set(asked)) == 2 * ITEMS


def test_last_two_results_at_the_same_moment_make_one_gathering():
    run = planned_run()
    claimed = [shards.claim_next(worker="w") for _shard in range(SHARDS)]
    values = [{name: [0.5] * 3 for name in shard.signatures} for shard in claimed]

    at_once(
        [
            lambda shard=shard, given=given: shards.finish_shard(shard=shard, values=given)
            for shard, given in zip(claimed, values, strict=True)
        ]
    )

    assert run.shards.filter(kind=RunShard.Kind.GATHER).count() == 1


def test_late_result_of_an_old_attempt_is_refused():
    run = planned_run()
    slow = shards.claim_next(worker="slow")
    silence(slow)
    assert reconcile().taken_back == 1
    quick = shards.claim_next(worker="quick")
    assert (quick.pk, quick.attempt) == (slow.pk, 2)

    wrong = {name: [0.0] * 3 for name in slow.signatures}
    assert not shards.finish_shard(shard=slow, values=wrong)
    assert not shards.fail_shard(shard=slow, error_code="scoring_crashed")
    right = {name: [0.5] * 3 for name in slow.signatures}
    assert shards.finish_shard(shard=quick, values=right)
    assert not shards.finish_shard(shard=quick, values=wrong)

    kept = run.shards.get(pk=slow.pk)
    assert (kept.state, kept.values, kept.worker) == (State.FINISHED, right, "quick")


# --- lost workers -----------------------------------------------------------------------------------------------------
def test_shard_of_a_killed_worker_is_done_by_another_and_nothing_changes(settings):
    whole = in_one_piece(settings)
    run = planned_run()
    lost = [shards.claim_next(worker="killed") for _kill in range(2)]
    work_off("other")
    run.refresh_from_db()
    assert states(run) == {State.RUNNING: 2, State.FINISHED: SHARDS - 2}
    assert (run.state, run.progress) == (RunState.RUNNING, (SHARDS - 2) / (SHARDS + 1))

    assert pass_by(run).taken_back == 2
    work_off("other")

    assert result_of(run) == result_of(whole)
    assert run.attempt == 1
    assert sorted(run.shards.values_list("attempt", flat=True)) == [1] * (SHARDS - 1) + [2] * 2
    assert set(run.shards.filter(pk__in=[shard.pk for shard in lost]).values_list("worker", flat=True)) == {"other"}


def test_run_whose_shards_wait_for_hours_is_not_taken_back():
    run = planned_run()

    assert pass_by(run).taken_back == 0

    assert (run.state, run.attempt) == (RunState.RUNNING, 1)
    work_off()
    run.refresh_from_db()
    assert run.state == RunState.FINISHED


def test_killed_gatherer_is_followed_by_another_and_the_result_is_written_once(settings, monkeypatch):
    whole = in_one_piece(settings)
    run = planned_run()
    for _shard in range(SHARDS):
        work.do_next(worker="w")

    with monkeypatch.context() as patch:
        patch.setattr(engine, "score", _stop)
        with pytest.raises(SystemExit):
            work.do_next(worker="killed")
    killed = run.shards.get(kind=RunShard.Kind.GATHER)
    assert (killed.state, killed.attempt) == (State.RUNNING, 1)

    assert pass_by(run).taken_back == 1
    work_off()

    assert result_of(run) == result_of(whole)
    with pytest.raises(LeaseLost):
        shard_steps.gather_run(killed.pk, killed.attempt)
    assert MetricResult.objects.filter(submission=run.submission).count() == 4


def test_gatherer_that_lost_its_lease_cannot_finish_the_run():
    run = planned_run()
    for _shard in range(SHARDS):
        work.do_next(worker="w")
    late = shards.claim_next(worker="slow")
    silence(late)
    reconcile()
    quick = shards.claim_next(worker="quick")

    with pytest.raises(LeaseLost):
        shard_steps.gather_run(late.pk, late.attempt)

    run.refresh_from_db()
    assert (run.state, MetricResult.objects.count()) == (RunState.RUNNING, 0)
    shard_steps.gather_run(quick.pk, quick.attempt)
    run.refresh_from_db()
    assert run.state == RunState.FINISHED


def _stop(*_args: Any, **_options: Any) -> Any:
    raise SystemExit
