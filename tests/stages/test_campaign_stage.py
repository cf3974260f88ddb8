"""A stage that reads the published result of a human evaluation."""

from __future__ import annotations

import copy
from math import exp

import pytest
from django.utils import timezone

from malpan.arena.closing import close_campaign
from malpan.arena.models import Campaign, CampaignResult
from malpan.leaderboard.snapshots import publish_final_board
from malpan.stages import contents
from malpan.stages.contents import final_content, stage_content
from malpan.stages.entering import enter_table, teams_to_score
from malpan.stages.errors import CampaignLacksTeams, CampaignNotPublished, NoTableForBoard, StageSettingsInvalid
from malpan.stages.models import Stage
from malpan.stages.publishing import publish_final, publish_stage
from malpan.stages.selectors import states_of
from malpan.stages.services import create_stage, update_stage
from malpan.stages.verification import verify_competition
from malpan.submissions.integrity import chain
from malpan.submissions.integrity.receipts import issue_receipt
from malpan.teams.services import disqualify_team
from malpan.web.forms.stages import StageForm
from tests.arena.conftest import World, judge_everything, make_world
from tests.stages.conftest import Contest

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made_world(kept: None) -> World:
    made = make_world()
    for row in made.submissions.values():
        issue_receipt(submission=row)
        chain.append_scores([row])
    type(made.phase).objects.filter(pk=made.phase.pk).update(ends_at=timezone.now())
    made.phase.refresh_from_db()
    publish_final_board(phase=made.phase, actor=made.owner)
    return made


@pytest.fixture
def world(db: None, made_world: World) -> World:
    return copy.deepcopy(made_world)


def first(world: World, cut: int | None = 3) -> Stage:
    values = {"phase": world.phase, "cut": cut, "title_ko": "순위표", "weight": 50}
    return create_stage(track=world.track, actor=world.owner, **values)


def second(world: World, campaign: Campaign, **values: object) -> Stage:
    given = {"title_ko": "사람 평가", "weight": 50, "campaign": campaign}
    return create_stage(track=world.track, actor=world.owner, **(given | values))


def publish(world: World, stage: Stage, note: str = "") -> None:
    publish_stage(stage=stage, actor=world.owner, sha256=stage_content(stage).sha256, note_ko=note)


def test_the_scores_are_those_of_the_evaluation(world: World) -> None:
    campaign = world.published()
    publish(world, first(world))
    stage = second(world, campaign)
    assert (stage.source, stage.scale_min, stage.scale_max) == ("campaign", 0, 1)
    content = stage_content(stage)
    strengths = {row["team_number"]: row["score"] for row in CampaignResult.objects.get().rows}
    assert len(content.rows) == 3
    for row in content.rows:
        assert row["score"] == pytest.approx(1 / (1 + exp(-strengths[row["team_number"]])), abs=1e-9)
    ordered = [row["team_number"] for row in content.rows]
    assert ordered == sorted(ordered, key=lambda number: -strengths[number])
    publish(world, stage)
    publish_final(track=world.track, actor=world.owner, sha256=final_content(world.track).sha256)
    assert verify_competition(world.competition) == []


def test_the_first_stage_reads_no_evaluation_and_entered_scores_are_not_given_up_for_one(world: World) -> None:
    campaign, actor = world.published(), world.owner
    with pytest.raises(StageSettingsInvalid) as refused:
        create_stage(
            track=world.track, actor=actor, phase=world.phase, campaign=campaign, cut=3, title_ko="순위표", weight=50
        )
    assert (refused.value.variant, refused.value.field) == ("campaign_first", "campaign")
    publish(world, first(world))
    with pytest.raises(StageSettingsInvalid) as refused:
        second(world, campaign, scale_max=100.0)
    assert (refused.value.variant, refused.value.field) == ("scale_fixed", "scale_max")
    later = second(world, campaign)
    assert update_stage(stage=later, actor=actor, weight=7).weight == 7
    later = update_stage(stage=later, actor=actor, campaign=None, scale_max=100.0)
    text = "".join(f"{team.number},50\n" for team in teams_to_score(later))
    enter_table(stage=later, text=text, actor=actor, based_on=0)
    with pytest.raises(StageSettingsInvalid) as refused:
        update_stage(stage=later, actor=actor, campaign=campaign)
    assert refused.value.variant == "campaign_table"


def test_the_page_of_a_stage_sends_no_scale_with_an_evaluation(world: World) -> None:
    campaign = world.published()
    publish(world, first(world))
    sent = {"title_ko": "사람 평가", "weight": "50", "campaign": str(campaign.pk), "scale_min": "0", "scale_max": "100"}
    sent |= {"normalisation": "value", "tie_rule": "shared"}
    form = StageForm(sent, track=world.track)
    assert form.is_valid(), form.errors
    stage = create_stage(track=world.track, actor=world.owner, **form.values())
    assert (stage.source, stage.scale_max) == ("campaign", 1)
    form = StageForm(
        sent | {"campaign": "", "normalisation": "value", "tie_rule": "shared"}, instance=stage, track=world.track
    )
    assert form.is_valid(), form.errors
    assert update_stage(stage=stage, actor=world.owner, **form.values()).scale_max == 100


def test_a_share_is_the_logistic_curve_with_ten_decimals() -> None:
    shares = [contents.winning_share(strength) for strength in (0.0, 1.0, -1.0)]
    assert shares == [0.5, 0.7310585786, 0.2689414214]


def test_scores_that_are_not_those_of_the_evaluation_are_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = world.published()
    publish(world, first(world))
    stage = second(world, campaign)
    monkeypatch.setattr(contents, "winning_share", lambda strength: round(0.5 + strength / 100, 10))
    publish(world, stage)
    monkeypatch.undo()
    assert [finding.code for finding in verify_competition(world.competition)] == ["stage_miscounted"]


def test_it_waits_for_the_published_result_and_asks_for_it_again(world: World) -> None:
    campaign = world.opened()
    publish(world, first(world))
    stage = second(world, campaign)
    with pytest.raises(CampaignNotPublished) as refused:
        stage_content(stage)
    assert refused.value.params == {"title": campaign.title}
    judge_everything(campaign)
    close_campaign(campaign=campaign, actor=world.owner)
    campaign.refresh_from_db()
    world.publish(campaign)
    publish(world, stage)
    assert not states_of(world.track)[1].is_outdated
    disqualify_team(team=world.teams[4], actor=world.owner, note_ko="실격")
    world.publish(campaign, note="실격한 팀을 뺐습니다.")
    assert states_of(world.track)[1].is_outdated


def test_teams_that_were_not_evaluated_are_named(world: World) -> None:
    campaign = world.published()
    world_numbers = sorted(world.teams)
    publish(world, first(world, cut=None))
    extra = second(world, campaign)
    assert len(stage_content(extra).rows) == len(world_numbers)
    result = CampaignResult.objects.get()
    fewer = [row for row in result.rows if row["team_number"] != world_numbers[0]]
    CampaignResult.objects.create(
        campaign=campaign, number=2, rows=fewer, sha256="0" * 64, published_by=world.owner, published_at=timezone.now(),
        votes_sha256=result.votes_sha256, votes_size=1, result_sha256=result.result_sha256, result_size=1,
        signature_hash="0" * 64,
    )  # fmt: skip
    with pytest.raises(CampaignLacksTeams) as caught:
        stage_content(extra)
    assert world.teams[world_numbers[0]].name in str(caught.value.params)


def test_it_takes_no_table_and_no_campaign_of_another_track(world: World, contest: Contest) -> None:
    campaign = world.published()
    publish(world, first(world))
    stage = second(world, campaign)
    with pytest.raises(NoTableForBoard):
        teams_to_score(stage)
    contest.publish(contest.stage())
    with pytest.raises(StageSettingsInvalid):
        contest.stage(campaign=campaign)
