"""The systems of a campaign: from the top of a board or by hand, one a team, and only what can be evaluated."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from malpan.arena.errors import CampaignOpened, NoBoard, SystemUnfit, TooManySystems
from malpan.arena.models import Campaign
from malpan.arena.selectors import submission_choices
from malpan.arena.systems import SYSTEMS_MOST, choose_systems, choose_top, systems_of
from malpan.competitions.errors import ManageNotFound
from malpan.core.models import AuditEntry
from malpan.submissions.errors import SubmissionNotFound
from malpan.submissions.models import ScoringRun, Submission
from malpan.teams.services import disqualify_team
from tests.arena.conftest import World, over
from tests.factories import PhaseFactory, SubmissionFactory, UserFactory, finished_submission

pytestmark = pytest.mark.django_db


def teams(campaign: Campaign) -> list[int]:
    return [row.submission.team.number for row in systems_of(campaign)]


def choose(world: World, campaign: Campaign, *numbers: int, **values: Any) -> list[int]:
    names = [world.submissions[number].public_id for number in numbers]
    choose_systems(campaign=campaign, actor=world.owner, submissions=names, **values)
    return teams(campaign)


def test_the_first_of_the_published_board_take_part(world: World) -> None:
    over(world)
    Submission.objects.filter(pk=world.submissions[1].pk).update(is_final_choice=False)
    ScoringRun.objects.filter(pk=world.submissions[4].live_run_id).update(final_score=0.99)  # after the publication
    campaign = world.campaign()
    choose_top(campaign=campaign, actor=world.owner, count=3)
    assert teams(campaign) == [1, 2, 3]


def test_without_a_published_board_the_present_one_counts(world: World) -> None:
    ScoringRun.objects.filter(pk=world.submissions[4].live_run_id).update(
        final_score=0.99, scores={"final_score": 0.99}
    )
    campaign = world.campaign()
    choose_top(campaign=campaign, actor=world.owner, count=2)
    assert teams(campaign) == [4, 1]


def test_baselines_come_when_asked_for_and_take_no_place(world: World) -> None:
    world.add_team("기준", 0.95, is_baseline=True)
    over(world)
    campaign = world.campaign()
    choose_top(campaign=campaign, actor=world.owner, count=2)
    assert teams(campaign) == [1, 2]
    choose_top(campaign=campaign, actor=world.owner, count=2, with_baselines=True)
    assert teams(campaign) == [1, 2, 5]


def test_who_was_disqualified_since_is_passed_over(world: World) -> None:
    over(world)
    disqualify_team(team=world.teams[1], actor=world.owner, note_ko="규정 위반")
    campaign = world.campaign()
    choose_top(campaign=campaign, actor=world.owner, count=2)
    assert teams(campaign) == [2, 3]


def test_without_results_there_is_no_board(world: World) -> None:
    empty = PhaseFactory.create(track=world.track)
    with pytest.raises(NoBoard):
        choose_top(campaign=world.campaign(phase=empty), actor=world.owner, count=2)


def test_a_list_by_hand_keeps_its_order_and_replaces_the_one_before(world: World) -> None:
    campaign = world.campaign()
    assert choose(world, campaign, 3, 1, 3) == [3, 1]
    assert choose(world, campaign, 2, 4) == [2, 4]
    entry = AuditEntry.objects.filter(action="campaign.choose_systems").latest("pk")
    assert entry.before["submissions"] == [str(world.submissions[number].public_id) for number in (3, 1)]


def test_institutions_stay_with_their_teams(world: World) -> None:
    campaign = world.campaign()
    choose(world, campaign, 1, 2, institutions={1: "  한글 대학교 "})
    choose(world, campaign, 3, 1)
    assert {row.submission.team.number: row.institution for row in systems_of(campaign)} == {3: "", 1: "한글 대학교"}
    choose(world, campaign, 3, 1, institutions={3: "말글 연구소"})
    assert [row.institution for row in systems_of(campaign)] == ["말글 연구소", "한글 대학교"]


def test_an_institution_alone_is_in_the_audit_log_and_nothing_new_is_not(world: World) -> None:
    """It decides who judges whom. That submissions were chosen was all the log said, the same before and after."""
    campaign = world.campaign()
    choose(world, campaign, 1, 2)
    choose(world, campaign, 1, 2, institutions={2: "말글 연구소"})
    entry = AuditEntry.objects.filter(action="campaign.choose_systems").latest("pk")
    assert (entry.before, entry.after) == ({"institutions": {}}, {"institutions": {"2": "말글 연구소"}})
    choose(world, campaign, 1, 2, institutions={2: " 말글 연구소"})
    assert AuditEntry.objects.filter(action="campaign.choose_systems").count() == 2


def refusal(world: World, *names: object) -> str:
    with pytest.raises(SystemUnfit) as caught:
        choose_systems(campaign=world.campaign(), actor=world.owner, submissions=[str(name) for name in names])
    return str(caught.value.params["reason"])


def test_what_cannot_be_evaluated_is_refused_with_the_reason(world: World) -> None:
    first, second, third, fourth = (world.submissions[number] for number in (1, 2, 3, 4))
    now = timezone.now()
    Submission.objects.filter(pk=first.pk).update(withdrawn_at=now)
    Submission.objects.filter(pk=second.pk).update(refunded_at=now)
    disqualify_team(team=world.teams[3], actor=world.owner, note_ko="규정 위반")
    queued = SubmissionFactory.create(phase=world.phase, team=world.teams[4])
    other = SubmissionFactory.create(phase=PhaseFactory.create(track=world.track), team=world.teams[4])
    again = finished_submission(world.phase, world.teams[4], 0.4)
    assert refusal(world, first.public_id) == "withdrawn"
    assert refusal(world, second.public_id) == "refunded"
    assert refusal(world, third.public_id) == "disqualified"
    assert refusal(world, queued.public_id) == "not_scored"
    assert refusal(world, other.public_id) == "other_phase"
    assert refusal(world, fourth.public_id, again.public_id) == "twice"
    ScoringRun.objects.filter(pk=again.live_run_id).update(state="failed")
    assert refusal(world, again.public_id) == "not_scored"


@pytest.mark.parametrize("name", ["", "x", "00000000-0000-4000-8000-000000000000"])
def test_what_is_no_submission_of_the_competition_is_not_found(world: World, name: str) -> None:
    with pytest.raises(SubmissionNotFound):
        choose_systems(campaign=world.campaign(), actor=world.owner, submissions=[name])


def test_a_submission_of_another_competition_is_not_found(world: World) -> None:
    elsewhere = SubmissionFactory.create()
    with pytest.raises(SubmissionNotFound):
        choose_systems(campaign=world.campaign(), actor=world.owner, submissions=[elsewhere.public_id])


def test_there_is_a_limit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert SYSTEMS_MOST >= 50
    monkeypatch.setattr("malpan.arena.systems.SYSTEMS_MOST", 3)
    with pytest.raises(TooManySystems):
        choose(world, world.campaign(), 1, 2, 3, 4)


def test_only_a_draft_and_who_may_manage(world: World) -> None:
    campaign = world.opened()
    for call, given in ((choose_systems, {"submissions": []}), (choose_top, {"count": 2})):
        with pytest.raises(CampaignOpened):
            call(campaign=campaign, actor=world.owner, **given)
        with pytest.raises(ManageNotFound):
            call(campaign=campaign, actor=UserFactory.create(), **given)
    assert len(teams(campaign)) == 4


def test_what_may_be_chosen_is_listed_by_team(world: World) -> None:
    SubmissionFactory.create(phase=world.phase, team=world.teams[4])  # not scored
    finished_submission(world.phase, world.teams[1], 0.2)
    campaign = world.campaign()
    choose(world, campaign, 1)
    listed = [(row.team.number, row.live_run.final_score, chosen) for row, chosen in submission_choices(campaign)]
    assert listed == [(1, 0.9, True), (1, 0.2, False), (2, 0.8, False), (3, 0.7, False), (4, 0.6, False)]
