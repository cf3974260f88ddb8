"""A phase ready to take files, a team in it, and a broker that remembers what it was sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from celery import current_app
from django.db import connection, transaction
from kombu.exceptions import OperationalError

from malpan.celery import app
from malpan.competitions.models import Phase
from malpan.jobs import claim, doorbell, lease, outcome, tasks
from malpan.jobs.models import Job
from malpan.submissions.intake import submit
from malpan.submissions.models import ScoringRun, Submission
from malpan.teams.models import Team
from scoring import engine
from scoring.records import Progress, ScoreReport
from tests.factories import PhaseFactory, TeamFactory, leader_of, prediction_bytes, publish, report
from tests.submissions.rescoring.contest_of_many import with_fake_models


@pytest.fixture
def phase(db: None) -> Phase:
    """Open, without limits, with references of three items."""
    return limited()[0]


@pytest.fixture
def team(phase: Phase) -> Team:
    return TeamFactory.create(competition=phase.track.competition)


@pytest.fixture
def rings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A task for each ring of the doorbell; no broker hears it."""
    return collect_rings(monkeypatch)


@pytest.fixture
def broker_unreachable() -> Iterator[None]:
    """Celery's own producer, pointed at a port on which nothing listens."""
    with pointed_at("redis://127.0.0.1:1/0"):
        with pytest.raises(OperationalError), app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=1, interval_start=0, interval_step=0)
        yield


@pytest.fixture
def scored_by(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., ScoreReport]], None]:
    """Put a function in the place of the engine."""

    def install(score: Callable[..., ScoreReport]) -> None:
        monkeypatch.setattr(engine, "score", score)

    return install


@pytest.fixture
def fake_engine(scored_by: Callable[..., None]) -> list[dict[str, Any]]:
    """An engine that reports progress and gives 0.5; returns what it was called with."""
    calls: list[dict[str, Any]] = []

    def score(recipe: str, references: Any, predictions: Any, *, progress: Any, **options: Any) -> ScoreReport:
        calls.append({"recipe": recipe, "references": references, "predictions": predictions, **options})
        for done in range(4):
            progress(Progress("exact_match", done, 3))
        return report()

    scored_by(score)
    return calls


@pytest.fixture
def neural(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, str]]:
    """The real engine with fake models; what the neural metrics are asked, pair by pair."""
    return with_fake_models(monkeypatch)


@pytest.fixture
def uncommitted_work(monkeypatch: pytest.MonkeyPatch) -> None:
    work_uncommitted(monkeypatch)


@pytest.fixture
def run(phase: Phase, team: Team, rings: list[str]) -> ScoringRun:
    """A queued run of a real, stored submission."""
    return send(phase, team).runs.get()


def collect_rings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Put nothing in the place of the broker; the tasks that were sent to it, as they are sent."""
    sent: list[str] = []
    monkeypatch.setattr(doorbell.current_app._get_current_object(), "send_task", lambda name, **_: sent.append(name))
    monkeypatch.setattr(doorbell, "is_ringing", lambda: False)
    return sent


def work_uncommitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let jobs be done inside the transaction of a test, for tests of neither leases nor connections.

    A lease is renewed on a connection of its own, which does not see what is not committed, and a connection that was
    idle is closed where it stands in a transaction.
    """
    monkeypatch.setattr(lease.LeaseRenewer, "_renew", lambda *_arguments: None)
    monkeypatch.setattr(connection, "close_if_unusable_or_obsolete", lambda: None)


def claim_run(run: ScoringRun, worker: str = "worker-1") -> Job | None:
    """Take the job of ``run`` out of turn, pause or no pause; ``None`` where it is not queued."""
    with transaction.atomic():
        queued = Job.objects.filter(pk=run.job_id, state=Job.State.QUEUED)
        job = queued.select_for_update(no_key=True, of=("self",)).first()
        if job is not None:
            claim.take(job, worker)
    return job


def fail_run(run: ScoringRun, *, attempt: int, error_code: str = "scoring_crashed", pause: float = 0) -> bool:
    """Note a fault of ``attempt``, as its worker would."""
    return outcome.fail(job_id=run.job_id, attempt=attempt, error_code=error_code, pause=pause)


def execute(run: ScoringRun, worker: str = "worker-1") -> ScoringRun:
    """Do what a worker does with ``run``, out of turn, and look at it afterwards. Nothing where it is not queued."""
    job = claim_run(run, worker)
    if job is not None:
        tasks.perform(job)
    return fresh(run)


def fresh(run: ScoringRun) -> ScoringRun:
    """``run`` and its job, read anew."""
    run.refresh_from_db()
    return run


def send(phase: Phase, team: Team, data: Any = None, **options: Any) -> Submission:
    """Submit ``data``, or a sound file, as the team's leader."""
    return submit(
        phase=phase,
        team=team,
        user=options.pop("user", None) or leader_of(team),
        file_name=options.pop("file_name", "answers.json"),
        upload=prediction_bytes() if data is None else data,
        **options,
    )


def limited(**limits: Any) -> tuple[Phase, Team]:
    """A phase with these limits and a team in it."""
    phase = PhaseFactory.create(**limits)
    publish(phase)
    return phase, TeamFactory.create(competition=phase.track.competition)


@contextmanager
def pointed_at(url: str) -> Iterator[None]:
    """Send through ``url``, as if no ring had failed before; afterwards as it was."""
    before = app.conf.broker_url
    _point_at(url)
    try:
        yield
    finally:
        _point_at(before)


def _point_at(url: str) -> None:
    """Send through ``url`` from now on: forget the connections to the broker before."""
    assert current_app._get_current_object() is app
    app.conf.broker_url = app.conf.broker_read_url = app.conf.broker_write_url = url
    app.amqp._producer_pool = None
    app._pool = None
    doorbell._failed_at = None
