"""A site whose recipes need no model: its profile says so, and workers start and score with it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from malpan import worker_process
from malpan.submissions.models import ScoringRun
from malpan.submissions.scoring_changes import publish_reference_version
from tests.factories import PhaseFactory, TeamFactory, file_bytes
from tests.submissions.conftest import execute, send

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_worker_without_models_starts_and_scores_what_needs_none(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = tmp_path / "none.toml"
    profile.write_text('name = "none"\nwithout_models = true\n')
    settings.SCORING_PROFILE = str(profile)
    monkeypatch.setattr(worker_process, "_about", {})
    worker_process.require_models(settings.SCORING_PROFILE)
    worker_process.load_models()
    worker_process.begin_work(os.getpid())
    assert (worker_process._about["profile"], worker_process._about["models"]) == ("none", [])

    phase = PhaseFactory.create(track__recipe="captioning-lexical@1", track__profile="")
    captions = {"v1": "바다 앞에 사람이 서 있다", "v2": "고양이 앞에 사람이 서 있다"}
    publish_reference_version(phase=phase, data=file_bytes(captions), actor=None)
    team = TeamFactory.create(competition=phase.track.competition)
    run = execute(send(phase, team, file_bytes(captions)).runs.get())
    assert (run.state, run.profile) == (ScoringRun.State.FINISHED, str(profile))
    assert run.final_score
