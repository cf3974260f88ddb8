"""One submission through the real task body and the real engine, and the planted string nowhere but in its file."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from malpan.celery import app
from malpan.competitions.models import ReferenceVersion
from malpan.core.models import AuditEntry
from malpan.core.storage import store_private
from malpan.jobs.claim import claim_next
from malpan.jobs.models import Job
from malpan.jobs.tasks import look_for_work, work
from malpan.leaderboard.selectors import board
from malpan.submissions.intake import submit
from malpan.submissions.models import MetricResult, Rejection, ScoringRun, Submission
from malpan.submissions.visibility import shown_run
from tests.factories import CANARY, PhaseFactory, TeamFactory, file_bytes, leader_of, publish, rows, update_jobs

pytestmark = pytest.mark.django_db(transaction=True)


def test_submission_is_scored_by_the_real_engine_and_stands_on_the_board(caplog):
    phase = PhaseFactory.create()
    publish(phase, 4)  # references without reasons: no model is needed for a pair
    team = TeamFactory.create(competition=phase.track.competition)
    answers = [*rows(3, f"{CANARY}가 옳다."), {"id": "q4", "output": {"answer": "틀린 말이 옳다."}}]

    submission = submit(phase=phase, team=team, user=leader_of(team), file_name="a.json", upload=file_bytes(answers))
    work()

    run = submission.runs.get()
    assert (run.state, run.error_code) == (ScoringRun.State.FINISHED, "")
    assert run.scores["exact_match"] == 0.75
    assert run.final_score == pytest.approx(0.375)
    assert run.is_demo_models
    kept = MetricResult.objects.get(metric="exact_match")
    assert kept.values == {"q1": 1.0, "q2": 1.0, "q3": 1.0, "q4": 0.0}
    assert [row.rank for row in board(phase).rows] == [1]
    assert CANARY not in caplog.text + _everything_stored()


def test_references_published_with_an_empty_alternative_go_on_being_scored_and_give_a_blank_answer_nothing(monkeypatch):
    phase = PhaseFactory.create()
    version = publish(phase, 2)
    data = file_bytes(rows(2, f"{CANARY}#"))  # as an earlier version took it in
    ReferenceVersion.objects.filter(pk=version.pk).update(file_sha256=store_private(data).sha256)
    team = TeamFactory.create(competition=phase.track.competition)

    submission = submit(
        phase=phase, team=team, user=leader_of(team), file_name="a.json", upload=file_bytes(rows(2, ""))
    )
    work()

    run = submission.runs.get()
    assert (run.state, run.scores["exact_match"]) == (ScoringRun.State.FINISHED, 0.0)
    assert {"code": "empty_alternatives", "params": {"count": 2}} in run.warnings
    for sees_all in (True, False):
        codes = [row["code"] for row in shown_run(run, submission, sees_all=sees_all).warnings]
        assert ("empty_alternatives" in codes) is sees_all


def test_message_says_that_there_is_work_and_nothing_else():
    phase = PhaseFactory.create()
    publish(phase)
    team = TeamFactory.create(competition=phase.track.competition)
    submit(
        phase=phase,
        team=team,
        user=leader_of(team),
        file_name="a.json",
        upload=file_bytes(rows(3, f"{CANARY}가 옳다.")),
    )

    with app.connection_for_read() as connection, connection.SimpleQueue("scoring") as queue:
        bodies = [queue.get(block=False) for _waiting in range(queue.qsize())]
        for message in bodies:
            message.ack()

    message = bodies[-1]
    assert message.headers["task"] == "malpan.jobs.tasks.work"
    assert message.payload[:2] == [[], {}]
    assert CANARY not in json.dumps([message.payload, message.headers], default=str, ensure_ascii=False)


def test_reconciler_task_puts_a_lost_run_right(rings):
    phase = PhaseFactory.create()
    publish(phase)
    team = TeamFactory.create(competition=phase.track.competition)
    submission = submit(phase=phase, team=team, user=leader_of(team), file_name="a.json", upload=file_bytes(rows(3)))
    claim_next(worker="gone")
    update_jobs(submission.runs.all(), lease_expires_at=timezone.now() - timedelta(seconds=1))

    look_for_work()

    assert submission.runs.get().state == ScoringRun.State.QUEUED


def _everything_stored() -> str:
    """Every row that a scoring writes, as text."""
    models = (AuditEntry, Submission, ScoringRun, Job, MetricResult, Rejection)
    return json.dumps([list(model.objects.values()) for model in models], default=str, ensure_ascii=False)
