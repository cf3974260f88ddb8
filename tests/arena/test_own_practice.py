"""Practice items that an organiser writes: what is wrong in a file is told by its place; judges see them first."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from malpan.arena.errors import CampaignOpened, PracticeInvalid
from malpan.arena.feedback import feedback_of
from malpan.arena.judges import consent_version_of
from malpan.arena.judging import judge_assignment
from malpan.arena.models import Assignment, Campaign
from malpan.arena.opening import open_campaign
from malpan.arena.own_practice import read_practice, remove_practice, set_practice
from malpan.arena.queue import next_assignment, texts_of
from malpan.arena.votes_file import votes_of
from malpan.competitions.errors import ManageNotFound
from malpan.core.models import AuditEntry
from tests.arena.conftest import World
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
EXPECTED: dict[str, Any] = {
    "pairwise": {"choice": ["first", "tie"]},
    "rubric": {"scores": {"fluency": [1, 2], "accuracy": 1}},
    "ranking": {"ranks": [1, 2, 2]},
    "errors": {"score": [0, 40]},
}
GROUPS = {"pairwise": 2, "rubric": 1, "ranking": 3, "errors": 1}
RIGHT: dict[str, Any] = {
    "pairwise": {"choice": "tie", "reasons": []},
    "rubric": {"scores": {"fluency": 2, "accuracy": 1}},
    "ranking": {"ranks": [1, 2, 2]},
    "errors": {"score": 40, "spans": []},
}
WRONG: dict[str, Any] = {
    "pairwise": {"choice": "second", "reasons": []},
    "rubric": {"scores": {"fluency": 3, "accuracy": 1}},
    "ranking": {"ranks": [2, 1, 2]},
    "errors": {"score": 41, "spans": []},
}


def item(protocol: str = "pairwise", **changes: Any) -> dict[str, Any]:
    return {
        "input": "무엇이 옳은가?",
        "reference": "맞히다",
        "outputs": [f"연습 출력 {number}" for number in range(1, GROUPS[protocol] + 1)],
        "expected": EXPECTED[protocol],
        "feedback_ko": "첫째는 규정을 들어 설명합니다.",
        "feedback_en": "The first one gives the rule.",
    } | changes


def file_of(*items: Any) -> bytes:
    return json.dumps(items, ensure_ascii=False).encode()


def problems(campaign: Campaign, data: bytes) -> list[tuple[str, int, str]]:
    with pytest.raises(PracticeInvalid) as refused:
        read_practice(data, campaign)
    assert all(each.text for each in refused.value.problems)
    return [(each.code, each.item, each.place) for each in refused.value.problems]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"outputs": ["하나"]}, [("outputs", 2, "outputs")]),
        ({"outputs": ["하나", 2]}, [("text", 2, "outputs[1]")]),
        ({"outputs": ["하나", " "]}, [("empty", 2, "outputs[1]")]),
        ({"outputs": ["하나", "x" * 20_001]}, [("long", 2, "outputs[1]")]),
        ({"input": ""}, [("empty", 2, "input")]),
        ({"feedback_ko": None}, [("text", 2, "feedback_ko")]),
        ({"feedback_ko": ""}, [("empty", 2, "feedback_ko")]),
        ({"hint": "x"}, [("unknown", 2, "hint")]),
        ({"expected": {"ranks": [1, 2]}}, [("expected", 2, "expected")]),
        ({"expected": {"choice": "left"}}, [("choice", 2, "expected.choice")]),
        ({"expected": {"choice": []}}, [("choice", 2, "expected.choice")]),
        ({"input": 3, "expected": 1}, [("text", 2, "input"), ("expected", 2, "expected")]),
    ],
)
def test_every_fault_is_told_with_its_item_and_place(world: World, changes: dict, found: list) -> None:
    assert problems(world.campaign(), file_of(item(), item(**changes))) == found


def test_a_file_that_is_no_list_of_items_is_told_with_its_line(world: World) -> None:
    campaign = world.campaign()
    with pytest.raises(PracticeInvalid) as refused:
        read_practice(b'[\n {"input": }\n]', campaign)
    assert "2행 12열" in refused.value.problems[0].text
    assert problems(campaign, b"\xff") == [("utf8", 0, "")]
    assert problems(campaign, b"{}") == [("array", 0, "")] == problems(campaign, b"[]")
    assert problems(campaign, file_of(*[item()] * 21)) == [("many", 0, "")]
    assert problems(campaign, file_of(3)) == [("object", 1, "")]
    many = [item(input="", feedback_ko="") for _number in range(20)]
    with pytest.raises(PracticeInvalid) as refused:
        read_practice(file_of(*many), campaign)
    assert (len(refused.value.problems), refused.value.params["count"]) == (20, 40)


@pytest.mark.parametrize(
    ("protocol", "expected", "place"),
    [
        ("rubric", {"scores": {"fluency": 6}}, "expected.scores.fluency"),
        ("rubric", {"scores": {"fluency": [3, 2]}}, "expected.scores.fluency"),
        ("rubric", {"scores": {"style": 1}}, "expected.scores"),
        ("ranking", {"ranks": [1, 3, 3]}, "expected.ranks"),
        ("ranking", {"ranks": [1, 2]}, "expected.ranks"),
        ("errors", {"score": 101}, "expected.score"),
        ("errors", {"score": True}, "expected.score"),
    ],
)
def test_what_is_expected_must_be_a_judgement_of_the_protocol(world: World, protocol: str, expected, place) -> None:
    campaign = world.campaign(protocol=protocol, group_size=GROUPS[protocol])
    assert [place] == [each[2] for each in problems(campaign, file_of(item(protocol, expected=expected)))]


@pytest.mark.parametrize("protocol", list(EXPECTED))
def test_judges_see_them_first_in_the_order_of_the_file_and_read_the_feedback(world: World, protocol: str) -> None:
    campaign = world.ready(2, protocol=protocol, group_size=GROUPS[protocol], calibration_count=3)
    set_practice(campaign=campaign, actor=world.owner, data=file_of(item(protocol), item(protocol, input="둘째 문항")))
    campaign = open_campaign(campaign=Campaign.objects.get(pk=campaign.pk), actor=world.owner)
    campaign.judges.update(consent_version=consent_version_of(campaign))

    for judge in campaign.judges.all():
        for number, (value, was_expected) in enumerate([(RIGHT, True), (WRONG, False)]):
            row = next_assignment(judge=judge, actor=judge.user)
            assert row is not None
            assert row.kind == Assignment.Kind.CALIBRATION
            assert texts_of(row) == item(protocol)["outputs"]
            assert row.item.input_text == ("무엇이 옳은가?", "둘째 문항")[number]
            made = judge_assignment(assignment=row, actor=judge.user, value=value[protocol])
            assert feedback_of(row, made.value) == (was_expected, "첫째는 규정을 들어 설명합니다.")
        after = next_assignment(judge=judge, actor=judge.user)
        assert after is not None
        assert after.kind != Assignment.Kind.CALIBRATION
    assert campaign.items.filter(kind="calibration").count() == 2
    assert votes_of(campaign).votes == ()


def test_they_may_be_taken_back_until_the_opening_and_are_in_the_audit_log(world: World) -> None:
    campaign = world.ready(2)
    set_practice(campaign=campaign, actor=world.owner, data=file_of(item()))
    remove_practice(campaign=campaign, actor=world.owner)
    entries = AuditEntry.objects.filter(action="campaign.set_practice").order_by("pk")
    assert [(each.before, each.after) for each in entries] == [
        ({"items": 0}, {"items": 1}),
        ({"items": 1}, {"items": 0}),
    ]
    opened = open_campaign(campaign=Campaign.objects.get(pk=campaign.pk), actor=world.owner)
    assert opened.items.filter(kind="calibration").count() == opened.calibration_count
    with pytest.raises(CampaignOpened):
        set_practice(campaign=opened, actor=world.owner, data=file_of(item()))
    with pytest.raises(ManageNotFound):
        set_practice(campaign=opened, actor=UserFactory.create(), data=file_of(item()))


def test_practice_of_another_protocol_stops_the_opening_and_the_page_says_why(world: World, client) -> None:
    campaign = world.ready(2)
    set_practice(campaign=campaign, actor=world.owner, data=file_of(item()))
    Campaign.objects.filter(pk=campaign.pk).update(protocol="rubric", group_size=1)
    changed = Campaign.objects.get(pk=campaign.pk)
    with pytest.raises(PracticeInvalid):
        open_campaign(campaign=changed, actor=world.owner)
    client.force_login(world.owner)
    page = client.get(reverse("manage_campaign_practice", args=[world.competition.slug, campaign.pk]))
    assert "맞지 않습니다" in page.content.decode()
    assert "outputs" in page.content.decode()


def test_the_page_takes_a_file_shows_it_and_names_every_fault(world: World, client) -> None:
    campaign = world.ready(2)
    client.force_login(world.owner)
    at = reverse("manage_campaign_practice", args=[world.competition.slug, campaign.pk])
    assert "규칙으로 만듭니다" in client.get(at).content.decode()

    wrong = client.post(at, {"file": SimpleUploadedFile("p.json", file_of(item(), item(input="")))})
    assert wrong.status_code == 422
    assert "비어 있습니다" in wrong.content.decode()
    assert client.post(at, {"file": SimpleUploadedFile("p.json", b"")}).status_code == 422
    taken = client.post(at, {"file": SimpleUploadedFile("p.json", file_of(item(outputs=["<b>가</b>", "나"])))})
    assert taken.status_code == 302

    page = client.get(at).content.decode()
    assert "&lt;b&gt;가&lt;/b&gt;" in page
    assert "첫째, 비김" in page
    assert "첫째는 규정을 들어 설명합니다." in page
    removed = client.post(reverse("manage_campaign_practice_remove", args=[world.competition.slug, campaign.pk]))
    assert removed.status_code == 302
    assert Campaign.objects.get(pk=campaign.pk).practice == []
