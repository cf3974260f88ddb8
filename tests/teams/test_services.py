"""Teams, invitations and API tokens, also when two people act at once."""

import unicodedata
from datetime import timedelta

import pytest
from django.utils import timezone

from malpan.accounts.errors import ApiTokenInvalid
from malpan.accounts.models import ApiToken
from malpan.accounts.selectors import api_token_by_secret
from malpan.accounts.services import create_api_token, revoke_api_token
from malpan.core.models import AuditEntry
from malpan.teams.errors import (
    AlreadyInTeam,
    InvitationExpired,
    InvitationNotFound,
    InvitationUsed,
    NotTeamLeader,
    TeamFull,
    TeamNameInvalid,
    TeamNameTaken,
)
from malpan.teams.invitations import create_invitation, join_team
from malpan.teams.models import Invitation, Membership, Team
from malpan.teams.selectors import invitation_by_token, team_of
from malpan.teams.services import create_team
from tests.factories import CompetitionFactory, TeamFactory, UserFactory, leader_of
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def _token(team: Team) -> str:
    return create_invitation(team=team, actor=leader_of(team))[1]


def test_founder_leads_the_team():
    competition, founder = CompetitionFactory.create(), UserFactory.create()

    team = create_team(competition=competition, name="말글", leader=founder)

    assert team_of(founder, competition) == team
    assert team.memberships.get().role == Membership.Role.LEADER
    assert AuditEntry.objects.get(action="team.create").actor == founder


def test_person_has_one_team_per_competition_but_one_in_each():
    competition, founder = CompetitionFactory.create(), UserFactory.create()
    create_team(competition=competition, name="하나", leader=founder)

    with pytest.raises(AlreadyInTeam):
        create_team(competition=competition, name="둘", leader=founder)

    assert not Team.objects.filter(name="둘").exists()
    create_team(competition=CompetitionFactory.create(), name="둘", leader=founder)


@pytest.mark.parametrize("name", ["말글", " 말글 ", "TEAM", unicodedata.normalize("NFD", "말글")])
def test_name_equal_to_the_eye_is_taken(name):
    competition = CompetitionFactory.create()
    for taken in ("말글", "team"):
        TeamFactory.create(competition=competition, name=taken)

    with pytest.raises(TeamNameTaken):
        create_team(competition=competition, name=name, leader=UserFactory.create())


@pytest.mark.parametrize("name", ["", "   ", "가" * 61, "팀\x00", "팀\u202e", "팀\u200b"])
def test_name_without_substance_or_with_unseen_characters_is_refused(name):
    with pytest.raises(TeamNameInvalid):
        create_team(competition=CompetitionFactory.create(), name=name, leader=UserFactory.create())


def test_invited_person_joins_and_the_link_is_used_up():
    team, guest = TeamFactory.create(), UserFactory.create()
    token = _token(team)

    membership = join_team(token=token, user=guest)

    assert (membership.team, membership.role) == (team, Membership.Role.MEMBER)
    assert invitation_by_token(token).used_by == guest
    with pytest.raises(InvitationUsed):
        join_team(token=token, user=UserFactory.create())


def test_token_itself_is_stored_nowhere():
    team = TeamFactory.create()
    token = _token(team)

    row = Invitation.objects.values().get()
    entries = list(AuditEntry.objects.values())

    assert token not in str(row)
    assert token not in str(entries)


def test_only_the_leader_invites():
    team = TeamFactory.create(members=1)
    member = team.memberships.get(role=Membership.Role.MEMBER).user

    with pytest.raises(NotTeamLeader):
        create_invitation(team=team, actor=member)


def test_invitation_lasts_seven_days():
    team, now = TeamFactory.create(), timezone.now()
    _invitation, token = create_invitation(team=team, actor=leader_of(team), now=now)

    with pytest.raises(InvitationExpired):
        join_team(token=token, user=UserFactory.create(), now=now + timedelta(days=7))
    join_team(token=token, user=UserFactory.create(), now=now + timedelta(days=7) - timedelta(seconds=1))


def test_unknown_token_opens_nothing():
    with pytest.raises(InvitationNotFound):
        join_team(token="no such token", user=UserFactory.create())


def test_full_team_takes_nobody_and_keeps_the_invitation():
    team = TeamFactory.create(competition=CompetitionFactory.create(team_size_max=2), members=1)
    token = _token(team)

    with pytest.raises(TeamFull):
        join_team(token=token, user=UserFactory.create())

    assert invitation_by_token(token).used_at is None


def test_member_of_another_team_keeps_the_invitation_unused():
    team = TeamFactory.create()
    other = TeamFactory.create(competition=team.competition)
    token = _token(team)

    with pytest.raises(AlreadyInTeam):
        join_team(token=token, user=leader_of(other))

    assert invitation_by_token(token).used_at is None


def test_revoked_token_and_closed_account_open_nothing():
    user = UserFactory.create()
    row, secret = create_api_token(user=user, label="노트북")
    _other, closed = create_api_token(user=UserFactory.create(is_active=False), label="닫힌 계정")

    assert api_token_by_secret(secret).user == user
    revoke_api_token(api_token=row, actor=user)
    for worthless in (secret, closed, "", "mlp_unknown"):
        with pytest.raises(ApiTokenInvalid):
            api_token_by_secret(worthless)


def test_api_token_is_stored_only_as_its_hash():
    _row, secret = create_api_token(user=UserFactory.create(), label="노트북")

    assert secret not in str(ApiToken.objects.values().get())


@pytest.mark.django_db(transaction=True)
def test_person_founding_twenty_teams_at_once_has_one():
    competition, founder = CompetitionFactory.create(), UserFactory.create()

    outcomes = at_once(
        [lambda n=n: create_team(competition=competition, name=f"팀 {n}", leader=founder) for n in range(20)]
    )

    assert sum(isinstance(each, Team) for each in outcomes) == 1
    assert sum(isinstance(each, AlreadyInTeam) for each in outcomes) == 19
    assert Team.objects.count() == Membership.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_one_invitation_lets_one_of_twenty_people_in():
    team = TeamFactory.create(competition=CompetitionFactory.create(team_size_max=99))
    token, guests = _token(team), UserFactory.create_batch(20)

    outcomes = at_once([lambda guest=guest: join_team(token=token, user=guest) for guest in guests])

    assert sum(isinstance(each, Membership) for each in outcomes) == 1
    assert sum(isinstance(each, InvitationUsed) for each in outcomes) == 19
    assert team.memberships.count() == 2


@pytest.mark.django_db(transaction=True)
def test_twenty_invitations_at_once_never_overfill_the_team():
    team = TeamFactory.create(competition=CompetitionFactory.create(team_size_max=3))
    pairs = [(_token(team), guest) for guest in UserFactory.create_batch(20)]

    outcomes = at_once([lambda t=token, g=guest: join_team(token=t, user=g) for token, guest in pairs])

    assert sum(isinstance(each, Membership) for each in outcomes) == 2
    assert sum(isinstance(each, TeamFull) for each in outcomes) == 18
    assert team.memberships.count() == 3
