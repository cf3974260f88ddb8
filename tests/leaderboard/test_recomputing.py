"""Which stored rows are not what the live results give: in each phase for itself, and what is due is none."""

from __future__ import annotations

import pytest
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.leaderboard import standings
from malpan.leaderboard.models import Standing, StandingMark
from malpan.leaderboard.recomputing import differing
from malpan.submissions.models import ScoringRun
from malpan.teams.models import Team
from tests.factories import PhaseFactory, TeamFactory, finished_submission

pytestmark = pytest.mark.django_db
COMPOSITE = [{"score": "final_score", "weight": 45}, {"score": "bleurt", "weight": 45}]


def scored(phase: Phase) -> list[Team]:
    """Three teams with a score each, whose rows are stored."""
    teams = TeamFactory.create_batch(3, competition=phase.track.competition)
    for team, score in zip(teams, (0.1, 0.2, 0.4), strict=True):
        finished_submission(phase, team, score, scores={"bleurt": 1 - score**2})
    standings.refresh(phase)
    return teams


def teams_of(rows: list[Standing]) -> list[int]:
    return [row.team_id for row in rows]


@pytest.fixture
def phase() -> Phase:
    return PhaseFactory.create()


@pytest.fixture
def other(phase: Phase) -> Phase:
    """Another phase of the same track."""
    return PhaseFactory.create(track=phase.track)


def test_a_changed_a_missing_and_a_foreign_row_are_each_found(phase: Phase) -> None:
    first, second, third = scored(phase)
    assert differing(phase) == []
    Standing.objects.filter(phase=phase, team=first).update(final_score=0.9)
    Standing.objects.filter(phase=phase, team=second).delete()
    Standing.objects.filter(phase=phase, team=third).update(signature_hash="another")
    assert teams_of(differing(phase)) == [first.pk, second.pk, third.pk, third.pk], "of the third both rows"


def test_rows_and_marks_of_another_phase_are_no_matter(phase: Phase, other: Phase) -> None:
    [first, _second, _third] = scored(phase)
    scored(other)
    StandingMark.objects.create(phase=other)
    StandingMark.objects.create(phase=other, team=first)
    assert differing(phase) == []
    Standing.objects.filter(phase=phase, team=first).update(final_score=0.9)
    assert teams_of(differing(phase)) == [first.pk]


def test_nothing_differs_where_all_is_due(phase: Phase) -> None:
    scored(phase)
    Standing.objects.filter(phase=phase).delete()
    StandingMark.objects.create(phase=phase)
    assert differing(phase) == []


def test_a_team_that_is_due_moves_the_composites_of_the_others_which_are_due_too(phase: Phase) -> None:
    phase.track.composite = COMPOSITE
    phase.track.save()
    first, second, third = scored(phase)
    assert differing(phase) == []
    before = [(row.key, row.composite) for row in Standing.objects.filter(team=second)]
    ScoringRun.objects.filter(submission__team=third).update(final_score=0.15, finished_at=timezone.now())
    assert set(StandingMark.objects.filter(phase=phase).values_list("team", flat=True)) == {third.pk}
    assert differing(phase) == []

    Standing.objects.filter(phase=phase, team=first).update(final_score=0.9)
    assert teams_of(differing(phase)) == [first.pk], "what is no composite is compared all the same"
    Standing.objects.filter(phase=phase, team=first).update(final_score=0.1)

    standings.refresh(phase)
    assert [(row.key, row.composite) for row in Standing.objects.filter(team=second)] != before
    assert differing(phase) == []
    Standing.objects.filter(phase=phase, team=second).update(key=before[0][0])
    assert teams_of(differing(phase)) == [second.pk], "where nothing is due composites are compared"
