"""Who is in which team."""

import pytest
from django.contrib.auth.models import AnonymousUser

from malpan.teams.errors import NotTeamMember
from malpan.teams.models import Membership
from malpan.teams.selectors import members_of, require_member, team_of
from tests.factories import CompetitionFactory, TeamFactory, UserFactory, leader_of

pytestmark = pytest.mark.django_db


def test_visitor_and_newcomer_have_no_team():
    competition = CompetitionFactory.create()

    assert team_of(AnonymousUser(), competition) is None
    assert team_of(UserFactory.create(), competition) is None


def test_team_of_one_competition_is_no_team_of_another():
    team = TeamFactory.create()

    assert team_of(leader_of(team), team.competition) == team
    assert team_of(leader_of(team), CompetitionFactory.create()) is None


@pytest.mark.parametrize("stranger", [AnonymousUser, UserFactory.create])
def test_stranger_is_not_a_member(stranger):
    with pytest.raises(NotTeamMember):
        require_member(stranger(), TeamFactory.create())


def test_members_are_listed_leader_first():
    team = TeamFactory.create(members=2)

    assert [each.role for each in members_of(team)] == [
        Membership.Role.LEADER,
        Membership.Role.MEMBER,
        Membership.Role.MEMBER,
    ]
