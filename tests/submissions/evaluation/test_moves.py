"""Which rows each move of a run touches, and which it leaves alone; whose score becomes live."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.jobs.clock import database_now
from malpan.jobs.models import Job
from malpan.submissions.evaluation import mails, runs
from malpan.submissions.models import ChainEntry, RescoreBatch, ScoringRun, Submission
from tests.factories import (
    ScoringRunFactory,
    SubmissionFactory,
    TeamFactory,
    UserFactory,
    current_version,
    finished_submission,
    publish,
    report,
)
from tests.locks import waits_for
from tests.submissions.conftest import claim_run, fail_run, fresh, limited

pytestmark = pytest.mark.django_db
State = ScoringRun.State


@pytest.fixture
def two(phase: Phase) -> list[ScoringRun]:
    """Queued runs of two teams."""
    return [ScoringRunFactory.create(submission=SubmissionFactory.create(phase=phase)) for _team in range(2)]


def states() -> list[str]:
    return list(ScoringRun.objects.order_by("pk").values_list("state", flat=True))


def batch_of(phase: Phase, state: str = RescoreBatch.State.RUNNING) -> RescoreBatch:
    return RescoreBatch.objects.create(
        competition=phase.track.competition, phase=phase, reason="r", state=state, created_by=UserFactory.create()
    )


# --- begun, waiting again, given up, dropped --------------------------------------------------------------------------
def test_a_move_is_of_one_run_alone(two):
    first, other = two
    claim_run(first)
    assert states() == [State.RUNNING, State.QUEUED]
    assert fresh(first).started_at == first.job.started_at is not None

    claim_run(other)
    fail_run(first, attempt=1)
    assert states() == [State.QUEUED, State.RUNNING]
    assert (fresh(first).error_code, fresh(other).error_code) == ("scoring_crashed", "")

    assert runs.drop_runs([other], error_code="cancelled") == [other.pk]
    assert states() == [State.QUEUED, State.FAILED]
    assert (fresh(other).error_code, other.finished_at <= timezone.now()) == ("cancelled", True)
    assert runs.drop_runs([other], error_code="again") == []


def test_a_large_run_began_when_its_first_part_did(two):
    run = two[0]
    before = timezone.now() - timedelta(hours=1)
    ScoringRun.objects.filter(pk=run.pk).update(state=State.RUNNING, started_at=before)

    claim_run(run)

    assert fresh(run).started_at == before


def test_a_run_that_is_claimed_again_is_no_longer_stopped_by_what_stopped_it(two):
    run = two[0]
    claim_run(run)
    fail_run(run, attempt=1, error_code="worker_lost")
    assert fresh(run).error_code == "worker_lost"

    claim_run(run)

    assert (fresh(run).state, run.error_code) == (State.RUNNING, "")


@pytest.mark.parametrize("move", [runs.queue_again, runs.begin])
def test_a_run_that_is_over_neither_waits_nor_begins_again(two, move):
    run = two[0]
    ScoringRun.objects.filter(pk=run.pk).update(state=State.FAILED, finished_at=timezone.now(), error_code="cancelled")

    move(run.job)

    assert (fresh(run).state, run.error_code) == (State.FAILED, "cancelled")


def test_runs_whose_jobs_are_gone_are_dropped_by_nobody(two):
    run = two[0]
    ScoringRun.objects.filter(pk=run.pk).update(job=None, state=State.FAILED, finished_at=timezone.now())

    assert runs.drop_runs([ScoringRun.objects.get(pk=run.pk), two[1]], error_code="cancelled") == [two[1].pk]
    assert not runs.finish_run(run_id=run.pk, attempt=1, report=report())


@pytest.mark.parametrize(("has_score", "is_of_batch", "is_refunded"), [(0, 0, True), (1, 0, False), (0, 1, False)])
def test_a_run_that_is_given_up_gives_the_slot_back_where_nothing_else_counts(
    phase, settings, has_score, is_of_batch, is_refunded
):
    settings.JOB_MAX_FAILURES = 1
    team = TeamFactory.create(competition=phase.track.competition)
    make: Any = (
        finished_submission
        if has_score
        else lambda phase, team, _score: SubmissionFactory.create(phase=phase, team=team)
    )
    submission = make(phase, team, 0.5)
    run = ScoringRunFactory.create(submission=submission, batch=batch_of(phase) if is_of_batch else None)
    claim_run(run)

    assert fail_run(run, attempt=1, error_code="model_missing")

    assert (fresh(run).state, run.error_code) == (State.FAILED, "model_missing")
    assert run.finished_at == run.job.finished_at is not None
    assert (Submission.objects.get().refunded_at is not None) is is_refunded


@pytest.mark.django_db(transaction=True)
def test_a_run_is_given_up_even_where_nobody_can_be_told(two, settings, monkeypatch):
    settings.JOB_MAX_FAILURES = 1
    monkeypatch.setattr(mails, "mail_admins", mock.Mock(side_effect=ValueError("a header with a line break")))
    claim_run(two[0])

    assert fail_run(two[0], attempt=1)

    assert fresh(two[0]).state == State.FAILED


# --- finished ---------------------------------------------------------------------------------------------------------
def test_a_result_is_written_to_its_run_alone(two):
    first, other = two
    ScoringRun.objects.update(error_code="worker_lost")
    claim_run(first)

    assert runs.finish_run(run_id=first.pk, attempt=1, report=report(0.5))

    assert (fresh(first).state, first.final_score, first.error_code) == (State.FINISHED, 0.5, "")
    assert (fresh(other).state, other.final_score, other.error_code) == (State.QUEUED, None, "worker_lost")
    assert first.finished_at <= timezone.now()
    assert Submission.objects.get(pk=first.submission_id).live_run == first
    assert Submission.objects.get(pk=other.submission_id).live_run is None


def test_what_a_run_waited_for_is_no_error_of_its_result(two):
    run = two[0]
    claim_run(run)
    ScoringRun.objects.filter(pk=run.pk).update(error_code="judge_budget_spent")
    assert runs.finish_run(run_id=run.pk, attempt=1, report=report(0.5))
    assert fresh(run).error_code == ""


@pytest.mark.parametrize("minutes", [-5, 5])
def test_a_worker_with_a_wrong_clock_writes_the_time_of_the_database(two, minutes):
    claim_run(two[0])
    wrong = timezone.now() + timedelta(minutes=minutes)

    with mock.patch.object(timezone, "now", return_value=wrong):
        runs.finish_run(run_id=two[0].pk, attempt=1, report=report(0.5))

    entry = ChainEntry.objects.get(submission=two[0].submission_id, kind=ChainEntry.Kind.SCORE)
    for moment in (fresh(two[0]).finished_at, entry.created_at):
        assert abs(moment - database_now()) < timedelta(seconds=30)


@pytest.mark.parametrize(("about", "is_demo"), [({"is_demo": True}, True), ({"is_demo": False}, False), ({}, False)])
def test_the_models_that_a_result_was_made_with_are_noted(two, about, is_demo):
    claim_run(two[0])

    runs.finish_run(run_id=two[0].pk, attempt=1, report=report(signature={"about": about}))

    assert fresh(two[0]).is_demo_models is is_demo


@pytest.mark.parametrize(
    ("live", "new", "takes_over"),
    [
        ("as it stands", "as it stands", False),
        ("old references", "as it stands", True),
        ("old recipe", "as it stands", True),
        ("old references", "old references", False),
        ("old references", "old recipe", False),
        ("old recipe", "old recipe", False),
        ("old recipe", "old references", False),
    ],
)
def test_a_result_takes_over_where_the_live_one_is_by_an_earlier_rule_and_it_is_not(live, new, takes_over):
    phase, team = limited()
    old = current_version(phase)
    current = publish(phase, 4)
    fields = {
        "as it stands": {"reference_version": current, "recipe": "rag-qa@1"},
        "old references": {"reference_version": old, "recipe": "rag-qa@1"},
        "old recipe": {"reference_version": current, "recipe": "rag-qa-strict@1"},
    }
    submission = finished_submission(phase, team, 0.1)
    ScoringRun.objects.update(**fields[live])
    before = submission.live_run
    run = ScoringRunFactory.create(submission=submission, **fields[new])
    claim_run(run)

    assert runs.finish_run(run_id=run.pk, attempt=1, report=report(0.9))

    assert Submission.objects.get().live_run == (run if takes_over else before)


@pytest.mark.parametrize(("state", "counts"), [(RescoreBatch.State.RUNNING, False), (RescoreBatch.State.APPLIED, True)])
def test_a_run_of_a_batch_counts_by_itself_once_the_batch_was_applied(two, state, counts):
    run = two[0]
    batch_of(run.submission.phase, RescoreBatch.State.APPLIED)
    ScoringRun.objects.filter(pk=run.pk).update(batch=batch_of(run.submission.phase, state))
    claim_run(run)

    assert runs.finish_run(run_id=run.pk, attempt=1, report=report())

    assert (Submission.objects.get(pk=run.submission_id).live_run == run) is counts


@pytest.mark.django_db(transaction=True)
def test_a_run_of_a_batch_waits_for_what_becomes_of_the_batch(two):
    run, batch = two[0], batch_of(two[0].submission.phase)
    ScoringRun.objects.filter(pk=run.pk).update(batch=batch)
    claim_run(run)

    with waits_for(batch):
        runs.finish_run(run_id=run.pk, attempt=1, report=report())


# --- queued -----------------------------------------------------------------------------------------------------------
def test_the_cost_of_a_submission_is_that_of_its_own_newest_run_with_a_cost(two):
    first, other = (run.submission for run in two)
    for submission, cost in ((first, 7), (first, 1), (first, 0), (other, 30)):
        ScoringRunFactory.create(submission=submission, job__cost=cost)

    assert runs.known_costs([first]) == {first.pk: 1}
    assert runs.known_costs([other]) == {other.pk: 30}


def test_no_submissions_are_no_runs(phase):
    assert runs.queue_runs([], None) == []


def test_given_references_are_taken_in_the_place_of_the_current_ones(phase):
    old, _current = current_version(phase), publish(phase, 4)

    run = runs.queue_run(submission=SubmissionFactory.create(phase=phase), reference_version=old, cost=5)

    assert (run.reference_version, run.job.cost, run.recipe) == (old, 5, "rag-qa@1")


def test_unfinished_runs_of_an_import_are_queued_as_if_they_were_new(phase):
    teams = TeamFactory.create_batch(2, competition=phase.track.competition)
    ours = [
        ScoringRunFactory.create(submission=SubmissionFactory.create(phase=phase, team=team), job=None, **fields)
        for team, fields in (
            (teams[0], {"state": State.RUNNING, "started_at": timezone.now()}),
            (teams[0], {}),
            (teams[1], {}),
        )
    ]
    batch = batch_of(phase)
    of_batch = ScoringRunFactory.create(submission=ours[2].submission, job=None, batch=batch)
    over = finished_submission(phase, teams[0], 0.5).live_run
    elsewhere = ScoringRunFactory.create(state=State.RUNNING, started_at=timezone.now())

    runs.requeue_imported(phase.track.competition)

    for run in (*ours, of_batch):
        assert (fresh(run).state, run.started_at, run.job.state) == (State.QUEUED, None, Job.State.QUEUED)
    flows = [f"team:{teams[0].pk}", f"team:{teams[0].pk}", f"team:{teams[1].pk}", f"batch:{batch.pk}"]
    assert [run.job.flow for run in (*ours, of_batch)] == flows
    assert [run.job.lane for run in (*ours, of_batch)] == [Job.Lane.LIVE] * 3 + [Job.Lane.RESCORING]
    assert ours[0].job.fair_tag < ours[1].job.fair_tag, "in the order in which they came"
    assert (fresh(over).state, fresh(elsewhere).state) == (State.FINISHED, State.RUNNING)
    assert elsewhere.started_at is not None
