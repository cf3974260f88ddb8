"""A worker's hold on a run: renewed while it works, noticed when lost, and gone without a trace afterwards."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connections

from malpan.jobs import lease
from malpan.jobs.models import Job
from malpan.submissions.evaluation.progress import StageProgress
from malpan.submissions.models import ScoringRun
from scoring.records import Progress
from tests import database
from tests.factories import report
from tests.submissions.conftest import execute
from tests.waiting import wait_for

State = ScoringRun.State
pytestmark = pytest.mark.django_db(transaction=True)  # the lease is renewed on a connection of its own


def test_lease_is_renewed_and_progress_written_while_scoring(run, scored_by, settings):
    settings.JOB_LEASE_SECONDS = 1
    seen: list[Job] = []

    def score(*_args: Any, progress: Any, **_options: Any) -> Any:
        first = Job.objects.get(pk=run.job_id).lease_expires_at
        for stage, done in [("exact_match", 2), ("bleurt", 2), ("bertscore", 1)]:
            progress(Progress(stage, done, 2))

        def renewed() -> bool:
            row = Job.objects.get(pk=run.job_id)
            seen.append(row)
            return row.lease_expires_at > first + timedelta(seconds=1)

        wait_for(renewed, "the lease is renewed past its first length")
        return report()

    scored_by(score)

    assert execute(run).state == State.FINISHED
    # two of four metrics are done, and half of the third
    assert (seen[-1].stage, seen[-1].progress) == ("bertscore", pytest.approx(2.5 / 4))


def test_progress_never_goes_back():
    shares: list[float] = []
    progress = StageProgress(("exact_match", "bleurt"), lambda _stage, share: shares.append(share))
    for stage, done, total in [("exact_match", 3, 3), ("bleurt", 0, 9), ("bleurt", 9, 9), ("other", 0, 0)]:
        progress(Progress(stage, done, total))

    assert shares == [0.5, 0.5, 1.0, 1.0]


def test_progress_goes_on_from_what_was_done_before():
    shares: list[float] = []
    progress = StageProgress(("exact_match", "bleurt"), lambda _stage, share: shares.append(share), 0.9)
    for done in (1, 2):
        progress(Progress("exact_match", done, 2))
    progress(Progress("bleurt", 2, 2))

    assert shares == [0.9, 0.9, 1.0]


def test_stages_side_by_side_add_up_and_the_first_that_is_not_done_is_shown():
    seen: list[tuple[str, float]] = []
    stages = ("exact_match", "bleurt", "bertscore", "rouge_1")
    progress = StageProgress(stages, lambda stage, share: seen.append((stage, share * 8)))
    reports = [("bleurt", 1), ("exact_match", 0), ("exact_match", 2), ("rouge_1", 2), ("bleurt", 2), ("bertscore", 1)]
    for stage, done in reports:
        progress(Progress(stage, done, 2))

    assert seen == [
        ("exact_match", 1),
        ("exact_match", 1),
        ("bleurt", 3),
        ("bleurt", 5),
        ("bertscore", 6),
        ("bertscore", 7),
    ]


def test_run_that_was_taken_back_stops_quietly(run, scored_by, settings, caplog):
    settings.JOB_LEASE_SECONDS = 1
    stopped = threading.Event()

    def score(*_args: Any, progress: Any, **_options: Any) -> Any:
        Job.objects.filter(pk=run.job_id).update(attempt=2)  # another worker has it

        def lease_is_lost() -> bool:
            try:
                progress(Progress("bleurt", 1, 9))
            except lease.LeaseLost:
                stopped.set()
                raise
            return False

        wait_for(lease_is_lost, "the lost lease is noticed")

    scored_by(score)
    execute(run)

    assert stopped.is_set()
    assert (run.state, run.job.attempt, run.final_score) == (State.RUNNING, 2, None)
    assert "ERROR" not in [record.levelname for record in caplog.records]


def test_lease_survives_a_database_that_is_away_for_a_moment(run, scored_by, settings, monkeypatch):
    settings.JOB_LEASE_SECONDS = 1
    calls: list[str] = []
    renew = lease.renew_lease

    def sometimes(**options: Any) -> bool:
        calls.append("try")
        if len(calls) == 1:
            raise OperationalError("server closed the connection unexpectedly")
        calls.append("done")
        return renew(**options)

    monkeypatch.setattr(lease, "renew_lease", sometimes)

    def score(*_args: Any, **_options: Any) -> Any:
        wait_for(lambda: "done" in calls, "the lease is renewed after all")
        return report()

    scored_by(score)

    assert execute(run).state == State.FINISHED


def test_a_score_waits_for_a_database_that_is_away_and_is_computed_once(run, scored_by, rings):
    calls = []
    with database.away_for(1.5) as begin:

        def score(*_args: Any, **_options: Any) -> Any:
            calls.append("score")
            begin()
            return report()

        scored_by(score)
        execute(run)

    assert calls == ["score"]
    assert (run.state, run.job.attempt, run.job.failures) == (State.FINISHED, 1, 0)
    assert run.submission.chain_entries.filter(kind="score").count() == 1


def test_a_score_whose_commit_had_no_answer_is_written_once_and_not_called_late(run, scored_by, monkeypatch, caplog):
    caplog.set_level("INFO")

    def score(*_args: Any, **_options: Any) -> Any:
        database.lose_next_answer(monkeypatch)
        return report()

    scored_by(score)
    execute(run)

    assert (run.state, run.job.attempt, run.job.failures) == (State.FINISHED, 1, 0)
    assert run.submission.chain_entries.filter(kind="score").count() == 1
    assert "scored" in [record.getMessage() for record in caplog.records]
    assert "refused" not in caplog.text


def test_lease_thread_leaves_no_connection_behind(run, scored_by, settings):
    settings.JOB_LEASE_SECONDS = 1

    def backends() -> int:
        with connections["default"].cursor() as cursor:
            ours = "datname = current_database() AND backend_type = 'client backend'"  # it may be vacuumed meanwhile
            cursor.execute(f"SELECT count(*) FROM pg_stat_activity WHERE {ours}")
            return cursor.fetchone()[0]

    before = backends()

    def score(*_args: Any, **_options: Any) -> Any:
        wait_for(lambda: backends() > before, "the thread has connected")
        return report()

    scored_by(score)
    execute(run)

    wait_for(lambda: backends() == before, "the thread's connection is closed")
