"""Composites in the standings: of one phase, one scope and one signature, and where they take long."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.leaderboard import composing, standings
from malpan.leaderboard.models import Standing
from malpan.leaderboard.selectors import board
from malpan.teams.models import Team
from tests.composite_boards import RECIPE, by_loops, install, values
from tests.factories import PhaseFactory, TeamFactory, finished_submission

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase(monkeypatch: pytest.MonkeyPatch) -> Phase:
    install(monkeypatch)
    return PhaseFactory.create(track__recipe=RECIPE, counting=Phase.Counting.LATEST)


@pytest.fixture
def teams(phase: Phase) -> list[Team]:
    return TeamFactory.create_batch(3, competition=phase.track.competition)


def agrees(phase: Phase) -> bool:
    """Whether the board is as plain loops over all rows say."""
    rows: list[Any] = list(board(Phase.objects.select_related("track__competition").get(pk=phase.pk)).rows)
    expected = by_loops(phase)
    assert [(row.rank, row.team_id, row.submission.pk) for row in rows] == [row[:3] for row in expected]
    assert [row.composite.value for row in rows] == pytest.approx([row[3] for row in expected], abs=1e-12)
    return bool(rows)


def test_a_team_has_a_composite_in_every_phase_for_itself(phase: Phase, teams: list[Team]) -> None:
    other = PhaseFactory.create(track=phase.track, counting=Phase.Counting.LATEST)
    for number, team in enumerate(teams):
        finished_submission(phase, team, 0.5, scores=values(number / 10, 0.5, 0.5))
        finished_submission(other, team, 0.5, scores=values(0.9 - number / 10, number / 10, 0.2))
    assert agrees(phase)
    assert agrees(other)
    finished_submission(phase, teams[2], 0.5, scores=values(-0.1, 0.9, 0.4))
    assert agrees(phase)
    assert agrees(other)


def test_what_comes_after_the_freezing_changes_no_frozen_composite(phase: Phase, teams: list[Team]) -> None:
    now = timezone.now()
    for number, team in enumerate(teams):
        scores = values(number / 10, 0.5, 0.5)
        finished_submission(phase, team, 0.5, scores=scores, created_at=now - timedelta(hours=2))
    Phase.objects.filter(pk=phase.pk).update(board="frozen", frozen_at=now - timedelta(hours=1))
    standings.refresh(phase)

    def stored(scope: str) -> dict[int, float]:
        rows = Standing.objects.filter(phase=phase, scope=scope)
        return {row.team_id: row.composite["value"] for row in rows}

    before = stored("frozen")
    finished_submission(phase, teams[2], 0.5, scores=values(-0.1, 0.9, 0.9))
    standings.refresh(phase)
    assert stored("frozen") == before
    assert max(stored("live"), key=stored("live").__getitem__) == teams[2].pk != max(before, key=before.__getitem__)


def test_it_takes_long_where_more_than_many_rows_of_the_phase_have_composites(
    phase: Phase, teams: list[Team], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(composing, "MANY", 2)
    by_final_score = PhaseFactory.create()
    for number, team in enumerate(teams, start=1):
        finished_submission(phase, team, 0.5, scores=values(number / 10, 0.5))
        finished_submission(by_final_score, TeamFactory.create(competition=by_final_score.track.competition), 0.5)
        for each in (phase, by_final_score):
            standings.refresh(each)
        assert composing.takes_long(phase) == (number > 2)
    assert Standing.objects.filter(phase=by_final_score).count() == 3
    assert not composing.takes_long(by_final_score)
    assert not composing.takes_long(PhaseFactory.create(track=phase.track))
