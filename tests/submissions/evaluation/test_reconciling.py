"""What the queue or a worker lost is put right from the database, once, however many reconcilers run."""

from datetime import timedelta

import pytest
from django.utils import timezone

from malpan.jobs import doorbell
from malpan.jobs import reconcile as reconciling
from malpan.jobs.models import Job
from malpan.jobs.reconcile import BATCH, Reconciled, reconcile
from malpan.submissions.evaluation import runs
from malpan.submissions.models import ScoringRun, Submission
from tests.factories import PhaseFactory, ScoringRunFactory, SubmissionFactory, TeamFactory, publish, report
from tests.submissions.conftest import claim_run
from tests.threads import at_once

State = ScoringRun.State
NOW = timezone.now()
SECOND = timedelta(seconds=1)
pytestmark = pytest.mark.django_db(transaction=True)


def _running(attempt: int = 1, lease: timedelta = -SECOND) -> ScoringRun:
    job = {"attempt": attempt, "failures": attempt - 1, "worker": "gone", "lease_expires_at": NOW + lease}
    return ScoringRunFactory.create(
        state=State.RUNNING, queued_at=NOW, **{f"job__{name}": value for name, value in job.items()}
    )


def _queued(count: int = 1, **fields) -> list[ScoringRun]:
    phase = PhaseFactory.create()
    team = TeamFactory.create(competition=phase.track.competition)
    publish(phase)
    return [
        ScoringRunFactory.create(submission=SubmissionFactory.create(phase=phase, team=team), **fields)
        for _number in range(count)
    ]


def test_run_of_a_silent_worker_is_queued_again_and_finished_once(rings):
    run = _running()
    late = run.job.attempt

    assert reconcile(now=NOW).reclaimed == 1

    run.refresh_from_db()
    assert (run.state, run.job.state, run.error_code) == (State.QUEUED, Job.State.QUEUED, "worker_lost")
    assert rings[:1] == [doorbell.TASK]
    second = claim_run(run, "other")
    assert second.attempt == 2
    assert not runs.finish_run(run_id=run.pk, attempt=late, report=report(0.1))  # it was only slow
    assert runs.finish_run(run_id=run.pk, attempt=2, report=report(0.7))
    run.refresh_from_db()
    assert (run.state, run.final_score) == (State.FINISHED, 0.7)
    assert Submission.objects.get().refunded_at is None


def test_run_with_a_living_lease_is_left_alone(rings):
    run = _running(lease=SECOND)

    assert reconcile(now=NOW) == Reconciled(reclaimed=0, rang=False)

    run.refresh_from_db()
    assert (run.state, rings) == (State.RUNNING, [])


def test_third_silent_worker_ends_the_run_and_refunds_it(rings):
    run = _running(attempt=3)

    reconcile(now=NOW)

    run.refresh_from_db()
    assert (run.state, run.error_code, rings) == (State.FAILED, "worker_lost", [])
    assert Submission.objects.get().refunded_at is not None


def test_lost_runs_of_two_teams_end_in_one_pass(rings):
    """Two files that kill their workers: each job is locked before its own team, and after no other."""
    lost = [_running(attempt=3) for _team in range(2)]
    assert len({run.submission.team_id for run in lost}) == 2

    assert reconcile(now=NOW).reclaimed == 2

    assert set(ScoringRun.objects.values_list("state", "error_code")) == {(State.FAILED, "worker_lost")}
    assert not Submission.objects.filter(refunded_at=None).exists()


def test_lost_doorbell_is_rung_again_as_long_as_anything_waits(rings):
    [run] = _queued()
    assert rings == []

    assert [reconcile().rang for _look in range(3)] == [True] * 3
    claim_run(run)
    assert not reconcile().rang


def test_doorbell_that_nobody_heard_yet_is_not_rung_again(rings, monkeypatch):
    _queued()
    monkeypatch.setattr(doorbell, "is_ringing", lambda: True)

    assert not reconcile().rang
    assert rings == []


def test_what_waits_for_its_pause_rings_when_it_is_over(rings):
    _queued(job__not_before=NOW + timedelta(minutes=1))

    assert not reconcile(now=NOW).rang
    assert reconcile(now=NOW + timedelta(minutes=2)).rang


def test_one_pass_does_a_bounded_amount_oldest_first(rings, monkeypatch):
    monkeypatch.setattr(reconciling, "BATCH", 3)
    lost = [_running(lease=-place * SECOND) for place in range(1, 6)]

    assert reconcile(now=NOW).reclaimed == 3
    queued = ScoringRun.objects.filter(state=State.QUEUED)
    assert set(queued) == set(lost[2:])
    assert reconcile(now=NOW).reclaimed == 2
    assert BATCH >= 100


@pytest.mark.usefixtures("broker_unreachable")
def test_broker_that_is_away_leaves_everything_for_the_next_look():
    _running()

    assert reconcile(now=NOW) == Reconciled(reclaimed=1, rang=False)

    assert ScoringRun.objects.get().state == State.QUEUED


def test_ten_reconcilers_at_once_do_each_thing_once(rings):
    lost = [_running() for _number in range(5)]

    outcomes = at_once([lambda: reconcile(now=NOW) for _number in range(10)])

    assert sum(each.reclaimed for each in outcomes) == 5
    jobs = Job.objects.filter(pk__in=[run.job_id for run in lost])
    assert set(jobs.values_list("state", "attempt", "failures")) == {(Job.State.QUEUED, 1, 1)}


def test_reconciler_and_worker_never_both_have_a_run(rings):
    """A worker that finishes just as its lease runs out: either its result stands, or the run is queued again."""
    running = [_running() for _number in range(10)]

    calls = [lambda run=run: runs.finish_run(run_id=run.pk, attempt=1, report=report()) for run in running] + [
        lambda: reconcile(now=NOW) for _number in range(5)
    ]
    at_once(calls)

    for run in running:
        run.refresh_from_db()
        assert (run.state, run.job.failures) in {(State.FINISHED, 0), (State.QUEUED, 1)}
