"""What operators do by hand: a run taken back stays back, several are tried again, a file taken out is noted."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.utils import timezone

from malpan.accounts.models import User
from malpan.core.errors import StoredFileMissing
from malpan.core.models import AuditEntry
from malpan.jobs.lease import LeaseLost
from malpan.jobs.models import Job
from malpan.jobs.tasks import work_next
from malpan.submissions import retrying
from malpan.submissions.errors import RunBelongsToBatch, RunNotCancellable, RunNotRetryable
from malpan.submissions.evaluation import actions, runs
from malpan.submissions.models import QuotaEntry, RescoreBatch, ScoringRun, Submission
from malpan.submissions.quota import services as quota
from tests.factories import ScoringRunFactory, SubmissionFactory, UserFactory, prediction_bytes, report
from tests.locks import waits_for
from tests.submissions.conftest import claim_run, execute, fail_run, limited, send
from tests.threads import at_once

State = ScoringRun.State
in_one_transaction = pytest.mark.django_db
committed = pytest.mark.django_db(transaction=True)  # threads and leases have connections of their own


@pytest.fixture
def operator(db: None) -> User:
    return UserFactory.create()


def batch_of(submission: Submission, operator: User) -> RescoreBatch:
    """An open batch of all that the phase of ``submission`` has."""
    phase = submission.phase
    return RescoreBatch.objects.create(
        competition=phase.track.competition, phase=phase, reason="정답 고침", created_by=operator
    )


@in_one_transaction
def test_queued_run_is_taken_back_and_its_slot_given_back(run, operator):
    actions.cancel_run(run=run, actor=operator, reason="잘못 올린 파일")

    run.refresh_from_db()
    assert (run.state, run.error_code) == (State.FAILED, "cancelled_by_organiser")
    assert run.finished_at is not None
    assert run.submission.quota_entries.get(kind=QuotaEntry.Kind.REFUND).reason == "잘못 올린 파일"
    assert Submission.objects.get().refunded_at is not None


@in_one_transaction
def test_cancellation_is_audited_with_reason_before_and_after(run, operator):
    actions.cancel_run(run=run, actor=operator, reason="시험")

    entry = AuditEntry.objects.get(action="run.cancel")
    assert (entry.actor, entry.object_id, entry.before["state"]) == (operator, str(run.pk), "queued")
    assert (entry.after["reason"], entry.after["state"]) == ("시험", "failed")
    assert entry.competition_pk == run.submission.phase.track.competition_id


@committed
def test_doorbell_of_a_cancelled_run_does_nothing(run, operator, fake_engine):
    actions.cancel_run(run=run, actor=operator)

    assert work_next(worker="w") is None
    assert execute(run).state == State.FAILED
    assert fake_engine == []


@in_one_transaction
def test_late_result_of_a_cancelled_run_is_refused(run, operator):
    claim_run(run)

    actions.cancel_run(run=ScoringRun.objects.get(), actor=operator)

    assert not runs.finish_run(run_id=run.pk, attempt=1, report=report(0.9))
    assert not fail_run(run, attempt=1)
    run.refresh_from_db()
    assert (run.state, run.final_score, run.error_code) == (State.FAILED, None, "cancelled_by_organiser")
    assert Submission.objects.get().live_run is None
    assert QuotaEntry.objects.filter(kind=QuotaEntry.Kind.REFUND).count() == 1


@committed
def test_worker_of_a_cancelled_run_stops(run, operator, scored_by, monkeypatch):
    """Cancelled in the middle of scoring: the lease thread finds out, and the next report of progress stops it."""
    monkeypatch.setattr("malpan.jobs.lease.PROGRESS_SECONDS", 0.05)
    stopped = threading.Event()

    def score(*_args: Any, progress: Any, **_options: Any) -> Any:
        from scoring.records import Progress

        actions.cancel_run(run=ScoringRun.objects.get(), actor=operator)
        try:
            for done in range(400):
                progress(Progress("exact_match", done, 400))
                threading.Event().wait(0.05)
        except LeaseLost:
            stopped.set()
            raise
        return report(0.9)

    scored_by(score)

    assert execute(run).state == State.FAILED
    assert stopped.is_set()
    assert (run.error_code, run.final_score) == ("cancelled_by_organiser", None)


@in_one_transaction
@pytest.mark.parametrize("state", [State.FINISHED, State.FAILED])
def test_run_that_is_over_is_not_cancelled(run, operator, state):
    ScoringRun.objects.update(state=state, final_score=0.5, finished_at=timezone.now())
    Job.objects.update(state=state, finished_at=timezone.now())

    with pytest.raises(RunNotCancellable) as refused:
        actions.cancel_run(run=run, actor=operator)

    assert refused.value.params == {"state": state.label}
    assert not QuotaEntry.objects.filter(kind=QuotaEntry.Kind.REFUND).exists()
    assert not AuditEntry.objects.filter(action="run.cancel").exists()


@in_one_transaction
def test_submission_with_an_earlier_result_keeps_its_charge(run, operator):
    finished = ScoringRunFactory.create(
        submission=run.submission,
        reference_version=run.reference_version,
        state=State.FINISHED,
        final_score=0.5,
        finished_at=timezone.now(),
    )
    Submission.objects.update(live_run=finished)

    actions.cancel_run(run=run, actor=operator)

    submission = Submission.objects.get()
    assert (submission.refunded_at, submission.live_run) == (None, finished)


@in_one_transaction
def test_run_of_a_batch_goes_with_its_batch(run, operator):
    run.batch = batch_of(run.submission, operator)
    run.save(update_fields=["batch"])

    with pytest.raises(RunBelongsToBatch):
        actions.cancel_run(run=run, actor=operator)


@committed
def test_of_twenty_cancellations_and_a_result_at_once_exactly_one_counts(run, operator):
    claimed = claim_run(run)
    stale = ScoringRun.objects.get()

    calls = [lambda: actions.cancel_run(run=stale, actor=operator) for _number in range(20)]
    calls.append(lambda: runs.finish_run(run_id=run.pk, attempt=claimed.attempt, report=report(0.9)))
    outcomes = at_once(calls)

    run.refresh_from_db()
    cancelled = outcomes[:20].count(None)
    assert cancelled + (outcomes[20] is True) == 1
    assert sum(isinstance(each, RunNotCancellable) for each in outcomes) == 20 - cancelled
    assert run.state == (State.FAILED if cancelled else State.FINISHED)
    assert QuotaEntry.objects.filter(kind=QuotaEntry.Kind.REFUND).count() == cancelled


@in_one_transaction
def test_cancelled_run_can_be_tried_again_and_is_charged_again(run, operator):
    actions.cancel_run(run=run, actor=operator)

    outcome = retrying.retry_runs(runs=[run], actor=operator)

    assert [each.state for each in outcome.runs] == [State.QUEUED]
    assert outcome.refused == ()
    assert Submission.objects.get().refunded_at is None


@in_one_transaction
def test_only_a_failed_run_without_a_result_is_tried_again(run, operator):
    other = SubmissionFactory.create(phase=run.submission.phase)
    for state in (State.QUEUED, State.RUNNING, State.FINISHED):
        ScoringRun.objects.filter(pk=run.pk).update(state=state, final_score=0.5, finished_at=timezone.now())
        with pytest.raises(RunNotRetryable) as refused:
            retrying.retry_failed_run(run=run, actor=operator)
        assert refused.value.params == {"state": state.label}
    Submission.objects.filter(pk=run.submission_id).update(live_run=run)
    ScoringRunFactory.create(submission=run.submission, state=State.FAILED)  # of another try, by hand
    with pytest.raises(RunNotRetryable):
        retrying.retry_failed_run(run=run, actor=operator)

    in_batch = ScoringRunFactory.create(submission=other, state=State.FAILED, batch=batch_of(other, operator))
    with pytest.raises(RunNotRetryable) as refused:
        retrying.retry_failed_run(run=in_batch, actor=operator)
    assert refused.value.params == {"state": ""}


@in_one_transaction
def test_a_run_tried_again_during_a_rescoring_is_scored_by_both_rules(run, operator):
    actions.cancel_run(run=run, actor=operator)
    batch = batch_of(run.submission, operator)
    ScoringRunFactory.create(submission=run.submission, batch=batch, state=State.FAILED)

    retried = retrying.retry_failed_run(run=run, actor=operator)

    assert retried.batch is None
    queued = run.submission.runs.filter(state=State.QUEUED).order_by("pk")
    assert [each.batch for each in queued] == [None, batch]
    entry = AuditEntry.objects.get(action="run.retry")
    assert (entry.actor, entry.object_id, entry.after) == (operator, str(retried.pk), {"failed_run": run.pk})


@committed
def test_trying_again_waits_for_whatever_the_team_does(run, operator):
    actions.cancel_run(run=run, actor=operator)
    Submission.objects.update(refunded_at=None)  # of which nothing is charged again

    with waits_for(run.submission.team):
        retrying.retry_failed_run(run=run, actor=operator)


@in_one_transaction
def test_what_was_refunded_while_trying_again_waited_is_charged_again(run, operator, monkeypatch):
    lock = quota.lock_team_of

    def lock_late(submission):
        monkeypatch.setattr(quota, "lock_team_of", lock)
        actions.cancel_run(run=run, actor=operator)
        lock(submission)

    monkeypatch.setattr(quota, "lock_team_of", lock_late)

    retrying.retry_failed_run(run=run, actor=operator)

    assert Submission.objects.get().refunded_at is None
    assert QuotaEntry.objects.filter(kind=QuotaEntry.Kind.CHARGE).count() == 2


@in_one_transaction
def test_refusal_of_one_keeps_no_other_from_its_turn(rings, operator):
    phase, team = limited(daily_limit=1)
    first = send(phase, team).runs.get()
    actions.cancel_run(run=first, actor=operator)
    second = send(phase, team, data=prediction_bytes(mark="!")).runs.get()
    other = ScoringRunFactory.create(submission=SubmissionFactory.create(phase=phase), state=State.FAILED)

    outcome = retrying.retry_runs(runs=[first, second, other], actor=operator)

    assert [new.submission for new in outcome.runs] == [other.submission]
    assert [(each, error.code) for each, error in outcome.refused] == [
        (first, "quota_exceeded"),
        (second, RunNotRetryable.code),
    ]


@in_one_transaction
def test_file_is_handed_out_and_the_log_says_to_whom(run, operator):
    with actions.open_for_download(submission=run.submission, actor=operator) as file:
        assert file.read() == prediction_bytes()

    entry = AuditEntry.objects.get(action="submission.download")
    assert (entry.actor, entry.after["file_sha256"]) == (operator, run.submission.file_sha256)


@in_one_transaction
def test_file_that_is_gone_leaves_no_entry(operator):
    with pytest.raises(StoredFileMissing):
        actions.open_for_download(submission=SubmissionFactory.create(), actor=operator)

    assert not AuditEntry.objects.filter(action="submission.download").exists()
