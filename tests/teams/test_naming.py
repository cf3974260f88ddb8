"""What teams are called while names are blind."""

from datetime import timedelta

import pytest
from django.utils import timezone, translation

from malpan.competitions.selectors import is_blind
from malpan.teams.models import Team
from malpan.teams.naming import public_note, shown_name
from tests.factories import CompetitionFactory, PhaseFactory

OWN = Team(pk=1, number=3, name="우리")
OTHER = Team(pk=2, number=17, name="남의 팀")
BASELINE = Team(pk=3, number=4, name="기준", is_baseline=True)


def test_another_team_goes_by_its_number_while_names_are_blind():
    assert shown_name(OTHER, viewer_team=OWN, is_blind=True) == "참가팀 17"
    assert shown_name(OTHER, viewer_team=None, is_blind=True) == "참가팀 17"


@pytest.mark.parametrize(
    ("team", "viewer", "is_blind", "sees_all"),
    [(OWN, OWN, True, False), (BASELINE, None, True, False), (OTHER, None, True, True), (OTHER, None, False, False)],
)
def test_own_team_baselines_and_everything_for_organisers_keep_their_names(team, viewer, is_blind, sees_all):
    assert shown_name(team, viewer_team=viewer, is_blind=is_blind, sees_all=sees_all) == team.name


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("has_blind_names", "starts", "ends", "expected"),
    [(True, -1, 1, True), (False, -1, 1, False), (True, -2, -1, False), (True, 1, 2, False)],
)
def test_names_are_blind_only_while_a_phase_is_open(has_blind_names, starts, ends, expected):
    now = timezone.now()
    competition = CompetitionFactory.create(has_blind_names=has_blind_names)
    PhaseFactory.create(
        track__competition=competition, starts_at=now + timedelta(days=starts), ends_at=now + timedelta(days=ends)
    )

    assert is_blind(competition, now) is expected


@pytest.mark.django_db
def test_names_are_shown_from_the_very_end_of_the_phase():
    phase = PhaseFactory.create(track__competition=CompetitionFactory.create(has_blind_names=True))

    assert is_blind(phase.track.competition, phase.starts_at)
    assert not is_blind(phase.track.competition, phase.ends_at)


def test_public_note_is_english_where_asked_for_and_written():
    team = Team(disqualification_note_ko="규정 위반", disqualification_note_en="Broke a rule")

    with translation.override("en"):
        assert public_note(team) == "Broke a rule"
        assert public_note(Team(disqualification_note_ko="규정 위반")) == "규정 위반"
    with translation.override("ko"):
        assert public_note(team) == "규정 위반"
