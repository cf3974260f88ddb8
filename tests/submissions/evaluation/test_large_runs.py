"""A large run: its values are computed ahead in slices, each a job of its own, and it is then scored like any other."""

from __future__ import annotations

import gc
import json
from collections import Counter
from typing import Any

import pytest

from malpan.jobs import outcome
from malpan.jobs.claim import claim_next
from malpan.jobs.models import Job
from malpan.jobs.tasks import work_next
from malpan.submissions.evaluation import large_runs, runs
from malpan.submissions.models import HiddenResult, MetricResult, PairValue, ScoringRun, Submission
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.batches import Selection, state_of
from scoring import engine
from scoring.records import Items
from tests.factories import TeamFactory, UserFactory, report
from tests.scoring.fakes import FakeNeural
from tests.submissions.conftest import fresh, send
from tests.submissions.evaluation.large_runs import (
    ITEMS,
    SLICES,
    answers,
    asked,
    forget,
    in_one_piece,
    large_phase,
    large_run,
    pass_by,
    planned_run,
    result_of,
    slices_of,
    states,
    work_off,
)
from tests.threads import at_once

__all__ = ["asked"]
# leases are renewed on connections of their own
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("asked")]
State = Job.State
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
    assert (run.state, run.job.state) == (RunState.FINISHED, State.FINISHED)
    assert (run.job.tries, run.job.failures, run.job.progress, run.job.lease_expires_at) == (1, 0, 1.0, None)
    assert Submission.objects.get(pk=run.submission_id).live_run == run
    assert states(run) == {State.FINISHED: SLICES}
    assert sorted(asked) == asked_by_whole  # every pair once


def test_worker_reads_the_file_once_for_plan_slices_and_score_and_then_frees_it(monkeypatch):
    read, answers = large_runs.reuse.read_answers, []
    monkeypatch.setattr(large_runs.reuse, "read_answers", lambda *args: answers.append(read(*args)) or answers[-1])
    large_run()
    work_off()
    assert len(answers) == 1

    large_run()
    work_off()
    assert len(answers) == 2  # another run, another file
    read_last = id(answers[-1])
    answers.clear()
    gc.collect()
    assert read_last not in {id(each) for each in gc.get_objects() if type(each) is Items}


def test_run_at_the_threshold_stays_in_one_piece(settings):
    settings.LARGE_RUN_ITEMS = ITEMS
    run = large_run()
    work_off()

    assert (fresh(run).state, slices_of(run).count()) == (RunState.FINISHED, 0)


@pytest.mark.parametrize("kept", [0, ITEMS - 1])
def test_nothing_is_computed_ahead_for_a_cache_that_could_not_keep_it(settings, asked, kept):
    settings.PAIR_VALUES_MAX_ROWS = kept
    run = large_run()
    work_off()

    assert (fresh(run).state, slices_of(run).count(), len(asked)) == (RunState.FINISHED, 0, 2 * ITEMS)


@pytest.mark.parametrize("covers_all", [False, True])
def test_public_and_private_split_are_those_of_one_piece(settings, asked, covers_all):
    public = [f"q{number}" for number in range(1, 6)]
    whole = in_one_piece(settings, public_ids=public, private_covers_all=covers_all)
    asked.clear()
    run = large_run(public_ids=public, private_covers_all=covers_all)
    work_off()

    assert result_of(run) == result_of(whole)
    hidden, hidden_whole = (HiddenResult.objects.get(run=each) for each in (run, whole))
    assert (hidden.scores, hidden.signature_hash) == (hidden_whole.scores, hidden_whole.signature_hash)
    assert Counter(name for name, *_ in asked) == {"bertscore": ITEMS, "bleurt": ITEMS}


def test_what_is_known_is_not_computed_ahead(asked):
    run = large_run()
    work_off()
    asked.clear()
    forget()

    again = runs.queue_run(submission=run.submission)
    work_off()

    assert not slices_of(again).exists()
    assert asked == []
    assert result_of(again)["scores"] == result_of(run)["scores"]


def test_rescoring_computes_only_what_changed_and_a_repetition_everything_at_once(asked):
    run = large_run()
    work_off()
    asked.clear()
    organiser = UserFactory.create(is_superuser=True)
    phase = run.submission.phase

    noise = rescoring.start_batch(phase=phase, actor=organiser, reason="잡음", repeats=2, selection=EVERYTHING)
    work_off()
    assert [slices_of(row).count() for row in noise.runs.all()] == [0, 0]
    assert Counter(name for name, *_ in asked) == {"bertscore": 2 * ITEMS, "bleurt": 2 * ITEMS}

    asked.clear()
    strict = rescoring.start_batch(
        phase=phase, actor=organiser, reason="엄격", recipe="rag-qa-strict@1", selection=EVERYTHING
    )
    work_off()
    assert state_of(strict) == "ready"
    assert asked == []


def test_what_the_cache_knows_is_not_computed_ahead_and_new_values_get_there(asked):
    phase, team = large_phase()
    send(phase, team, answers())
    work_off()
    assert len(asked) == 2 * ITEMS
    asked.clear()

    other = TeamFactory.create(competition=phase.track.competition)
    run = send(phase, other, _changed(1)).runs.get()
    work_off()

    assert (fresh(run).state, len(asked), slices_of(run).count()) == (RunState.FINISHED, 2, 0)


def test_nothing_of_a_text_is_kept_with_a_slice(caplog):
    caplog.set_level("DEBUG")
    run = large_run()
    work_off()

    stored = json.dumps([list(Job.objects.values()), list(PairValue.objects.values())], default=str)
    assert slices_of(run).count() == SLICES
    assert not any(word in stored + caplog.text for word in ("바른말", "규범"))


# --- the cache is a help, never a need --------------------------------------------------------------------------------
@pytest.mark.parametrize("lost", ["all", "half"])
def test_values_that_vanish_before_the_run_is_scored_are_computed_by_the_run(settings, asked, lost):
    whole = in_one_piece(settings)
    run = planned_run()
    for _slice in range(SLICES):
        work_next(worker="w")
    asked.clear()
    keys = list(PairValue.objects.values_list("pk", flat=True))
    PairValue.objects.filter(pk__in=keys if lost == "all" else keys[::2]).delete()
    work_off()

    assert result_of(run) == result_of(whole)
    assert len(asked) == 2 * ITEMS if lost == "all" else 0 < len(asked) < 2 * ITEMS


def test_slice_of_a_worker_with_other_models_costs_time_and_nothing_else(settings, asked, monkeypatch):
    whole = in_one_piece(settings)
    run = planned_run()
    monkeypatch.setattr(FakeNeural, "version", 2)
    work_next(worker="upgraded too early")
    monkeypatch.setattr(FakeNeural, "version", 1)
    asked.clear()
    work_off()

    assert result_of(run) == result_of(whole)
    assert len(asked) == 2 * ITEMS, "those of its slice once more"


def test_cache_that_is_turned_off_meanwhile_costs_time_and_nothing_else(settings, asked):
    whole = in_one_piece(settings)
    run = planned_run()
    settings.PAIR_VALUES_MAX_ROWS = 0
    asked.clear()
    work_off()

    assert result_of(run) == result_of(whole)
    assert len(asked) == 2 * ITEMS


# --- once -------------------------------------------------------------------------------------------------------------
def test_eight_workers_do_every_slice_once_and_one_scores(settings, asked):
    whole = in_one_piece(settings)
    asked.clear()
    run = large_run()

    while fresh(run).state != RunState.FINISHED:
        at_once([lambda n=n: work_next(worker=f"worker-{n}") for n in range(8)])

    assert result_of(run) == result_of(whole)
    assert set(slices_of(run).values_list("attempt", "failures")) == {(1, 0)}
    assert len(asked) == len(set(asked)) == 2 * ITEMS


def test_run_is_claimed_when_its_last_slice_is_over_and_not_before(rings):
    run = planned_run()
    held = [claim_next(worker="w") for _slice in range(SLICES)]
    assert claim_next(worker="early") is None
    for job in held[:-1]:
        outcome.finish(job_id=job.pk, attempt=job.attempt)
    assert claim_next(worker="early") is None
    fresh(run)
    assert (run.state, run.job.state, run.job.progress) == (RunState.RUNNING, State.QUEUED, (SLICES - 1) / (SLICES + 1))

    rings.clear()
    outcome.finish(job_id=held[-1].pk, attempt=1)

    assert len(rings) == 1, "the run is due"
    assert claim_next(worker="w") == run.job


def test_last_two_results_at_the_same_moment_let_the_run_be_claimed_once():
    run = planned_run()
    held = [claim_next(worker="w") for _slice in range(SLICES)]

    at_once([lambda job=job: outcome.finish(job_id=job.pk, attempt=job.attempt) for job in held])

    claimed = at_once([lambda: claim_next(worker="w") for _worker in range(4)])
    assert sorted(claimed, key=str) == sorted([run.job, None, None, None], key=str)


def test_late_result_of_an_old_attempt_is_refused():
    run = planned_run()
    slow = claim_next(worker="slow")
    assert pass_by(run).reclaimed == 1
    quick = claim_next(worker="quick")
    assert (quick.pk, quick.attempt) == (slow.pk, 2)

    assert not outcome.finish(job_id=slow.pk, attempt=slow.attempt)
    assert not outcome.fail(job_id=slow.pk, attempt=slow.attempt, error_code="scoring_crashed")
    assert outcome.finish(job_id=quick.pk, attempt=quick.attempt)
    assert not outcome.finish(job_id=quick.pk, attempt=quick.attempt)

    kept = slices_of(run).get(pk=slow.pk)
    assert (kept.state, kept.worker, kept.failures) == (State.FINISHED, "quick", 1)


# --- lost workers -----------------------------------------------------------------------------------------------------
def test_slice_of_a_killed_worker_is_done_by_another_and_nothing_changes(settings):
    whole = in_one_piece(settings)
    run = planned_run()
    lost = [claim_next(worker="killed") for _kill in range(2)]
    work_off("other")
    assert states(run) == {State.RUNNING: 2, State.FINISHED: SLICES - 2}
    assert (fresh(run).state, run.job.state) == (RunState.RUNNING, State.QUEUED)

    assert pass_by(run).reclaimed == 2
    work_off("other")

    assert result_of(run) == result_of(whole)
    assert run.job.failures == 0
    assert sorted(slices_of(run).values_list("attempt", flat=True)) == [1] * (SLICES - 2) + [2] * 2
    assert set(slices_of(run).filter(pk__in=[job.pk for job in lost]).values_list("worker", flat=True)) == {"other"}


def test_run_whose_slices_wait_for_hours_is_not_taken_back():
    run = planned_run()

    assert pass_by(run).reclaimed == 0

    assert (run.state, run.job.failures) == (RunState.RUNNING, 0)
    work_off()
    assert fresh(run).state == RunState.FINISHED


def test_worker_killed_while_it_scores_the_run_is_followed_by_another(settings, monkeypatch, asked):
    whole = in_one_piece(settings)
    run = planned_run()
    for _slice in range(SLICES):
        work_next(worker="w")
    asked.clear()

    with monkeypatch.context() as patch:
        patch.setattr(engine, "score", _stop)
        with pytest.raises(SystemExit):
            work_next(worker="killed")
    assert (fresh(run).job.state, run.job.failures) == (State.RUNNING, 0)

    assert pass_by(run).reclaimed == 1
    work_off()

    assert result_of(run) == result_of(whole)
    assert (asked, slices_of(run).count()) == ([], SLICES), "nothing is computed a second time"
    assert MetricResult.objects.filter(submission=run.submission).count() == 4


def test_worker_that_lost_its_lease_cannot_finish_the_run():
    run = planned_run()
    for _slice in range(SLICES):
        work_next(worker="w")
    late = claim_next(worker="slow")
    pass_by(run)
    quick = claim_next(worker="quick")

    assert not runs.finish_run(run_id=run.pk, attempt=late.attempt, report=report(0.1))

    assert (fresh(run).state, MetricResult.objects.count()) == (RunState.RUNNING, 0)
    assert runs.finish_run(run_id=run.pk, attempt=quick.attempt, report=report(0.9))
    assert fresh(run).final_score == 0.9


# --- costs ------------------------------------------------------------------------------------------------------------
def test_large_run_waits_for_the_cost_of_one_slice_and_its_slices_follow_one_another():
    run = large_run()
    assert 0 < run.job.fair_tag <= -(-run.job.cost * 3 // ITEMS)
    work_next(worker="planner")

    found = list(slices_of(run).values_list("cost", "fair_tag"))
    tag = run.job.fair_tag
    for cost, of_slice in found:
        tag += cost
        assert of_slice == tag
    assert sum(cost for cost, _tag in found) == pytest.approx(run.job.cost, abs=SLICES)  # nothing is known


def test_slices_of_a_half_known_file_are_half_as_many_and_cost_half(settings):
    settings.LARGE_RUN_ITEMS = ITEMS // 3
    phase, team = large_phase()
    send(phase, team, answers())
    work_off()
    other = TeamFactory.create(competition=phase.track.competition)
    run = send(phase, other, _changed(ITEMS // 2)).runs.get()
    work_next(worker="planner")

    found = list(slices_of(run).values_list("cost", flat=True))
    assert len(found) == SLICES // 2
    assert sum(found) == pytest.approx(run.job.cost / 2, abs=SLICES)


def test_slices_take_the_items_in_turn_the_longest_first():
    files = large_runs.read_files(large_run())
    assert large_runs.longest_first(files) == [f"q{number}" for number in range(ITEMS, 0, -1)]


# --- planners ---------------------------------------------------------------------------------------------------------
def test_killed_planner_leaves_nothing_and_the_run_is_planned_again(settings, monkeypatch):
    whole = in_one_piece(settings)
    run = large_run()
    with monkeypatch.context() as patch:
        patch.setattr(outcome, "wait_for_children", _stop)
        with pytest.raises(SystemExit):
            work_next(worker="killed")
    assert not slices_of(run).exists()

    assert pass_by(run).reclaimed == 1
    work_off()

    assert result_of(run) == result_of(whole)
    assert (run.job.tries, slices_of(run).count()) == (2, SLICES)


def test_planner_that_comes_late_is_refused():
    run = large_run()
    late = claim_next(worker="slow")
    pass_by(run)
    work_next(worker="quick")
    planned = list(slices_of(run).values_list("pk", flat=True))
    assert len(planned) == SLICES

    assert not outcome.wait_for_children(job=late, kind=runs.SLICE, costs=[1])

    assert list(slices_of(run).values_list("pk", flat=True)) == planned


def test_planning_that_fails_is_tried_three_times_like_a_run(monkeypatch):
    monkeypatch.setattr("malpan.submissions.evaluation.large_runs.missing_items", _crash)
    run = large_run()
    seen = []
    for _attempt in range(3):
        Job.objects.update(not_before=None)
        work_next(worker="w")
        seen.append((fresh(run).state, run.job.failures))

    assert seen == [(RunState.QUEUED, 1), (RunState.QUEUED, 2), (RunState.FAILED, 3)]
    assert Submission.objects.get(pk=run.submission_id).refunded_at is not None


def test_planner_that_dies_after_its_commit_leaves_the_run_to_its_slices(monkeypatch):
    real = outcome.wait_for_children

    def dies_late(**options: Any) -> bool:
        real(**options)
        raise RuntimeError

    run = large_run()
    with monkeypatch.context() as patch:
        patch.setattr(outcome, "wait_for_children", dies_late)
        work_next(worker="planner")

    fresh(run)
    assert (run.state, run.job.failures, states(run)) == (RunState.RUNNING, 0, {State.QUEUED: SLICES})


def test_run_read_in_from_an_archive_without_its_slices_is_planned_again():
    run = planned_run()
    ScoringRun.objects.update(job=None)
    Job.objects.all().delete()

    runs.requeue_imported(run.submission.phase.track.competition)
    work_off()

    assert (fresh(run).state, slices_of(run).count()) == (RunState.FINISHED, SLICES)


def _changed(count: int) -> bytes:
    """The answers, the first so many of them other ones."""
    listed = json.loads(answers())
    for row in listed[:count]:
        row["output"]["answer"] += " 다르게"
    return json.dumps(listed).encode()


def _stop(*_args: Any, **_options: Any) -> Any:
    raise SystemExit


def _crash(*_args: Any, **_options: Any) -> Any:
    raise RuntimeError
