"""Closing ends the judging and reveals the seed; disqualified teams leave what is open and what counts."""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import datetime
from itertools import combinations

import pytest
from django.utils import timezone

from malpan.arena.closing import close_campaign, open_assignments
from malpan.arena.disqualified import disqualified_labels, reopen_reinstated, void_disqualified
from malpan.arena.errors import CampaignNotBegun, OpenAssignmentsLeft
from malpan.arena.models import Assignment, Campaign, CampaignJudge, CampaignSystem, JudgementDraft
from malpan.arena.systems import systems_of
from malpan.arena.votes_file import votes_of
from malpan.competitions.errors import ManageNotFound
from malpan.core.models import AuditEntry
from malpan.submissions.models import ChainEntry, Submission
from malpan.teams.services import disqualify_team
from scoring.arena.result import compute
from tests.arena.conftest import World, judge_everything, judge_one
from tests.arena.panels import Panel, open_panel
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def close(world: World, campaign: Campaign, *, accepts_open: bool = False) -> Campaign:
    return close_campaign(campaign=campaign, actor=world.owner, accepts_open=accepts_open)


def label_of(campaign: Campaign, team: int) -> str:
    return next(row.label for row in systems_of(campaign) if row.submission.team.number == team)


def test_the_seed_is_revealed_as_it_was_committed(world: World) -> None:
    campaign = world.closed()
    committed, _opened, closed = ChainEntry.objects.filter(kind="arena").order_by("number")
    assert hashlib.sha256(closed.payload["seed"].encode()).hexdigest() == committed.payload["seed_sha256"]
    judged = Assignment.objects.filter(campaign=campaign, state="done").exclude(kind="calibration").count()
    assert closed.payload == {
        "track": world.track.slug,
        "campaign": 1,
        "event": "closed",
        "seed": campaign.seed,
        "judgements": judged,
        "void": 0,
    }
    assert campaign.state == "closed"


def test_until_then_nothing_has_it(world: World) -> None:
    campaign = world.opened()
    judge_everything(campaign)
    assert campaign.seed not in str([row.payload for row in ChainEntry.objects.all()])
    assert campaign.seed not in str(votes_of(campaign))


def test_open_assignments_are_asked_about_and_become_void(world: World) -> None:
    campaign = world.opened()
    first = Assignment.objects.filter(campaign=campaign, kind="real").select_related("judge").first()
    assert first is not None
    judge_one(first, {"choice": "tie", "reasons": []})
    other = Assignment.objects.filter(campaign=campaign, state="open").exclude(kind="calibration").first()
    JudgementDraft.objects.create(assignment=other, value={}, updated_at=timezone.now())
    left = Assignment.objects.filter(campaign=campaign, state="open").exclude(kind="calibration").count()
    with pytest.raises(OpenAssignmentsLeft) as caught:
        close_campaign(campaign=campaign, actor=world.owner)
    assert caught.value.params["count"] == left
    assert Campaign.objects.get(pk=campaign.pk).state == "open"
    close(world, campaign, accepts_open=True)
    assert not Assignment.objects.filter(campaign=campaign, state="open").exists()
    assert Assignment.objects.filter(state="void", void_reason="closed").exclude(kind="calibration").count() == left
    assert not JudgementDraft.objects.exists()
    entry = AuditEntry.objects.get(action="campaign.close")
    assert (entry.actor, entry.object_id, entry.after) == (
        world.owner,
        str(campaign.pk),
        {"judgements": 1, "void": left},
    )


def test_closing_twice_changes_nothing(world: World) -> None:
    campaign = world.closed()
    labels = dict(CampaignJudge.objects.values_list("pk", "label"))
    again = close(world, campaign)
    assert again.closed_at == campaign.closed_at
    assert dict(CampaignJudge.objects.values_list("pk", "label")) == labels
    assert ChainEntry.objects.filter(payload__event="closed").count() == 1


def test_only_who_judged_gets_a_label_and_not_in_the_order_of_invitations(world: World) -> None:
    orders = set()
    for _round in range(5):
        campaign = world.opened(judges=4)
        judge_everything(campaign)
        world.judge(campaign)  # came late, has nothing
        close(world, campaign)
        rows = CampaignJudge.objects.filter(campaign=campaign).order_by("pk")
        orders.add(tuple(row.label for row in rows))
    assert {tuple(sorted(order)) for order in orders} == {("", "J01", "J02", "J03", "J04")}
    assert all(order[-1] == "" for order in orders)
    assert len(orders) > 1


def test_who_only_practised_gets_no_label(world: World) -> None:
    campaign = world.opened()
    practised, judged, _nothing = CampaignJudge.objects.filter(campaign=campaign).order_by("pk")
    rows = Assignment.objects.filter(campaign=campaign).select_related("judge")
    for row in (*rows.filter(judge=practised, kind="calibration"), rows.filter(judge=judged, kind="real")[0]):
        judge_one(row, {"choice": "first", "reasons": []})
    closed = close(world, campaign, accepts_open=True)
    labels = dict(CampaignJudge.objects.filter(campaign=campaign).exclude(label="").values_list("pk", "label"))
    assert labels == {judged.pk: "J01"}
    assert {vote.judge for vote in votes_of(closed).votes} == {"J01"}


def test_another_campaign_stays_as_it_is(world: World) -> None:
    other, campaign = world.opened(), world.opened()
    row, drafted = Assignment.objects.filter(campaign=other, kind="real").select_related("judge")[:2]
    judge_one(row, {"choice": "tie", "reasons": []})
    JudgementDraft.objects.create(assignment=drafted, value={}, updated_at=timezone.now())
    left = open_assignments(other)
    judge_everything(campaign)
    judged = Assignment.objects.filter(campaign=campaign, state="done").exclude(kind="calibration").count()
    close(world, campaign)  # what the other has open is not asked about
    assert open_assignments(other) == left > 0
    assert JudgementDraft.objects.filter(assignment=drafted).exists()
    assert set(CampaignJudge.objects.filter(campaign=other).values_list("label", flat=True)) == {""}
    assert ChainEntry.objects.get(payload__event="closed").payload["judgements"] == judged


def test_what_a_removed_judge_left_is_not_asked_about(world: World) -> None:
    campaign = world.opened()
    judge = CampaignJudge.objects.filter(campaign=campaign).first()
    assert judge is not None
    left, own = open_assignments(campaign), Assignment.objects.filter(judge=judge).exclude(kind="calibration").count()
    CampaignJudge.objects.filter(pk=judge.pk).update(removed_at=timezone.now())
    assert open_assignments(campaign) == left - own < left


def test_a_draft_is_not_closed_and_strangers_close_nothing(world: World) -> None:
    with pytest.raises(CampaignNotBegun):
        close(world, world.campaign())
    with pytest.raises(ManageNotFound):
        close_campaign(campaign=world.opened(), actor=UserFactory.create())


# --- teams that leave -------------------------------------------------------------------------------------------------
def test_what_is_open_of_a_disqualified_team_becomes_void(world: World) -> None:
    campaign = world.opened()
    gone = label_of(campaign, 2)
    rows = Assignment.objects.filter(kind="real").select_related("judge")
    judged = next(row for row in rows if gone in row.systems)
    judge_one(judged, {"choice": "first", "reasons": []})
    assert void_disqualified(campaign=campaign) == 0
    disqualify_team(team=world.teams[2], actor=world.owner, note_ko="규정 위반")
    assert disqualified_labels(campaign) == {gone}
    expected = [row.pk for row in Assignment.objects.filter(state="open") if gone in row.systems]
    assert void_disqualified(campaign=campaign) == len(expected) > 0
    assert set(Assignment.objects.filter(state="void").values_list("pk", flat=True)) == set(expected)
    assert not [row for row in Assignment.objects.filter(state="open") if gone in row.systems]
    assert Assignment.objects.get(pk=judged.pk).state == "done"
    entry = AuditEntry.objects.get(action="campaign.void_assignments")
    assert (entry.actor, entry.after) == (None, {"systems": [gone], "assignments": len(expected)})
    assert void_disqualified(campaign=campaign) == 0
    assert AuditEntry.objects.filter(action="campaign.void_assignments").count() == 1


def test_another_campaign_and_practice_have_their_own_way() -> None:
    """Of two campaigns whose systems have the same labels; and what was practice stays away."""
    panel, other = open_panel(calibration_count=4), open_panel(calibration_count=0)

    def put_out(systems: list[CampaignSystem], at: datetime | None) -> None:
        for system in systems:
            team = system.submission.team
            team.disqualified_at = at
            team.save()

    def void(of: Panel, **fields: str) -> int:
        rows = Assignment.objects.filter(campaign=of.campaign, state="void", **fields)
        return sum("S01" in row.systems for row in rows)

    put_out(panel.systems[:1], timezone.now())
    assert disqualified_labels(other.campaign) == frozenset()
    assert void_disqualified(campaign=other.campaign) == 0
    left = void_disqualified(campaign=panel.campaign)
    practice = void(panel, kind="calibration")
    assert (left, void(other)) == (void(panel), 0)
    assert 0 < practice < left

    put_out(other.systems[:1], timezone.now())
    gone = void_disqualified(campaign=other.campaign)
    put_out(panel.systems[:1], None)
    judges = reopen_reinstated(campaign=panel.campaign)

    assert judges == {judge.pk for judge in panel.judges}
    assert (void(panel), void(panel, kind="calibration"), void(other)) == (practice, practice, gone)
    entry = AuditEntry.objects.get(action="campaign.reopen_assignments")
    assert (entry.object_id, entry.after) == (str(panel.campaign.pk), {"assignments": left - practice})


def test_rankings_go_on_without_a_disqualified_team_and_the_design_stays_even() -> None:
    """Of 96 rankings of three of six none is lost; every pair that is left is compared as often as it was."""
    panel = open_panel("ranking", systems=6, judges=6, item_count=24, calibration_count=0)
    gone = panel.systems[0]
    planned = [row.systems for row in Assignment.objects.filter(kind="real")]
    before = Counter(pair for systems in planned for pair in combinations(sorted(systems), 2))
    team = gone.submission.team
    team.disqualified_at = timezone.now()
    team.save()

    assert void_disqualified(campaign=panel.campaign) == 0
    panel.fill(lambda row: {"ranks": list(range(1, len(row.systems) + 1))})

    votes = votes_of(panel.campaign)
    assert len(votes.real()) == sum(vote.kind == "real" for vote in votes.votes) == 96
    shown = Counter(pair for vote in votes.real() for pair in combinations(sorted(vote.systems), 2))
    assert shown == {pair: count for pair, count in before.items() if gone.label not in pair}
    assert len(shown) == 10
    assert len(compute(votes).document()["systems"]) == 5


def test_a_ranking_of_which_one_is_left_becomes_void() -> None:
    panel = open_panel("ranking", systems=4, judges=4, calibration_count=0)
    for system in panel.systems[:2]:
        team = system.submission.team
        team.disqualified_at = timezone.now()
        team.save()
    out = {system.label for system in panel.systems[:2]}
    lost = [row.pk for row in Assignment.objects.filter(state="open") if len(set(row.systems) - out) < 2]

    assert void_disqualified(campaign=panel.campaign) == len(lost) > 0

    assert set(Assignment.objects.filter(state="void").values_list("pk", flat=True)) == set(lost)


def test_what_was_judged_of_it_stays_in_the_file_and_does_not_count(world: World) -> None:
    campaign = world.closed()
    before = votes_of(campaign)
    disqualify_team(team=world.teams[1], actor=world.owner, note_ko="규정 위반")
    after = votes_of(campaign)
    gone = label_of(campaign, 1)
    assert after.votes == before.votes
    assert [(each.label, each.counts, each.reason) for each in after.systems if each.label == gone] == [
        (gone, False, "실격 (disqualified)")
    ]
    assert (
        {label for vote in after.real() for label in vote.systems}
        == set(after.counting)
        == {label_of(campaign, number) for number in (2, 3, 4)}
    )


@pytest.mark.parametrize("column", ["withdrawn_at", "refunded_at"])
def test_a_submission_that_is_taken_back_does_not_count_either(world: World, column: str) -> None:
    campaign = world.closed()
    Submission.objects.filter(pk=world.submissions[3].pk).update(**{column: timezone.now()})
    [system] = [each for each in votes_of(campaign).systems if not each.counts]
    assert (system.team_number, system.reason) == (3, "철회하거나 무효로 한 제출 (withdrawn or refunded)")


def test_closing_makes_void_what_a_disqualified_team_left(world: World) -> None:
    campaign = world.opened()
    gone = label_of(campaign, 4)
    for row in Assignment.objects.filter(campaign=campaign, state="open").select_related("judge"):
        if gone not in row.systems:
            judge_one(row, {"choice": "tie", "reasons": []})
    disqualify_team(team=world.teams[4], actor=world.owner, note_ko="규정 위반")
    close(world, campaign)  # nothing is open that counts
    assert set(Assignment.objects.filter(state="void").values_list("void_reason", flat=True)) == {"disqualified"}
