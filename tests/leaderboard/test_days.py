"""Who moved since the day began: ranks noted after midnight in Korea, shown on live boards of that day."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from malpan.competitions.models import Phase
from malpan.core.times import KST
from malpan.leaderboard import standings
from malpan.leaderboard.days import keep_ranks
from malpan.leaderboard.models import DayRanks
from malpan.leaderboard.selectors import board
from tests.factories import PhaseFactory, TeamFactory, finished_submission

pytestmark = pytest.mark.django_db

MIDNIGHT = datetime(2026, 11, 26, 0, 0, tzinfo=KST)
NIGHT, NOON = MIDNIGHT + timedelta(minutes=5), MIDNIGHT + timedelta(hours=12)


@pytest.fixture
def phase() -> Phase:
    """Three teams and a baseline, of which the ranks were noted in the night."""
    phase: Phase = PhaseFactory.create(
        starts_at=MIDNIGHT - timedelta(days=3), ends_at=MIDNIGHT + timedelta(days=3, hours=1)
    )
    for name, score in (("가", 0.8), ("나", 0.6), ("다", 0.4), ("기준", 0.7)):
        team = TeamFactory.create(competition=phase.track.competition, name=name, is_baseline=name == "기준")
        finished_submission(phase, team, score, created_at=MIDNIGHT - timedelta(hours=9))
    standings.refresh(phase)
    keep_ranks(NIGHT)
    return phase


def moved(phase: Phase, now: datetime = NOON, **reader: object) -> list[tuple[str, int | None, int | None, bool]]:
    found = board(phase, now=now, **reader)
    return [(row.team_name, row.rank, row.rank_before, row.is_new) for row in found.rows]


def test_ranks_are_compared_with_those_of_the_start_of_the_day(phase: Phase) -> None:
    third = phase.track.competition.teams.get(name="다")
    finished_submission(phase, third, 0.9, created_at=MIDNIGHT + timedelta(hours=2))
    new = TeamFactory.create(competition=phase.track.competition, name="라")
    finished_submission(phase, new, 0.5, created_at=MIDNIGHT + timedelta(hours=3))
    assert moved(phase) == [
        ("다", 1, 3, False),
        ("가", 2, 1, False),
        ("기준", None, None, False),
        ("나", 3, 2, False),
        ("라", 4, None, True),
    ]
    assert board(phase, now=NOON, viewer_team=third).own_row.rank_before == 3


def test_they_are_noted_once_a_day(phase: Phase, django_assert_num_queries) -> None:
    third = phase.track.competition.teams.get(name="다")
    finished_submission(phase, third, 0.9, created_at=NIGHT)
    standings.refresh(phase)
    with django_assert_num_queries(1):
        keep_ranks(NIGHT + timedelta(minutes=1))
    assert moved(phase)[0] == ("다", 1, 3, False)
    keep_ranks(NIGHT + timedelta(days=1))
    assert moved(phase, NOON + timedelta(days=1))[0] == ("다", 1, 1, False)


def test_ranks_of_another_day_or_hour_are_not_told_as_those_of_yesterday(phase: Phase) -> None:
    """A site that was down at midnight, or a board whose first score came at noon."""
    assert moved(phase, NOON + timedelta(days=1))[0] == ("가", 1, None, False)
    keep_ranks(NOON + timedelta(days=1))
    assert DayRanks.objects.get(phase=phase).ranks == {}
    assert moved(phase, NOON + timedelta(days=1))[0] == ("가", 1, None, False)


def test_a_frozen_board_does_not_move(phase: Phase) -> None:
    Phase.objects.update(board=Phase.Board.FROZEN, frozen_at=MIDNIGHT - timedelta(hours=1))
    phase.refresh_from_db()
    assert moved(phase)[0] == ("가", 1, None, False)
    assert moved(phase, for_organiser=True)[0] == ("가", 1, 1, False)


def test_a_phase_that_is_over_is_noted_to_the_end_of_its_last_day(phase: Phase) -> None:
    last = MIDNIGHT + timedelta(days=3)
    keep_ranks(last + timedelta(minutes=5))
    assert DayRanks.objects.get(phase=phase).day == last.date()
    keep_ranks(last + timedelta(days=1, minutes=5))
    assert DayRanks.objects.get(phase=phase).day == last.date()
