"""What the queue or a worker lost is put right from the database, once, however many reconcilers run."""

from datetime import timedelta

import pytest
from django.utils import timezone
from kombu.exceptions import OperationalError

from malpan.submissions.evaluation import queueing, reconciling, runs
from malpan.submissions.evaluation.reconciling import BATCH, RESEND_AFTER, UNSENT_GRACE, reconcile
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.tasks import score_next
from tests.factories import PhaseFactory, ScoringRunFactory, SubmissionFactory, TeamFactory, publish, report
from tests.threads import at_once

State = ScoringRun.State
NOW = timezone.now()
SECOND = timedelta(seconds=1)
pytestmark = pytest.mark.django_db(transaction=True)


def _running(attempt: int = 1, lease: timedelta = -SECOND) -> ScoringRun:
    return ScoringRunFactory.create(
        state=State.RUNNING, attempt=attempt, worker="gone", lease_expires_at=NOW + lease, sent_at=NOW, queued_at=NOW
    )


def _queued(count: int = 1, **fields) -> list[ScoringRun]:
    phase = PhaseFactory.create()
    team = TeamFactory.create(competition=phase.track.competition)
    publish(phase)
    return [
        ScoringRunFactory.create(submission=SubmissionFactory.create(phase=phase, team=team), **fields)
        for _number in range(count)
    ]


def test_run_of_a_silent_worker_is_queued_again_and_finished_once(sent):
    run = _running()
    late = run.attempt

    assert reconcile(now=NOW).taken_back == 1

    run.refresh_from_db()
    assert (run.state, run.lease_expires_at, run.error_code, sent) == (State.QUEUED, None, "worker_lost", [run.pk])
    second = queueing.claim_run(run_id=run.pk, worker="other")
    assert second.attempt == 2
    assert not runs.finish_run(run_id=run.pk, attempt=late, report=report(0.1))  # it was only slow
    assert runs.finish_run(run_id=run.pk, attempt=2, report=report(0.7))
    run.refresh_from_db()
    assert (run.state, run.final_score) == (State.FINISHED, 0.7)
    assert Submission.objects.get().refunded_at is None


def test_run_with_a_living_lease_is_left_alone(sent):
    run = _running(lease=SECOND)

    assert reconcile(now=NOW) == reconciling.Reconciled(taken_back=0, sent=0)

    run.refresh_from_db()
    assert (run.state, sent) == (State.RUNNING, [])


def test_third_silent_worker_ends_the_run_and_refunds_it(sent):
    run = _running(attempt=3)

    reconcile(now=NOW)

    run.refresh_from_db()
    assert (run.state, run.error_code, sent) == (State.FAILED, "worker_lost", [])
    assert Submission.objects.get().refunded_at is not None


def test_run_whose_message_never_left_is_sent_after_a_short_grace(sent):
    [run] = _queued(queued_at=NOW)

    assert reconcile(now=NOW + UNSENT_GRACE - SECOND).sent == 0
    assert reconcile(now=NOW + UNSENT_GRACE + SECOND).sent == 1
    assert reconcile(now=NOW + UNSENT_GRACE + 2 * SECOND).sent == 0
    assert sent == [run.pk]


def test_run_nobody_took_is_sent_again_after_a_while(sent):
    [run] = _queued(queued_at=NOW - RESEND_AFTER, sent_at=NOW - RESEND_AFTER)

    assert reconcile(now=NOW).sent == 0
    assert reconcile(now=NOW + SECOND).sent == 1
    assert sent == [run.pk]


def test_one_pass_does_a_bounded_amount_oldest_first(sent, monkeypatch):
    monkeypatch.setattr(reconciling, "BATCH", 3)
    waiting = _queued(5, queued_at=NOW)
    later = NOW + UNSENT_GRACE + SECOND

    assert reconcile(now=later).sent == 3
    assert sent == [run.pk for run in waiting[:3]]
    assert reconcile(now=later).sent == 2
    assert BATCH >= 100


def test_broker_that_is_away_leaves_everything_for_the_next_pass(monkeypatch):
    tried: list[int] = []

    def refuse(**_options):
        tried.append(1)
        if len(tried) > 1:
            raise OperationalError("connection refused")

    monkeypatch.setattr(score_next, "apply_async", refuse)
    first, *others = _queued(5, queued_at=NOW)
    later = NOW + UNSENT_GRACE + SECOND

    assert reconcile(now=later).sent == 1

    assert len(tried) == 2  # it does not knock once for each run
    assert not ScoringRun.objects.filter(pk=first.pk, sent_at=None).exists()
    assert set(ScoringRun.objects.filter(sent_at=None)) == set(others)


def test_ten_reconcilers_at_once_do_each_thing_once(sent):
    lost = [_running() for _number in range(5)]
    unsent = _queued(5, queued_at=NOW - UNSENT_GRACE - SECOND)

    outcomes = at_once([lambda: reconcile(now=NOW) for _number in range(10)])

    assert sum(each.taken_back for each in outcomes) == 5
    assert sorted(sent) == sorted(run.pk for run in lost + unsent)
    assert set(ScoringRun.objects.values_list("attempt", flat=True)) == {0, 1}


def test_reconciler_and_worker_never_both_have_a_run(sent):
    """A worker that finishes just as its lease runs out: either its result stands, or the run is queued again."""
    running = [_running() for _number in range(10)]

    calls = [lambda run=run: runs.finish_run(run_id=run.pk, attempt=1, report=report()) for run in running] + [
        lambda: reconcile(now=NOW) for _number in range(5)
    ]
    at_once(calls)

    for run in running:
        run.refresh_from_db()
        assert (run.state == State.FINISHED) != (run.pk in sent)
