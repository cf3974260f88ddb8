"""A rubric is made in versions; a version is never changed, and one that says nothing new is refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from malpan.arena.errors import RubricInvalid, RubricUnchanged
from malpan.arena.models import Rubric
from malpan.arena.rubrics import create_rubric
from malpan.competitions.errors import ManageNotFound, NotAllowed
from malpan.core.messages import text_of
from malpan.core.models import AuditEntry
from tests.arena.conftest import CRITERIA, REASONS, World
from tests.factories import UserFactory, person_in

pytestmark = pytest.mark.django_db

SOUND: dict[str, Any] = {"title_ko": "기준", "guideline_ko": "읽습니다."}


def test_versions_are_numbered_in_their_track(world: World) -> None:
    first = world.rubric()
    second = world.rubric(guideline_ko="천천히 읽습니다.")
    assert [first.number, second.number] == [1, 2]
    assert first.criteria[0] == {**CRITERIA[0], "anchors": {}}
    entry = AuditEntry.objects.filter(action="rubric.create").latest("pk")
    assert entry.after == {"number": 2, "criteria": 2, "reasons": 1}
    assert entry.competition_pk == world.competition.pk


def test_a_version_that_says_the_same_is_refused(world: World) -> None:
    world.rubric()
    with pytest.raises(RubricUnchanged):
        world.rubric(title_ko="  기준표 ")


def test_the_database_refuses_to_change_a_version(world: World) -> None:
    rubric = world.rubric()
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        Rubric.objects.filter(pk=rubric.pk).update(title_ko="다른 기준")
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        rubric.delete()


def test_only_who_may_manage_makes_one(world: World) -> None:
    with pytest.raises(ManageNotFound):
        create_rubric(track=world.track, actor=UserFactory.create(), **SOUND)
    viewer = person_in(world.competition, "operator")
    with pytest.raises(NotAllowed):
        create_rubric(track=world.track, actor=viewer, **SOUND)


def criterion(**values: Any) -> dict[str, Any]:
    return {**CRITERIA[0], **values}


@pytest.mark.parametrize(
    ("values", "reason", "field"),
    [
        ({"title_ko": " "}, "title", "title_ko"),
        ({"title_en": "x" * 121}, "title", "title_ko"),
        ({"guideline_ko": ""}, "guideline", "guideline_ko"),
        ({"guideline_en": "x" * 50_001}, "guideline_long", "guideline_en"),
        ({"criteria": "fluency"}, "criteria_form", "criteria"),
        ({"criteria": ["fluency"]}, "criteria_form", "criteria"),
        ({"criteria": [criterion(key=f"k{number}") for number in range(13)]}, "criteria_many", "criteria"),
        ({"criteria": [criterion(key="Fluency")]}, "key", "criteria"),
        ({"criteria": [criterion(key=None)]}, "key", "criteria"),
        ({"criteria": [criterion(), criterion()]}, "key_twice", "criteria"),
        ({"criteria": [criterion(label_ko="")]}, "label", "criteria"),
        ({"criteria": [criterion(low=5)]}, "scale", "criteria"),
        ({"criteria": [criterion(high=101)]}, "scale", "criteria"),
        ({"criteria": [criterion(low=1.5)]}, "scale", "criteria"),
        ({"criteria": [criterion(low=True)]}, "scale", "criteria"),
        ({"criteria": [criterion(weight=0)]}, "weight", "criteria"),
        ({"criteria": [criterion(anchors={"6": {"ko": "높음"}})]}, "anchor", "criteria"),
        ({"criteria": [criterion(anchors={"x": {"ko": "높음"}})]}, "anchor", "criteria"),
        ({"criteria": [criterion(anchors=["높음"])]}, "anchor", "criteria"),
        ({"criteria": [criterion(anchors={"1": {"ko": "x" * 501}})]}, "anchor", "criteria"),
        ({"reasons": [{"key": "a b"}]}, "key", "reasons"),
        ({"reasons": [3]}, "reasons_form", "reasons"),
        ({"reasons": [{"key": "ok"}]}, "label", "reasons"),
    ],
)
def test_what_is_wrong_is_said_with_its_field(world: World, values: dict[str, Any], reason: str, field: str) -> None:
    with pytest.raises(RubricInvalid) as caught:
        create_rubric(track=world.track, actor=world.owner, **(SOUND | values))
    assert (caught.value.params["reason"], caught.value.field) == (reason, field)
    assert "%(" not in text_of(caught.value)
    assert not Rubric.objects.exists()


def test_anchors_are_kept_in_the_order_of_the_scale_and_empty_ones_dropped(world: World) -> None:
    anchors = {"5": {"ko": "  매우 좋음 ", "en": ""}, "1": {"ko": "나쁨"}, "3": {"ko": ""}}
    rubric = world.rubric(criteria=[criterion(anchors=anchors)], reasons=REASONS)
    assert list(rubric.criteria[0]["anchors"].items()) == [
        ("1", {"ko": "나쁨", "en": ""}),
        ("5", {"ko": "매우 좋음", "en": ""}),
    ]
