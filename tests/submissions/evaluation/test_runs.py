"""The life of a run: claimed once, held by a lease, finished once, retried for our faults and refunded in the end."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.utils import timezone

from malpan.competitions.errors import ReferencesNotPublished
from malpan.core.errors import StoredFileCorrupt, StoredFileMissing
from malpan.core.models import AuditEntry
from malpan.jobs import faults
from malpan.jobs.models import Job
from malpan.jobs.tasks import work_next
from malpan.submissions import retrying
from malpan.submissions.errors import RunNotRetryable
from malpan.submissions.evaluation import runs
from malpan.submissions.models import MetricResult, ScoringRun, Submission
from malpan.submissions.quota import services as quota
from scoring.records import ScoreWarning
from tests.factories import (
    CANARY,
    PhaseFactory,
    ScoringRunFactory,
    SubmissionFactory,
    UserFactory,
    publish,
    report,
)
from tests.submissions.conftest import claim_run, execute, fail_run, fresh
from tests.threads import at_once

State = ScoringRun.State
in_one_transaction = pytest.mark.django_db
committed = pytest.mark.django_db(transaction=True)  # the lease is renewed on a connection of its own


@committed
def test_run_is_scored_and_becomes_the_live_one(run, fake_engine):
    execute(run)

    assert (run.state, run.job.attempt, run.job.worker) == (State.FINISHED, 1, "worker-1")
    assert (run.job.state, run.final_score, run.job.progress) == (Job.State.FINISHED, 0.5, 1.0)
    assert run.job.lease_expires_at is None
    assert (run.signature_hash, run.is_demo_models) == ("f" * 64, True)
    assert Submission.objects.get().live_run == run
    [call] = fake_engine
    assert (call["recipe"], call["profile"]) == ("rag-qa@1", "demo")
    assert [each.id for each in call["predictions"].items] == ["q1", "q2", "q3"]


@committed
def test_item_values_are_kept_per_metric_signature_and_given_back_as_known(run, fake_engine):
    execute(run)
    row = MetricResult.objects.get()
    assert (row.metric, row.metric_signature, row.values) == (
        "exact_match",
        "e" * 64,
        {"q1": 0.5, "q2": 0.5, "q3": 0.5},
    )

    again = ScoringRunFactory.create(submission=run.submission, reference_version=run.reference_version)
    execute(again)

    assert fake_engine[0]["known"] == {}
    assert fake_engine[1]["known"] == {("exact_match", "e" * 64): row.values}
    assert MetricResult.objects.count() == 1


@committed
def test_later_run_of_a_submission_does_not_take_over_by_itself(run, fake_engine):
    execute(run)

    again = ScoringRunFactory.create(submission=run.submission, reference_version=run.reference_version)
    execute(again)

    assert again.state == State.FINISHED
    assert Submission.objects.get().live_run == run


@committed
def test_warnings_are_kept_as_code_and_data(run, scored_by):
    warning = ScoreWarning("normalized", {"count": 2})
    scored_by(lambda *_args, **_options: report(warnings=(warning,)))

    assert execute(run).warnings == [{"code": "normalized", "params": {"count": 2}}]


@committed
@pytest.mark.parametrize("state", [State.RUNNING, State.FINISHED, State.FAILED])
def test_doorbell_that_rings_twice_does_nothing(run, fake_engine, state):
    lease = timezone.now() + timedelta(seconds=30) if state == State.RUNNING else None
    over = timezone.now() if state != State.RUNNING else None
    Job.objects.filter(pk=run.job_id).update(state=state, attempt=1, lease_expires_at=lease, finished_at=over)
    fields = {"final_score": 0.1, "finished_at": timezone.now()} if state == State.FINISHED else {}
    ScoringRun.objects.filter(pk=run.pk).update(state=state, **fields)

    assert work_next(worker="worker-2") is None

    fresh(run)
    assert (run.state, run.job.attempt, run.job.lease_expires_at) == (state, 1, lease)
    assert fake_engine == []


@committed
def test_doorbell_without_any_work_does_nothing(db, fake_engine):
    assert work_next(worker="worker-1") is None

    assert fake_engine == []


@committed
def test_twenty_workers_that_hear_the_doorbell_score_once(run, scored_by):
    calls: list[int] = []

    def score(*_args: Any, **_options: Any) -> Any:
        calls.append(1)
        return report()

    scored_by(score)
    at_once([lambda n=n: work_next(worker=f"worker-{n}") for n in range(20)])

    fresh(run)
    assert (len(calls), run.state, run.job.attempt) == (1, State.FINISHED, 1)


@in_one_transaction
def test_late_result_of_an_old_attempt_is_refused(run):
    claimed = claim_run(run, "slow")
    fail_run(run, attempt=1)
    newer = claim_run(run, "quick")
    assert (claimed.attempt, newer.attempt) == (1, 2)

    assert not runs.finish_run(run_id=run.pk, attempt=1, report=report(0.1))

    fresh(run)
    assert (run.state, run.final_score, run.job.worker) == (State.RUNNING, None, "quick")
    assert not MetricResult.objects.exists()
    assert runs.finish_run(run_id=run.pk, attempt=2, report=report(0.9))
    assert not runs.finish_run(run_id=run.pk, attempt=2, report=report(0.1))
    run.refresh_from_db()
    assert run.final_score == 0.9


@in_one_transaction
def test_late_fault_of_an_old_attempt_changes_nothing(run):
    claim_run(run, "slow")
    Job.objects.filter(pk=run.job_id).update(attempt=2)

    assert not fail_run(run, attempt=1, error_code="worker_lost")

    fresh(run)
    assert (run.state, run.job.attempt, run.job.failures, run.error_code) == (State.RUNNING, 2, 0, "")


@committed
def test_fault_of_ours_is_tried_three_times_then_refunded_and_the_organiser_alerted(run, scored_by, settings, caplog):
    settings.ADMINS = [("운영자", "operator@example.com")]

    def crash(*_args: Any, **_options: Any) -> Any:
        raise RuntimeError(f"CUDA error near {CANARY}")

    scored_by(crash)
    states = [(execute(run).state, run.job.attempt) for _attempt in range(4)]

    assert states == [(State.QUEUED, 1), (State.QUEUED, 2), (State.FAILED, 3), (State.FAILED, 3)]
    assert run.error_code == "scoring_crashed"
    assert Submission.objects.get().refunded_at is not None
    assert AuditEntry.objects.get(action="submission.refund").actor is None
    [alert] = mail.outbox
    assert (alert.to, str(run.pk) in alert.body) == (["operator@example.com"], True)
    assert "RuntimeError" in caplog.text
    assert CANARY not in caplog.text + alert.body


@committed
def test_retry_waits_longer_after_each_attempt(run, scored_by, rings):
    def crash(*_args: Any, **_options: Any) -> Any:
        raise MemoryError

    scored_by(crash)
    for attempt in (1, 2):
        before = timezone.now()
        rings.clear()
        execute(run)
        pause = attempt * faults.RETRY_PAUSE_SECONDS
        assert before <= run.job.not_before - timedelta(seconds=pause) <= timezone.now()
        assert rings == [], "a worker that comes too early finds nothing: beat rings when the pause is over"
        assert work_next(worker="early") is None

    assert execute(run).job.not_before is None


@committed
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (StoredFileCorrupt(sha256="0" * 64), "stored_file_corrupt"),
        (StoredFileMissing(sha256="0" * 64), "stored_file_missing"),
        (KeyError("q1"), "scoring_crashed"),
        (OSError("no such device"), "scoring_crashed"),
    ],
)
def test_fault_is_named(run, scored_by, fault, code):
    def fail(*_args: Any, **_options: Any) -> Any:
        raise fault

    scored_by(fail)

    assert execute(run).error_code == code


@committed
def test_run_that_recovers_keeps_no_error(run, scored_by, fake_engine):
    claim_run(run)
    fail_run(run, attempt=1, error_code="worker_lost")

    assert (execute(run).state, run.error_code, run.job.error_code, run.job.attempt) == (State.FINISHED, "", "", 2)
    assert Submission.objects.get().refunded_at is None


@committed
def test_run_by_a_recipe_that_this_version_does_not_know_is_left_to_a_newer_worker_and_told(run, fake_engine, settings):
    settings.ADMINS = [("Admin", "admin@example.org")]
    ScoringRun.objects.filter(pk=run.pk).update(recipe="rag-qa@99")

    for _meeting in range(4):  # more often than a run is tried
        execute(run)

    assert (run.state, run.job.failures, run.error_code, fake_engine) == (State.QUEUED, 0, "version_missing", [])
    assert run.job.not_before > timezone.now()
    [told] = mail.outbox
    assert "채점 방식 rag-qa@99를 아는 버전의 채점 서버" in told.body
    assert "a version that knows the recipe rag-qa@99" in told.body


@committed
def test_process_that_is_stopped_leaves_the_run_to_its_lease(run, scored_by):
    def stop(*_args: Any, **_options: Any) -> Any:
        raise SystemExit

    scored_by(stop)
    with pytest.raises(SystemExit):
        execute(run)

    fresh(run)
    assert (run.state, run.job.attempt) == (State.RUNNING, 1)
    assert run.job.lease_expires_at > timezone.now()


@committed
def test_no_transaction_is_open_while_scoring(run, scored_by):
    seen: list[bool] = []

    def score(*_args: Any, **_options: Any) -> Any:
        seen.append(connection.in_atomic_block)
        return report()

    scored_by(score)
    execute(run)

    assert seen == [False]


@in_one_transaction
def test_run_takes_recipe_profile_and_references_as_they_stand(settings):
    settings.SCORING_PROFILE = "small"
    phase = PhaseFactory.create(track__profile="", track__recipe="rag-qa-strict@1")
    publish(phase)
    newest = publish(phase, 4)

    run = runs.queue_run(submission=SubmissionFactory.create(phase=phase))

    assert (run.recipe, run.profile, run.reference_version) == ("rag-qa-strict@1", "small", newest)


@in_one_transaction
def test_run_cannot_be_queued_without_references():
    with pytest.raises(ReferencesNotPublished):
        runs.queue_run(submission=SubmissionFactory.create())


def _given_up() -> ScoringRun:
    phase = PhaseFactory.create(daily_limit=1)
    publish(phase)
    submission = SubmissionFactory.create(phase=phase)
    run = ScoringRunFactory.create(submission=submission, state=State.RUNNING, job__attempt=3, job__failures=2)
    fail_run(run, attempt=3, error_code="model_missing")
    return fresh(run)


@in_one_transaction
def test_organiser_retries_a_given_up_run_as_a_new_run_and_the_refund_is_taken_back():
    run, organiser = _given_up(), UserFactory.create(is_staff=True)
    assert quota.status(phase=run.submission.phase, team=run.submission.team).can_submit

    retried = retrying.retry_failed_run(run=run, actor=organiser)

    assert (retried.state, retried.job.attempt, retried.submission) == (State.QUEUED, 0, run.submission)
    assert not quota.status(phase=run.submission.phase, team=run.submission.team).can_submit
    assert Counter(AuditEntry.objects.filter(actor=organiser).values_list("action", flat=True)) == {
        "submission.charge_again": 1,
        "run.retry": 1,
    }
    run.refresh_from_db()
    assert run.state == State.FAILED  # a run is immutable once it is over


@in_one_transaction
def test_only_a_given_up_run_without_a_result_is_retried():
    run, organiser = _given_up(), UserFactory.create(is_staff=True)
    retrying.retry_failed_run(run=run, actor=organiser)

    with pytest.raises(RunNotRetryable):
        retrying.retry_failed_run(run=run, actor=organiser)
