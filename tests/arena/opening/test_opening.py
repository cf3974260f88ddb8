"""Opening: everything is frozen and blinded at one moment."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest

from malpan.accounts.models import User
from malpan.arena.design_rows import (
    QUEUE_START,
    design_sha256,
    drawn_queues_sha256,
    queues_of,
    recorded_queues_sha256,
    settings_of,
)
from malpan.arena.freezing import blinded, names_to_hide
from malpan.arena.models import Assignment, Campaign, CampaignItem, CampaignJudge, CampaignSystem, JudgeBar
from malpan.arena.opening import open_campaign, preview_design
from malpan.arena.systems import choose_systems, systems_of
from malpan.core.models import AuditEntry
from malpan.submissions.models import ChainEntry
from malpan.teams.models import Team
from malpan.teams.services import describe_model, rename_team
from scoring.arena.design import JudgeSpec, balance, plan
from scoring.arena.redrawing import queues_sha256
from tests.arena.conftest import NAMES, World, answer, make_world
from tests.arena.opening.conftest import rows_of
from tests.factories import TeamFactory, UserFactory, leader_of
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def test_items_are_frozen_as_they_were_answered(world: World, opened: Campaign) -> None:
    names = names_to_hide(opened, systems_of(opened))
    real = CampaignItem.objects.filter(campaign=opened, kind="real")
    assert sorted(row.label for row in real) == [f"I{number:04d}" for number in range(1, 13)]
    assert CampaignItem.objects.filter(campaign=opened, kind="calibration").count() == 2
    team_of = {row.label: row.submission.team.name for row in systems_of(opened)}
    for row in CampaignItem.objects.filter(campaign=opened):
        number = int(row.reference_id[1:])
        assert row.outputs == {label: blinded(answer(name, number), names) for label, name in team_of.items()}


def test_no_output_names_a_team_a_person_or_a_hidden_word(world: World, opened: Campaign) -> None:
    people = [leader_of(team).name for team in world.teams.values()]
    shown = [text for row in CampaignItem.objects.filter(campaign=opened) for text in row.outputs.values()]
    shown += [row.bad_text for row in rows_of(opened)]
    for name in (*NAMES, *people, "뜻풀이", "**", "답변:"):
        assert not [text for text in shown if name in text], name
    assert sum("〔가림〕" in text for text in shown) > 50


def test_everything_that_the_site_knows_of_a_team_is_hidden(world: World, opened: Campaign) -> None:
    """Its institution and earlier names, its models, who left it, and all teams that became a part of it, through
    others too.
    """
    systems = systems_of(opened)
    systems[0].institution = "한빛연구대학교"
    team = systems[0].submission.team
    earlier = team.name
    rename_team(team=team, name="새벽별", actor=world.owner)
    second = TeamFactory.create(competition=team.competition, name="둘째고래", merged_into=team)
    TeamFactory.create(competition=team.competition, name="셋째고래", merged_into=second, leader=person_named("소나무"))
    left = person_named("나그네")
    facts = {"action": "team.leave", "object_type": "teams.team", "object_id": str(second.pk)}
    AuditEntry.objects.create(actor=left, person=left, **facts)
    facts = {"model_size": "7B", "paper_url": ""}
    first = {"model_name": "산들바람 7B", "model_url": "https://huggingface.co/sandeul/sandeul-7b", **facts}
    describe_model(team=team, actor=world.owner, **first)
    now = {"model_name": "하늬바람", "model_url": "https://github.com/hanui/hanui-lm.git", **facts}
    describe_model(team=team, actor=world.owner, **now)
    Team.objects.filter(pk=second.pk).update(model_name="마파람", model_url="https://lab.example.com/llm/mapa")
    known = ["한빛연구대학교", earlier, "새벽별", "둘째고래", "셋째고래", "소나무", "나그네"]
    known += ["산들바람 7B", "sandeul-7b", "Sandeul/Sandeul-7B", "하늬바람", "hanui-lm", "마파람", "mapa"]

    shown = blinded(" 그리고 ".join(known), names_to_hide(opened, systems_of(opened)[1:] + systems[:1]))

    assert shown == " 그리고 ".join(["〔가림〕"] * len(known))


def test_a_model_that_is_called_as_any_model_hides_nothing(world: World, opened: Campaign) -> None:
    """A short name is hidden where it is a word, as that of a team is."""
    names = {1: "base", 2: "Base-v2 7B", 3: "달"}
    for number, name in names.items():
        url = "https://huggingface.co/model/baseline"
        Team.objects.filter(pk=world.teams[number].pk).update(model_name=name, model_url=url)
    Team.objects.filter(pk=world.teams[4].pk).update(model_name="솔 3")
    text = "The database of the base model: baseline, 7B. 달이 밝다. 솔3은 답했고 다솔3은 아니다."
    shown = blinded(text, names_to_hide(opened, systems_of(opened)))
    assert shown == text.replace(" 솔3", " 〔가림〕")


def person_named(name: str) -> User:
    return UserFactory.create(name=name)


def test_labels_do_not_follow_the_board_or_the_invitations(world: World) -> None:
    orders, invited = set(), set()
    for _round in range(6):
        campaign = world.opened(judges=4)
        orders.add(tuple(row.label for row in systems_of(campaign)))
        judges = CampaignJudge.objects.filter(campaign=campaign).order_by("pk")
        invited.add(tuple(row.design_label for row in judges))
        assert sorted(row.label for row in judges) == [""] * 4
    assert {tuple(sorted(order)) for order in orders} == {("S01", "S02", "S03", "S04")}
    assert len(orders) > 1
    assert {tuple(sorted(order)) for order in invited} == {("D01", "D02", "D03", "D04")}
    assert len(invited) > 1


def test_every_judge_has_practice_and_a_balanced_queue(opened: Campaign) -> None:
    rows = rows_of(opened)
    queues = queues_of(rows)
    figures = balance({judge: [queue[place] for place in sorted(queue)] for judge, queue in queues.items()})
    assert figures.assignments == 24  # 12 items in two groups of systems, one judge each
    assert figures.pairs[1] - figures.pairs[0] <= 1
    assert figures.loads == (8, 8)
    assert figures.controls == 3
    for judge in CampaignJudge.objects.filter(campaign=opened):
        own = [row for row in rows if row.judge_id == judge.pk]
        practice = [row for row in own if row.kind == "calibration"]
        assert [row.position for row in practice] == [1, 2]
        assert [row.position for row in own if row.kind != "calibration"] == [
            QUEUE_START + place for place in range(len(own) - 2)
        ]


def test_a_bad_output_is_another_text_in_its_place(opened: Campaign) -> None:
    bad = [row for row in rows_of(opened) if row.bad_index is not None]
    assert Counter(row.kind for row in bad) == {"control": 3, "calibration": 6}
    for row in bad:
        own = row.item.outputs[row.systems[row.bad_index or 0]]
        assert row.bad_text.strip()
        assert row.bad_text != own
    for item in CampaignItem.objects.filter(campaign=opened, kind="calibration"):
        assert item.expected is not None
        assert item.explanation_ko
        assert item.explanation_en
    assert len({item.explanation_ko for item in CampaignItem.objects.filter(campaign=opened)} - {""}) == 2


def test_repeats_turn_an_own_earlier_unit(world: World) -> None:
    campaign = world.opened(judges=1, item_count=20, calibration_count=0)
    repeats = [row for row in rows_of(campaign) if row.kind == "repeat"]
    assert len(repeats) >= 3
    for row in repeats:
        first = row.repeats
        assert first is not None
        assert (first.judge_id, first.item_id, first.kind) == (row.judge_id, row.item_id, "real")
        assert first.systems == row.systems[::-1]
        assert row.position - first.position >= 10


def test_bars_are_kept(world: World) -> None:
    campaign = world.ready(judges=4, item_count=20)
    member = world.judge(campaign, leader_of(world.teams[1]))
    colleague = world.judge(campaign, institution="한글  대학교")
    names = [row.submission.public_id for row in systems_of(campaign)]
    choose_systems(campaign=campaign, actor=world.owner, submissions=names, institutions={2: "한글대학교"})
    open_campaign(campaign=campaign, actor=world.owner)
    label_of = {row.submission.team.number: row.label for row in systems_of(campaign)}
    bars = {(bar.judge_id, bar.system.label, bar.reason) for bar in JudgeBar.objects.select_related("system")}
    assert bars == {(member.pk, label_of[1], "member"), (colleague.pk, label_of[2], "institution")}
    for judge, number in ((member, 1), (colleague, 2)):
        shown = {label for row in rows_of(campaign) if row.judge_id == judge.pk for label in row.systems}
        assert label_of[number] not in shown
        assert len(shown) == 3
    fresh = Campaign.objects.get(pk=campaign.pk)
    assert drawn_queues_sha256(fresh) == recorded_queues_sha256(fresh)
    CampaignJudge.objects.filter(pk=member.pk).update(barred_at_opening=[])
    assert drawn_queues_sha256(fresh) != recorded_queues_sha256(fresh)


def test_the_chain_has_the_design_and_names_nobody(world: World, opened: Campaign) -> None:
    committed, step = ChainEntry.objects.filter(kind="arena").order_by("number")
    assert step.payload == {
        "track": world.track.slug,
        "campaign": 1,
        "event": "opened",
        "protocol": "pairwise",
        "rubric": 1,
        "seed_sha256": committed.payload["seed_sha256"],
        "systems": 4,
        "items": 12,
        "judges": 3,
        "assignments": len(rows_of(opened)),
        "design_sha256": design_sha256(rows_of(opened)),
        "queues_sha256": drawn_queues_sha256(opened),
    }
    judges = User.objects.filter(campaign_judges__campaign=opened)
    entry = AuditEntry.objects.get(action="campaign.open")
    for written in (str(step.payload), str(entry.after)):
        assert opened.seed not in written
        assert not [person for person in judges if person.email in written or person.name in written]


def test_the_design_can_be_drawn_again_from_the_seed(world: World, opened: Campaign) -> None:
    before = queues_of(rows_of(opened))
    labels = dict(CampaignJudge.objects.filter(campaign=opened).values_list("pk", "design_label"))
    settings = Campaign.objects.get(pk=opened.pk)
    items = sorted(CampaignItem.objects.filter(campaign=opened, kind="real").values_list("label", flat=True))
    systems = sorted(CampaignSystem.objects.filter(campaign=opened).values_list("label", flat=True))
    again = plan(items, systems, [JudgeSpec(label) for label in labels.values()], settings_of(settings), opened.seed)
    assert {judge: dict(enumerate(queue)) for judge, queue in again.items()} == before
    assert queues_sha256(again) == drawn_queues_sha256(opened) == recorded_queues_sha256(opened)


def test_opening_twice_changes_nothing(world: World, opened: Campaign) -> None:
    again = open_campaign(campaign=opened, actor=world.owner)
    assert again.opened_at == opened.opened_at
    assert ChainEntry.objects.filter(kind="arena").count() == 2
    assert AuditEntry.objects.filter(action="campaign.open").count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_clicks_open_it_once() -> None:
    world = make_world()
    campaign = world.ready()
    found = at_once([partial(open_campaign, campaign=campaign, actor=world.owner)] * 2)
    assert [isinstance(each, Campaign) for each in found] == [True, True]
    assert len({each.opened_at for each in found if isinstance(each, Campaign)}) == 1
    assert ChainEntry.objects.filter(kind="arena", payload__event="opened").count() == 1
    assert CampaignItem.objects.filter(campaign=campaign).count() == 14


def test_a_preview_writes_nothing(world: World) -> None:
    campaign = world.ready()
    preview = preview_design(campaign=campaign)
    assert (preview.systems, preview.items, preview.judges, preview.balance.assignments) == (4, 12, 3, 24)
    assert preview.per_judge_least <= preview.per_judge_most
    assert not Assignment.objects.exists()
    assert not CampaignItem.objects.exists()
    assert not CampaignSystem.objects.exclude(label="").exists()
    assert not CampaignJudge.objects.exclude(design_label="").exists()
    open_campaign(campaign=campaign, actor=world.owner)
    assert Assignment.objects.exclude(kind="calibration").count() == preview.assignments
