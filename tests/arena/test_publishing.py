"""What is published: a votes file without people, the result that anybody computes from it, and the chain's record."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from malpan.accounts.models import User
from malpan.arena.closing import close_campaign
from malpan.arena.errors import (
    CampaignNotClosed,
    CampaignReasonMissing,
    JudgeNamed,
    NoVotes,
    ResultChanged,
    ResultNotComputable,
    ResultNotFound,
    ResultUnchanged,
    StillComputing,
)
from malpan.arena.models import Assignment, Campaign, CampaignJudge, CampaignResult, Exclusion
from malpan.arena.opening import open_campaign
from malpan.arena.publishing import computed_result, publish_result
from malpan.arena.selectors import newest_result, result_bytes_of, result_document, result_of, votes_bytes_of
from malpan.arena.systems import systems_of
from malpan.arena.votes_file import votes_of
from malpan.competitions.errors import ManageNotFound
from malpan.competitions.models import Competition
from malpan.core.models import AuditEntry
from malpan.submissions.models import ChainEntry
from malpan.teams.services import disqualify_team
from scoring.arena.result import compute
from scoring.arena.votes import read_votes, votes_bytes
from scoring.signature import json_sha256
from tests.arena.answers import answered
from tests.arena.conftest import NAMES, World, judge_everything, judge_one
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def exclude(world: World, campaign: Campaign, **fields: Any) -> Exclusion:
    now = timezone.now()
    return Exclusion.objects.create(
        campaign=campaign, by=world.owner, created_at=now, **({"reason": "무작위로 골랐습니다."} | fields)
    )


def test_the_votes_are_those_that_were_given(world: World) -> None:
    campaign = world.closed()
    votes = votes_of(campaign)
    rows = Assignment.objects.filter(campaign=campaign, state="done").exclude(kind="calibration")
    assert len(votes.votes) == rows.count() > 24
    label_of = dict(CampaignJudge.objects.values_list("pk", "label"))
    known = {
        (
            label_of[row.judge_id],
            row.item.label,
            tuple(row.systems),
            row.kind,
            row.bad_index,
        ): row.judgements.get().value
        for row in rows.select_related("item")
    }
    assert {(v.judge, v.item, v.systems, v.kind, v.bad): v.value for v in votes.votes} == known
    assert [vote.number for vote in votes.votes] == list(range(1, len(votes.votes) + 1))
    by_number = {vote.number: vote for vote in votes.votes}
    for vote in votes.votes:
        if vote.kind == "repeat":
            first = by_number[vote.repeats or 0]
            assert (first.judge, first.item, first.systems) == (vote.judge, vote.item, vote.systems[::-1])
    assert votes.settings.seed == campaign.seed
    assert (votes.settings.resamples, votes.protocol) == (200, "pairwise")
    assert {system.name: system.team_number for system in votes.systems} == dict(zip(NAMES, range(1, 5), strict=True))
    assert len(votes.items) == 12


def test_a_correction_takes_the_place_of_what_it_corrects(world: World) -> None:
    campaign = world.opened()
    judge_everything(campaign)
    row = Assignment.objects.filter(campaign=campaign, kind="real").select_related("judge", "item").first()
    assert row is not None
    judge_one(row, {"choice": "both_bad", "reasons": ["accuracy"]}, seconds=77)
    votes = [v for v in votes_of(campaign).votes if v.value["choice"] == "both_bad"]
    assert [(v.item, v.systems, v.seconds) for v in votes] == [(row.item.label, tuple(row.systems), 77)]


def test_no_file_names_a_judge(world: World) -> None:
    campaign = world.ready(judges=0)
    people = [UserFactory.create(name=f"카나리아판정{number}") for number in range(3)]
    for person in people:
        world.judge(campaign, person, institution="카나리아대학교")
    opened = open_campaign(campaign=campaign, actor=world.owner)
    judge_everything(opened)
    closed = close_campaign(campaign=opened, actor=world.owner)
    result = world.publish(closed)
    written = votes_bytes_of(result).decode() + result_bytes_of(result).decode()
    written += json.dumps(result.rows, ensure_ascii=False)
    written += json.dumps([row.payload for row in ChainEntry.objects.filter(kind="arena")], ensure_ascii=False)
    design = CampaignJudge.objects.values_list("design_label", flat=True)
    for word in ("카나리아", *(person.email for person in people), *(f'"{label}"' for label in design)):
        assert word not in written, word
    assert {judge["institution_group"] for judge in json.loads(votes_bytes_of(result))["judges"]} == {"G1"}


def test_judges_of_one_institution_share_a_group_whose_name_says_nothing(world: World) -> None:
    campaign = world.ready(judges=0)
    for name in ("한글 대학교", "한글대학교", "말글연구소", ""):
        world.judge(campaign, institution=name)
    judge_everything(open_campaign(campaign=campaign, actor=world.owner))
    group_of = {judge.label: judge.institution_group for judge in votes_of(Campaign.objects.get(pk=campaign.pk)).judges}
    rows = CampaignJudge.objects.filter(campaign=campaign).order_by("pk")
    groups = [group_of[row.design_label] for row in rows]
    assert groups[0] == groups[1] != groups[2]
    assert set(groups[:3]) == {"G1", "G2"}
    assert groups[3] == ""


def test_the_published_files_are_computed_again_byte_for_byte(world: World) -> None:
    campaign = world.published()
    result = result_of(campaign)
    votes = votes_bytes_of(result)
    assert votes_bytes(read_votes(votes)) == votes
    assert compute(read_votes(votes)).bytes() == result_bytes_of(result)
    assert hashlib.sha256(votes).hexdigest() == result.votes_sha256
    assert hashlib.sha256(result_bytes_of(result)).hexdigest() == result.result_sha256
    assert (result.votes_size, result.result_size) == (len(votes), len(result_bytes_of(result)))
    assert result_document(result) == json.loads(result_bytes_of(result))
    assert result_document(result)["signature_hash"] == result.signature_hash


def test_the_standing_is_that_of_the_result(world: World) -> None:
    campaign = world.published()
    result = result_of(campaign)
    systems = result_document(result)["systems"]
    submission_of = {row.label: row.submission for row in systems_of(campaign)}
    for row, system in zip(result.rows, systems, strict=True):
        for name in ("rank", "label", "score", "low", "high", "best_rank", "worst_rank", "cluster", "votes"):
            assert row[name] == system[name]
        assert row["submission"] == str(submission_of[row["label"]].public_id)
        assert row["team_number"] == submission_of[row["label"]].team.number
    assert [row["score"] for row in result.rows] == sorted((row["score"] for row in result.rows), reverse=True)


def test_publishing_is_recorded(world: World) -> None:
    campaign = world.published()
    result = result_of(campaign)
    step = ChainEntry.objects.get(payload__event="published")
    assert step.payload == {
        "track": world.track.slug,
        "campaign": 1,
        "event": "published",
        "snapshot": 1,
        "rows": 4,
        "rows_sha256": json_sha256(result.rows),
        "votes_sha256": result.votes_sha256,
        "result_sha256": result.result_sha256,
        "signature_hash": result.signature_hash,
    }
    assert campaign.state == "published"
    assert AuditEntry.objects.get(action="campaign.publish").after["votes_sha256"] == result.votes_sha256


def test_a_published_result_is_never_changed(world: World) -> None:
    result = result_of(world.published())
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        CampaignResult.objects.filter(pk=result.pk).update(note_ko="x")
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        result.delete()


def test_a_correction_needs_news_and_a_reason(world: World) -> None:
    campaign = world.published()
    with pytest.raises(ResultUnchanged):
        world.publish(campaign)
    judge = CampaignJudge.objects.filter(campaign=campaign).exclude(label="").first()
    assert judge is not None
    exclude(world, campaign, judge=judge)
    with pytest.raises(CampaignReasonMissing):
        world.publish(campaign)
    second = world.publish(campaign, note="무작위로 고른 평가자를 뺐습니다.")
    assert second.number == 2
    assert newest_result(campaign) == second
    assert result_of(campaign, 1).number == 1
    assert json.loads(votes_bytes_of(second))["exclusions"] == [
        {"judge": judge.label, "reason": "무작위로 골랐습니다."}
    ]
    counted = result_document(second)["numbers"]["judges"]
    assert (counted, result_document(result_of(campaign, 1))["numbers"]["judges"]) == (2, 3)
    first_at = Campaign.objects.get(pk=campaign.pk).published_at
    assert first_at == result_of(campaign, 1).published_at


def test_results_are_counted_and_noted_by_campaign(world: World) -> None:
    earlier, campaign = world.published(), world.closed()
    with pytest.raises(CampaignReasonMissing):
        world.publish(campaign, note="가" * 301)
    results = [world.publish(campaign, note="가" * 300)]
    for judge in CampaignJudge.objects.filter(campaign=campaign).exclude(label="")[:2]:
        exclude(world, campaign, judge=judge)
        results.append(world.publish(campaign, note="정정"))
    assert [result.number for result in results] == [1, 2, 3]
    assert Campaign.objects.get(pk=campaign.pk).published_at == results[0].published_at
    assert Campaign.objects.get(pk=earlier.pk).published_at == result_of(earlier).published_at


def test_what_changed_under_the_hand_is_not_published(world: World) -> None:
    campaign = world.closed()
    seen = answered(computed_result, campaign=campaign).result_sha256
    disqualify_team(team=world.teams[3], actor=world.owner, note_ko="규정 위반")
    publish = {"campaign": campaign, "actor": world.owner, "result_sha256": seen}
    with pytest.raises(StillComputing):
        publish_result(**publish)
    fresh = answered(computed_result, campaign=campaign)
    with pytest.raises(ResultChanged):
        publish_result(**publish)
    assert not CampaignResult.objects.exists()
    assert 3 not in [row["team_number"] for row in fresh.rows]


def test_an_exclusion_names_the_vote_by_its_number_and_lifted_ones_are_gone(world: World) -> None:
    campaign = world.closed()
    row = Assignment.objects.filter(campaign=campaign, kind="real").last()
    assert row is not None
    held = exclude(world, campaign, judgement=row.judgements.get())
    votes = votes_of(campaign)
    [named] = votes.exclusions
    [vote] = [each for each in votes.votes if each.number == named.vote]
    label = CampaignJudge.objects.get(pk=row.judge_id).label
    assert (vote.judge, vote.item, vote.systems) == (label, row.item.label, tuple(row.systems))
    assert len(votes.real()) == len(votes_of(campaign, leave_out=Exclusion(reason="x", judgement=None)).real())
    held.lifted_at, held.lifted_by = timezone.now(), world.owner
    held.save()
    assert votes_of(campaign).exclusions == ()
    unsaved = Exclusion(campaign=campaign, judgement=row.judgements.get(), reason="미리 보기")
    assert [each.vote for each in votes_of(campaign, leave_out=unsaved).exclusions] == [named.vote]


@pytest.mark.parametrize("protocol", ["rubric", "errors", "ranking"])
def test_every_protocol_is_published(world: World, protocol: str) -> None:
    size = {"rubric": 1, "errors": 1, "ranking": 3}[protocol]
    campaign = world.published(protocol=protocol, group_size=size, units_per_item=2)
    document = result_document(result_of(campaign))
    assert document["protocol"] == protocol
    assert len(document["systems"]) == 4
    criteria = json.loads(votes_bytes_of(result_of(campaign)))["criteria"]
    assert [each["key"] for each in criteria] == (["fluency", "accuracy"] if protocol == "rubric" else [])


def test_blind_names_stay_blind_while_a_phase_is_open(world: World) -> None:
    Competition.objects.filter(pk=world.competition.pk).update(has_blind_names=True)
    campaign = Campaign.objects.get(pk=world.closed().pk)
    result = world.publish(campaign)
    written = votes_bytes_of(result).decode() + str(result.rows)
    assert not [name for name in NAMES if name in written]
    assert "참가팀 1" in written


# --- refused ----------------------------------------------------------------------------------------------------------
def test_nothing_is_computed_before_the_closing(world: World) -> None:
    campaign = world.opened()
    with pytest.raises(CampaignNotClosed):
        answered(computed_result, campaign=campaign)
    with pytest.raises(ResultNotFound):
        result_of(campaign)


def test_without_votes_there_is_no_result(world: World) -> None:
    campaign = close_campaign(campaign=world.opened(), actor=world.owner, accepts_open=True)
    with pytest.raises(NoVotes):
        answered(computed_result, campaign=campaign)
    for judge in CampaignJudge.objects.filter(campaign=campaign):
        assert judge.label == ""


def test_votes_on_one_system_are_no_comparison(world: World) -> None:
    campaign = world.closed(protocol="rubric", group_size=1)
    for number in (1, 2, 3):
        disqualify_team(team=world.teams[number], actor=world.owner, note_ko="규정 위반")
    with pytest.raises(ResultNotComputable) as caught:
        answered(computed_result, campaign=campaign)
    assert "1개" in caught.value.params["explanation"]


def test_only_who_may_manage_publishes(world: World) -> None:
    campaign = world.closed()
    with pytest.raises(ManageNotFound):
        publish_result(campaign=campaign, actor=UserFactory.create(), result_sha256="")


def test_the_moment_is_that_of_the_caller(world: World) -> None:
    campaign, moment = world.closed(), timezone.now() + timedelta(days=3)
    sha256 = answered(computed_result, campaign=campaign).result_sha256
    result = publish_result(campaign=campaign, actor=world.owner, result_sha256=sha256, now=moment)
    assert result.published_at == campaign.published_at == moment


def test_nothing_is_published_that_says_who_judges(world: World) -> None:
    """Neither in a note nor in a reason that was written before somebody was called so."""
    campaign = world.closed()
    judge = campaign.judges.order_by("pk")[0]
    User.objects.filter(pk=judge.user_id).update(name="나그네")
    exclusion = exclude(world, campaign, judge=judge, reason="나그네는 읽지 않았습니다.")
    sha256 = answered(computed_result, campaign=campaign).result_sha256
    given: dict[str, Any] = {"campaign": campaign, "actor": world.owner, "result_sha256": sha256}
    for notes, field in (
        ({"note_ko": "나그네를 뺐습니다."}, "note_ko"),
        ({"note_ko": "고쳤습니다.", "note_en": f"Without {judge.email}"}, "note_en"),
        ({}, "result_sha256"),
    ):
        with pytest.raises(JudgeNamed) as refused:
            publish_result(**given, **notes)
        assert refused.value.field == field
    assert not CampaignResult.objects.exists()
    Exclusion.objects.filter(pk=exclusion.pk).update(reason="읽지 않았습니다.")
    assert world.publish(campaign).number == 1
