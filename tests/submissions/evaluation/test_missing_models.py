"""A run whose models a worker lacks waits for one that has them: it costs nothing, and is told once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from malpan.jobs import faults
from malpan.submissions.models import ScoringRun, Submission
from scoring import engine
from scoring.errors import ModelUnavailable
from tests.factories import report
from tests.submissions.conftest import execute

State = ScoringRun.State
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_run_waits_however_long_for_a_worker_that_has_its_models_and_one_mail_says_so(
    run, scored_by, settings, caplog, monkeypatch
):
    settings.ADMINS = [("Admin", "admin@example.org")]
    with monkeypatch.context() as of_another_profile:

        def lack(*_args: Any, **_options: Any) -> Any:
            raise ModelUnavailable("run: python -m scoring models fetch official")

        of_another_profile.setattr(engine, "score", lack)
        for attempt in range(1, settings.JOB_MAX_FAILURES + 2):
            before = timezone.now()
            execute(run, "demo")
            assert (run.state, run.error_code, run.job.attempt) == (State.QUEUED, "model_missing", attempt)
            assert run.job.not_before >= before + timedelta(seconds=faults.PUT_BACK_SECONDS)
            assert run.job.failures == 0
    assert "models fetch official" in caplog.text
    [mail_sent] = mail.outbox
    assert "SCORING_PROFILE" in mail_sent.body
    assert "demo" in mail_sent.body
    assert Submission.objects.get().refunded_at is None

    scored_by(lambda *_args, **_options: report())
    assert (execute(run).state, run.error_code, run.job.error_code) == (State.FINISHED, "", "")


@pytest.mark.parametrize(
    "profile",
    [None, 'name = "p"\n[bertscore]\nmodel = "./gone"\nnum_layers = 9\n[bleurt]\nmodel = "./gone"\n', "not a profile"],
)
def test_a_run_waits_where_its_profile_or_the_models_of_it_are_not_on_the_machine(run, tmp_path, profile):
    path = tmp_path / "profile.toml"
    if profile:
        path.write_text(profile)
    ScoringRun.objects.filter(pk=run.pk).update(profile=str(path))
    execute(run)
    assert (run.state, run.error_code, run.job.failures) == (State.QUEUED, "model_missing", 0)
