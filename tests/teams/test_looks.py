"""Names that a reader could take for one another have one look."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps

from malpan.competitions.models import Competition
from malpan.core.messages import text_of
from malpan.teams.errors import TeamNameInvalid, TeamNameTaken
from malpan.teams.looks import LOOK_MAX_CHARS, look
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
        ("말판", "말\u3164판"),  # invisible: also of a name that was taken before they were refused
        ("❤\ufe0f 팀", "❤ 팀"),
        ("Learning", "Leaming"),
        ("LEARN", "leam"),
        ("modem", "rnodern"),
        ("modem", "modern"),  # two words, and one look: the price
        ("Cæsar", "Caesar"),
    ],
)
def test_these_look_alike(name: str, other: str) -> None:
    assert look(name) == look(other)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("rn", "nr"),
        ("learn", "leam팀"),
        ("말글 LM", "말글 LN"),
        ("DeepText", "Deep7ext"),
        ("까치", "가치"),
        ("꽃", "곳"),
        ("해솔", "하솔"),
        *[("가나", "나가"), ("모음", "묘음"), ("1팀", "11팀"), ("1팀", "7팀"), ("말모이", "말모의"), ("人", "入")],
    ],
)
def test_these_do_not(name: str, other: str) -> None:
    assert look(name) != look(other)


def test_the_longest_name_has_a_look_that_fits() -> None:
    long, other = "\ufdfa" * 60, "\ufdfa" * 59 + "가"  # 18 letters each
    assert len(look(long)) <= LOOK_MAX_CHARS
    assert look(long) != look(other)


@pytest.mark.django_db
def test_a_name_of_ligatures_is_taken() -> None:
    create_team(competition=CompetitionFactory.create(), name="\ufdfa" * 60, leader=UserFactory.create())


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


@pytest.mark.django_db
@pytest.mark.parametrize("character", "\u3164\u115f\u1160\uffa0\u034f\ufe0f\U000e0100\u2800\u180b\u17b4")
def test_a_name_with_an_invisible_character_is_refused_and_says_why(character: str) -> None:
    competition: Competition = CompetitionFactory.create()
    with pytest.raises(TeamNameInvalid) as refused:
        create_team(competition=competition, name=f"말{character}판", leader=UserFactory.create())
    assert "눈에 보이지 않는 글자 없이" in text_of(refused.value)
    assert create_team(competition=competition, name="말판 ❤\ufe0f", leader=UserFactory.create()).pk


@pytest.mark.django_db
def test_looks_of_before_are_computed_again_and_those_that_are_two_stay_two() -> None:
    competition: Competition = CompetitionFactory.create()
    names = ("Learning", "Leaming", "누리")
    teams = [Team(competition=competition, name=name, number=place) for place, name in enumerate(names, start=1)]
    for team in teams:
        team.save()
        Team.objects.filter(pk=team.pk).update(name_look=team.name)  # not as it is computed now
    migration = import_module("malpan.teams.migrations.0004_looks")
    migration.look_again(apps, None)
    looks = [Team.objects.get(pk=team.pk).name_look for team in teams]
    assert looks == [look("Learning"), f"{look('Leaming')} {teams[1].pk}", look("누리")]
    with pytest.raises(TeamNameTaken):
        create_team(competition=competition, name="learning", leader=UserFactory.create())
