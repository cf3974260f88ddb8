"""A demo judge, a phase whose profile names it, and a team."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from malpan.competitions.models import Phase
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.teams.models import Team
from scoring.judging.demo import DemoJudge
from tests.factories import PhaseFactory, TeamFactory
from tests.scoring.judging.toys import demo_judge, profile_for
from tests.submissions.evaluation.judging.judged import references


@pytest.fixture
def server() -> Iterator[DemoJudge]:
    with demo_judge() as running:
        yield running


@pytest.fixture
def profile(tmp_path: Path, server: DemoJudge) -> Path:
    return profile_for(tmp_path / "judged.toml", server.url)


@pytest.fixture
def phase(profile: Path, rings: list[str]) -> Phase:
    made = PhaseFactory.create(track__recipe="essay-scoring@1", track__profile=str(profile))
    publish_reference_version(phase=made, data=references(), actor=None)
    return made


@pytest.fixture
def team(phase: Phase) -> Team:
    return TeamFactory.create(competition=phase.track.competition)
