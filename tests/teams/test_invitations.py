"""Invitations by mail: bound to the address, revocable, limited in number; and links that are no longer good."""

from datetime import timedelta
from smtplib import SMTPException

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.utils import timezone

from malpan.core.errors import MailNotSent
from malpan.core.models import AuditEntry
from malpan.notifications import events
from malpan.notifications.models import Endpoint, Letter
from malpan.teams.errors import (
    AddressInTeam,
    AlreadyInvited,
    CompetitionOver,
    InvitationAddressInvalid,
    InvitationForAnother,
    InvitationNotFound,
    InvitationRevoked,
    InvitationUsed,
    NotTeamLeader,
    TeamDisqualified,
    TooManyInvitations,
)
from malpan.teams.invitations import OPEN_MAX, create_invitation, invite_by_email, join_team, revoke_invitation
from malpan.teams.models import Invitation, Membership, Team
from malpan.teams.selectors import open_invitations
from tests.factories import CompetitionFactory, PhaseFactory, TeamFactory, UserFactory, leader_of
from tests.threads import at_once

pytestmark = pytest.mark.django_db
ADDRESS = "guest@example.com"


def link_for(token: str) -> str:
    return f"https://malpan.example/invitations/{token}/"


def invite(team: Team, email: str = ADDRESS, **fields) -> Invitation:
    return invite_by_email(team=team, actor=leader_of(team), email=email, link_for=link_for, **fields)


def mailed_token() -> str:
    body = mail.outbox[-1].body
    return body.split("/invitations/")[1].split("/")[0]


def person(email: str, *, is_verified: bool = True):
    user = UserFactory.create(email=email)
    EmailAddress.objects.create(user=user, email=email, primary=True, verified=is_verified)
    return user


def test_mail_goes_to_the_address_with_the_link_once_in_each_language():
    team = TeamFactory.create(competition=CompetitionFactory.create(title_ko="말글 대회"), name="토끼 & 거북")

    invite(team, " Guest@Example.com ")

    (message,) = mail.outbox
    assert message.to == [ADDRESS]
    assert "토끼 & 거북" in message.subject
    assert "\n" not in message.subject
    assert message.body.count(link_for(mailed_token())) == 2
    assert message.body.count("‘토끼 & 거북’") >= 1
    assert "말글 대회" in message.body
    assert str(leader_of(team)) in message.body


def test_person_who_verified_the_address_joins():
    team, guest = TeamFactory.create(), person(ADDRESS)
    invite(team)

    assert join_team(token=mailed_token(), user=guest).team == team


@pytest.mark.parametrize(("email", "is_verified"), [("other@example.com", True), (ADDRESS, False)])
def test_mailed_invitation_is_nobody_elses(email, is_verified):
    team, somebody = TeamFactory.create(), person(email, is_verified=is_verified)
    invitation = invite(team)

    with pytest.raises(InvitationForAnother) as refusal:
        join_team(token=mailed_token(), user=somebody)

    assert refusal.value.params["email"] == "g***@example.com"
    invitation.refresh_from_db()
    assert invitation.used_at is None


def test_address_verified_by_somebody_else_does_not_count():
    person(ADDRESS)
    thief = UserFactory.create()
    EmailAddress.objects.create(user=thief, email="thief@example.com", verified=True)
    invite(TeamFactory.create())

    with pytest.raises(InvitationForAnother):
        join_team(token=mailed_token(), user=thief)


@pytest.mark.parametrize("email", ["", "  ", "no address", "a@b\nBcc: c@example.com", "a@b.kr, c@example.com"])
def test_text_that_is_no_address_is_refused_and_mails_nobody(email):
    with pytest.raises(InvitationAddressInvalid):
        invite(TeamFactory.create(), email)

    assert mail.outbox == []


def test_who_is_in_the_team_is_not_invited():
    team, guest = TeamFactory.create(), person(ADDRESS)
    leader = leader_of(team)
    EmailAddress.objects.create(user=leader, email="second@example.com", verified=True)
    invite(team)
    join_team(token=mailed_token(), user=guest)

    for own in (leader.email.upper(), "second@example.com", ADDRESS):
        with pytest.raises(AddressInTeam):
            invite(team, own)

    assert len(mail.outbox) == 1


def test_an_address_is_invited_once_until_the_invitation_is_over():
    team = TeamFactory.create()
    first = invite(team)

    with pytest.raises(AlreadyInvited) as refusal:
        invite(team, ADDRESS.upper())

    assert refusal.value.params["until"] == first.expires_at
    revoke_invitation(invitation=first, actor=leader_of(team))
    invite(team)
    assert len(mail.outbox) == 2


def test_an_invitation_tells_nothing_of_the_addresses_of_others():
    team = TeamFactory.create(members=1)
    member = team.memberships.get(role=Membership.Role.MEMBER).user
    EmailAddress.objects.create(user=member, email=member.email, verified=True)
    for address in (member.email, person(ADDRESS).email, "nobody@example.com"):
        invite(team, address)
    assert len(mail.outbox) == 3


def test_mail_server_that_is_away_leaves_no_open_invitation(monkeypatch):
    def away(*_args, **_kwargs):
        raise SMTPException("away")

    monkeypatch.setattr("malpan.teams.invitations.send_mail", away)
    team = TeamFactory.create()

    with pytest.raises(MailNotSent):
        invite(team)

    assert not open_invitations(team).exists()


def test_revoked_invitation_lets_nobody_in():
    team = TeamFactory.create()
    invitation, token = create_invitation(team=team, actor=leader_of(team))

    revoke_invitation(invitation=invitation, actor=leader_of(team))
    revoke_invitation(invitation=invitation, actor=leader_of(team))  # harmless

    assert not open_invitations(team).exists()
    assert AuditEntry.objects.filter(action="invitation.revoke").count() == 1
    with pytest.raises(InvitationRevoked):
        join_team(token=token, user=UserFactory.create())


def test_only_the_leader_revokes_and_only_what_is_unused():
    team = TeamFactory.create(members=1)
    member = team.memberships.get(role=Membership.Role.MEMBER).user
    other_leader = leader_of(TeamFactory.create(competition=team.competition))
    invitation, token = create_invitation(team=team, actor=leader_of(team))

    for stranger in (member, other_leader):
        with pytest.raises(NotTeamLeader):
            revoke_invitation(invitation=invitation, actor=stranger)

    join_team(token=token, user=UserFactory.create())
    with pytest.raises(InvitationUsed):
        revoke_invitation(invitation=invitation, actor=leader_of(team))


def test_team_has_at_most_twenty_open_invitations():
    team = TeamFactory.create()
    rows = [create_invitation(team=team, actor=leader_of(team))[0] for _number in range(OPEN_MAX)]

    with pytest.raises(TooManyInvitations):
        create_invitation(team=team, actor=leader_of(team))

    revoke_invitation(invitation=rows[0], actor=leader_of(team))
    create_invitation(team=team, actor=leader_of(team))


def test_revoking_does_not_let_a_team_mail_a_crowd():
    team = TeamFactory.create()
    for number in range(OPEN_MAX):
        row = invite(team, f"guest{number}@example.com")
        revoke_invitation(invitation=row, actor=leader_of(team))

    with pytest.raises(TooManyInvitations):
        invite(team, "one-more@example.com")
    assert len(mail.outbox) == OPEN_MAX

    Invitation.objects.update(created_at=timezone.now() - timedelta(days=1, seconds=1))
    invite(team, "one-more@example.com")


def test_nobody_joins_a_disqualified_team_and_it_invites_nobody():
    team = TeamFactory.create()
    _row, token = create_invitation(team=team, actor=leader_of(team))
    Team.objects.update(disqualified_at=timezone.now())

    with pytest.raises(TeamDisqualified):
        join_team(token=token, user=UserFactory.create())
    with pytest.raises(TeamDisqualified):
        create_invitation(team=team, actor=leader_of(team))


def test_nobody_joins_after_the_last_phase_ended():
    phase = PhaseFactory.create()
    team = TeamFactory.create(competition=phase.track.competition)
    _row, token = create_invitation(team=team, actor=leader_of(team), now=phase.ends_at)

    with pytest.raises(CompetitionOver):
        join_team(token=token, user=UserFactory.create(), now=phase.ends_at)


def test_invitation_of_a_team_that_is_gone_opens_nothing():
    team = TeamFactory.create()
    _row, token = create_invitation(team=team, actor=leader_of(team))
    team.delete()

    with pytest.raises(InvitationNotFound):
        join_team(token=token, user=UserFactory.create())


@pytest.mark.django_db(transaction=True)
def test_accepting_and_revoking_at_once_has_one_outcome():
    team, guest = TeamFactory.create(), UserFactory.create()
    invitation, token = create_invitation(team=team, actor=leader_of(team))

    at_once(
        [
            lambda: join_team(token=token, user=guest),
            lambda: revoke_invitation(invitation=invitation, actor=leader_of(team)),
        ]
    )

    invitation.refresh_from_db()
    assert (invitation.used_at is None) != (invitation.revoked_at is None)
    assert team.memberships.filter(user=guest).exists() == (invitation.used_at is not None)


@pytest.mark.django_db(transaction=True)
def test_invitations_made_at_once_never_exceed_the_limit():
    team = TeamFactory.create()
    leader = leader_of(team)

    outcomes = at_once([lambda: create_invitation(team=team, actor=leader) for _number in range(30)])

    assert sum(isinstance(each, TooManyInvitations) for each in outcomes) == 10
    assert open_invitations(team).count() == OPEN_MAX


@pytest.mark.django_db(transaction=True)
def test_person_using_two_invitations_at_once_is_in_one_team():
    competition, guest = CompetitionFactory.create(), UserFactory.create()
    teams = TeamFactory.create_batch(2, competition=competition)
    tokens = [create_invitation(team=team, actor=leader_of(team))[1] for team in teams]

    at_once([lambda token=token: join_team(token=token, user=guest) for token in tokens])

    assert Membership.objects.filter(user=guest).count() == 1
    assert Invitation.objects.filter(used_by=guest).count() == 1


def test_programs_of_the_invited_person_hear_of_it_and_no_second_mail_goes():
    team, guest, other = TeamFactory.create(), person(ADDRESS), person("other@example.com")
    unverified = UserFactory.create()
    EmailAddress.objects.create(user=unverified, email=ADDRESS.upper(), verified=False)
    for each in (guest, other, unverified):
        Endpoint.objects.create(person=each, url="https://hooks.example.com/", events=["invitation"])

    invitation = invite(team, ADDRESS.upper())
    create_invitation(team=team, actor=leader_of(team))  # a link, which is nobody's

    letter = Letter.objects.get()
    assert (letter.person, letter.endpoint.person) == (guest, guest)
    assert len(mail.outbox) == 1
    compose = events.event_of("invitation").compose
    said = compose(guest, letter.facts)
    assert said.context == {
        "competition": team.competition.title, "team": team.name, "expires_at": invitation.expires_at,
    }  # fmt: skip
    assert mailed_token() not in f"{letter.facts} {said}"
    assert compose(other, letter.facts) is None
    revoke_invitation(invitation=invitation, actor=leader_of(team))
    assert compose(guest, letter.facts) is None


def test_an_invitation_whose_mail_fails_is_told_to_no_program(monkeypatch):
    monkeypatch.setattr("malpan.teams.invitations.send_mail", _fails)
    guest = person(ADDRESS)
    Endpoint.objects.create(person=guest, url="https://hooks.example.com/", events=["invitation"])
    with pytest.raises(MailNotSent):
        invite(TeamFactory.create())
    assert events.event_of("invitation").compose(guest, Letter.objects.get().facts) is None


def _fails(*_args):
    raise SMTPException
