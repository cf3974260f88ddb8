"""Institutions under different names: the same ones bar by themselves, near ones are asked about before the opening."""

from __future__ import annotations

import pytest

from malpan.arena.bars import bars_of
from malpan.arena.institutions import institution_key, is_same, may_be_same
from malpan.arena.invitations import invite_judge
from malpan.arena.near import near_pairs
from malpan.arena.opening import open_campaign, preview_design
from malpan.arena.votes_file import institution_groups
from tests.arena.conftest import World

NEAR = [
    ("국립국어원", "국어원"),
    ("서울대", "서울대학교"),
    ("한국대학교", "한국대학교 병원"),
    ("한국대학교", "한국대 AI연구소"),
    ("서울대학교", "서울대병원"),
    ("한국대학교 병원", "한국대 AI연구소"),
    ("이화여대", "이화여자대학교"),
    ("한양대학교", "한양대학교 산학협력단"),
    ("네이버", "(주)네이버클라우드"),
    ("한국전자통신연구원", "한국전자통신연구소"),
    ("Kakao Corp.", "Kakao Brain"),
    ("Malpan Labs", "Malpam Labs"),
]
FAR = [
    ("서울대", "서울시립대"),
    ("경북대", "경남대"),
    ("전남대학교", "전북대학교"),
    ("네이버", "카카오"),
    ("부산대학교", "부산교육대학교"),
    ("연세대학교", "한양대학교"),
    ("MIT", "MIA"),
    ("현대자동차", "현대백화점"),
    ("서울대병원", "서울시립대병원"),
    ("", "국립국어원"),
    ("", ""),
]


@pytest.mark.parametrize(("one", "other"), NEAR)
def test_names_that_look_alike_are_asked_about_and_are_not_the_same(one: str, other: str) -> None:
    assert may_be_same(one, other)
    assert may_be_same(other, one)
    assert not is_same(one, other)


@pytest.mark.parametrize(("one", "other"), FAR)
def test_names_of_others_are_not_asked_about(one: str, other: str) -> None:
    assert not may_be_same(one, other)
    assert not may_be_same(other, one)
    assert not is_same(one, other)


def test_one_name_written_twice_is_no_question() -> None:
    assert is_same("㈜ 말판", "말판")
    assert is_same("말\u200b판", "말판"), "copied from a document"
    assert not may_be_same("㈜ 말판", "말판")
    assert institution_key("Inc.") != "", "what is nothing but a form is still a name"


def test_the_groups_of_the_votes_file_are_by_the_names_that_bar(world: World) -> None:
    campaign = world.draft_with("㈜말판", "주식회사 말판", "말판 Inc.", "국어원", "")
    judges = list(campaign.judges.order_by("pk"))
    for number, judge in enumerate(judges, start=1):
        judge.design_label = judge.label = f"J{number}"
        judge.save()
    groups = institution_groups(campaign)
    assert [groups[judge.pk] for judge in judges] == ["G1", "G1", "G1", "G2", ""]


def test_a_near_institution_is_shown_before_the_opening_and_bars_nobody(world: World) -> None:
    campaign = world.draft_with("국어원", "㈜카카오", "서울대")
    given = {1: "국립국어원", 2: "카카오", 3: "서울대학교", 4: "다른 곳"}
    for row in campaign.systems.select_related("submission__team"):
        row.institution = given[row.submission.team.number]
        row.save()
    near = preview_design(campaign=campaign).near
    assert [(each.judge.institution, each.system.institution) for each in near] == [
        ("국어원", "국립국어원"), ("서울대", "서울대학교"),
    ]  # fmt: skip
    first = campaign.judges.order_by("pk")[0]
    first.declared_teams = first.barred_teams = [1]  # by an organiser
    first.save()
    assert [each.judge.institution for each in preview_design(campaign=campaign).near] == ["서울대"], "it is settled"


def test_opening_answers_what_was_asked_of_who_accepts_later(world: World) -> None:
    campaign = world.draft_with("다른 곳")
    campaign.systems.filter(submission__team__number=1).update(institution="한국대 AI연구소")
    tokens: list[str] = []
    invited = invite_judge(
        campaign=campaign, actor=world.owner, email="late@example.org", institution="한국대학교",
        link_for=lambda token: tokens.append(token) or f"https://malpan.example/{token}",
    )  # fmt: skip
    assert [each.judge for each in preview_design(campaign=campaign).near] == [invited]
    open_campaign(campaign=campaign, actor=world.owner)
    campaign.refresh_from_db()
    systems = list(campaign.systems.select_related("submission__team"))
    assert near_pairs(campaign, systems) == ()
    invited.refresh_from_db()
    assert invited.cleared_teams == [1]
    assert bars_of(invited, systems) == {}
