"""Names that a reader could take for one another have one look."""

from __future__ import annotations

import pytest

from malpan.competitions.models import Competition
from malpan.teams.errors import TeamNameTaken
from malpan.teams.looks import look
from malpan.teams.models import Team
from malpan.teams.services import create_team, rename_team
from tests.factories import CompetitionFactory, UserFactory


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("한글 1팀", "한글 １팀"),  # full-width digit
        ("Team", "Теаm"),
        ("ALPHA", "alpha"),
        ("Illinois", "lIlinois"),
        ("OCR 연구실", "0CR 연구실"),
        ("새벽반", "새벽 반"),
        ("한글", "\u1112\u1161\u11ab\u1100\u1173\u11af"),  # the same syllables in letters
        ("①조", "1조"),
        ("ＡＩ 말평", "AI 말평"),
    ],
)
def test_these_look_alike(name: str, other: str) -> None:
    assert look(name) == look(other)


@pytest.mark.parametrize(
    ("name", "other"),
    [("가나", "나가"), ("모음", "묘음"), ("1팀", "11팀"), ("1팀", "7팀"), ("말모이", "말모의"), ("人", "入")],
)
def test_these_do_not(name: str, other: str) -> None:
    assert look(name) != look(other)


@pytest.mark.django_db
def test_a_team_cannot_take_a_name_that_looks_like_another_ones() -> None:
    competition: Competition = CompetitionFactory.create()
    create_team(competition=competition, name="한글 1팀", leader=UserFactory.create())
    with pytest.raises(TeamNameTaken):
        create_team(competition=competition, name="한글１ 팀", leader=UserFactory.create())
    other = create_team(competition=competition, name="한글 2팀", leader=UserFactory.create())
    with pytest.raises(TeamNameTaken):
        rename_team(team=other, name="한글 l팀", actor=UserFactory.create(is_superuser=True))
    rename_team(team=other, name="한글 3팀", actor=UserFactory.create(is_superuser=True))
    assert Team.objects.get(pk=other.pk).name_look == look("한글 3팀")
    create_team(competition=CompetitionFactory.create(), name="한글 1팀", leader=UserFactory.create())
