"""Requests to merge: who asks, who answers, and which teams fit together."""

from datetime import timedelta

import pytest
from django.utils import timezone

from malpan.teams.errors import MergeAlreadyAsked, MergeImpossible, MergeRequestNotFound, NotTeamLeader, TeamNotFound
from malpan.teams.merging import ask_merge, decline_merge, withdraw_merge
from malpan.teams.models import Membership, MergeRequest
from malpan.teams.selectors import merge_asked, merges_offered, teams_to_merge_with
from tests.factories import CompetitionFactory, PhaseFactory, TeamFactory, leader_of
from tests.threads import at_once

pytestmark = pytest.mark.django_db
State = MergeRequest.State


def pair(**fields):
    competition = CompetitionFactory.create(**fields)
    return TeamFactory.create(competition=competition), TeamFactory.create(competition=competition)


def ask(source, target):
    return ask_merge(source=source, target=target, actor=leader_of(source))


def test_request_stands_with_both_teams():
    source, target = pair()

    request = ask(source, target)

    assert merge_asked(source) == request
    assert [(each, each.people) for each in merges_offered(target)] == [(request, 1)]


def test_only_the_leaders_ask_withdraw_and_decline():
    source, target = pair()
    member = TeamFactory.create(competition=source.competition, members=1)
    request = ask(source, target)

    with pytest.raises(NotTeamLeader):
        ask_merge(source=member, target=target, actor=member.memberships.get(role=Membership.Role.MEMBER).user)
    with pytest.raises(NotTeamLeader):
        withdraw_merge(request=request, actor=leader_of(target))
    with pytest.raises(NotTeamLeader):
        decline_merge(request=request, actor=leader_of(source))


def test_answered_request_is_not_answered_again():
    source, target = pair()
    request = ask(source, target)

    decline_merge(request=request, actor=leader_of(target))

    with pytest.raises(MergeRequestNotFound):
        withdraw_merge(request=request, actor=leader_of(source))
    request.refresh_from_db()
    assert (request.state, request.answered_by) == (State.DECLINED, leader_of(target))
    ask(source, target)  # and may be asked anew


def test_team_asks_one_team_at_a_time():
    source, target = pair()
    request = ask(source, target)

    with pytest.raises(MergeAlreadyAsked):
        ask(source, TeamFactory.create(competition=source.competition))

    withdraw_merge(request=request, actor=leader_of(source))
    ask(source, TeamFactory.create(competition=source.competition))


def test_team_of_another_competition_is_not_found():
    with pytest.raises(TeamNotFound):
        ask(TeamFactory.create(), TeamFactory.create())


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"is_baseline": True}, "baseline"),
        ({"disqualified_at": timezone.now()}, "disqualified"),
    ],
)
def test_baselines_and_disqualified_teams_do_not_merge(side, change, reason):
    teams = pair()
    for name, value in change.items():
        setattr(teams[side], name, value)
    teams[side].save()

    with pytest.raises(MergeImpossible) as refusal:
        ask(*teams)
    assert refusal.value.params["reason"] == reason


def test_team_does_not_merge_with_itself_or_with_a_team_that_is_gone():
    source, target = pair()
    gone = TeamFactory.create(competition=source.competition, merged_into=target)

    for other, reason in ((source, "same"), (gone, "merged")):
        with pytest.raises(MergeImpossible) as refusal:
            ask(source, other)
        assert refusal.value.params["reason"] == reason


def test_teams_larger_together_than_the_limit_do_not_merge():
    source, target = pair(team_size_max=2)
    TeamFactory.create(competition=source.competition)
    large = TeamFactory.create(competition=source.competition, members=1)

    ask(source, target)
    with pytest.raises(MergeImpossible) as refusal:
        ask(target, large)
    assert (refusal.value.params["reason"], refusal.value.params["size"]) == ("size", 3)


def test_teams_do_not_merge_from_the_end_of_the_last_phase_on():
    source, target = pair()
    phase = PhaseFactory.create(track__competition=source.competition)

    with pytest.raises(MergeImpossible) as refusal:
        ask_merge(source=source, target=target, actor=leader_of(source), now=phase.ends_at)
    assert refusal.value.params["reason"] == "over"
    ask_merge(source=source, target=target, actor=leader_of(source), now=phase.ends_at - timedelta(seconds=1))


def test_search_finds_teams_that_could_merge_and_under_blind_names_only_by_the_whole_name():
    competition = CompetitionFactory.create()
    own = TeamFactory.create(competition=competition, name="말글 하나")
    other = TeamFactory.create(competition=competition, name="말글 둘")
    TeamFactory.create(competition=competition, name="말글 기준", is_baseline=True)
    TeamFactory.create(competition=competition, name="말글 실격", disqualified_at=timezone.now())
    TeamFactory.create(name="말글 다른 대회")

    assert teams_to_merge_with(own, "말글", exactly=False) == [other]
    assert teams_to_merge_with(own, "말글", exactly=True) == []
    assert teams_to_merge_with(own, " 말글 둘 ", exactly=True) == [other]
    assert teams_to_merge_with(own, " ", exactly=False) == []
    assert teams_to_merge_with(own, "말\x00글", exactly=False) in ([], [other])  # and no fault of ours


@pytest.mark.django_db(transaction=True)
def test_ten_requests_at_once_are_one():
    source, target = pair()
    leader = leader_of(source)

    at_once([lambda: ask_merge(source=source, target=target, actor=leader) for _click in range(10)])

    assert MergeRequest.objects.count() == 1
