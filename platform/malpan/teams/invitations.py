"""Invitations into a team: by a link, or by a mail that only its addressee can use. Single-use, seven days."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from smtplib import SMTPException
from typing import Final

from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.template.loader import render_to_string
from django.utils import timezone

from malpan.accounts.models import User
from malpan.accounts.selectors import has_verified
from malpan.accounts.tokens import hash_token, make_token
from malpan.competitions import terms
from malpan.core import audit
from malpan.core.errors import DomainError, MailNotSent
from malpan.core.locks import Level, lock_rows
from malpan.core.text import one_line
from malpan.core.times import kst_text
from malpan.teams import letters
from malpan.teams.errors import (
    AddressInTeam,
    AlreadyInTeam,
    AlreadyInvited,
    CompetitionOver,
    InvitationAddressInvalid,
    InvitationExpired,
    InvitationForAnother,
    InvitationNotFound,
    InvitationRevoked,
    InvitationUsed,
    TeamDisqualified,
    TeamFull,
    TooManyInvitations,
)
from malpan.teams.models import Invitation, Membership, Team
from malpan.teams.selectors import is_disqualified, last_end, open_invitations, require_leader
from malpan.teams.services import lock_team, lock_teams, team_refusal

logger = logging.getLogger(__name__)

INVITATION_LIFETIME: Final = timedelta(days=7)
OPEN_MAX: Final = 20  # open invitations of a team, and mails to outsiders in a day
MAIL_WINDOW: Final = timedelta(days=1)


def create_invitation(
    *, team: Team, actor: User, email: str = "", now: datetime | None = None
) -> tuple[Invitation, str]:
    """Make a single-use invitation to ``team``, valid for seven days. Its token is returned only here.

    With an ``email`` only the person who has verified that address can use it; the caller must send it
    (``invite_by_email``). Raises ``NotTeamLeader``, ``TeamDisqualified``, ``InvitationAddressInvalid``,
    ``AddressInTeam``, ``AlreadyInvited`` and, beyond ``OPEN_MAX``, ``TooManyInvitations``.
    """
    moment = now or timezone.now()
    address = _clean_address(email)
    token = make_token()
    with transaction.atomic():
        locked = lock_team(team)
        require_leader(actor, locked)
        if is_disqualified(locked):
            raise TeamDisqualified
        if address:
            _require_new(locked, actor, address, moment)
        _require_room(locked, address, moment)
        invitation = Invitation.objects.create(
            team=locked,
            token_sha256=hash_token(token),
            email=address,
            created_by=actor,
            expires_at=moment + INVITATION_LIFETIME,
        )
        after = {"team": team.pk, "is_mailed": bool(address)}
        audit.record(actor=actor, action="invitation.create", obj=invitation, after=after)
        if address:
            letters.tell_invited(invitation)
    return invitation, token


def invite_by_email(
    *, team: Team, actor: User, email: str, link_for: Callable[[str], str], now: datetime | None = None
) -> Invitation:
    """Make an invitation for one address and mail it there; ``link_for`` turns the token into the full address.

    Raises what ``create_invitation`` raises, ``InvitationAddressInvalid`` for an empty address, and ``MailNotSent``
    if the mail server fails; then the invitation is revoked.
    """
    if not email.strip():
        raise InvitationAddressInvalid
    invitation, token = create_invitation(team=team, actor=actor, email=email, now=now)
    try:
        _send(invitation, link_for(token))
    except (OSError, SMTPException) as error:
        logger.exception("invitation %s was not mailed", invitation.pk)
        revoke_invitation(invitation=invitation, actor=actor, now=now)
        raise MailNotSent(reason="invitation") from error
    return invitation


def revoke_invitation(*, invitation: Invitation, actor: User, now: datetime | None = None) -> None:
    """Make the link invalid. Revoking twice is harmless. Raises ``NotTeamLeader``, ``InvitationUsed``."""
    with transaction.atomic():
        require_leader(actor, lock_team(invitation.team))
        locked = lock_rows(Invitation.objects.all(), Level.INVITATION).get(pk=invitation.pk)
        if locked.used_at is not None:
            raise InvitationUsed
        if locked.revoked_at is None:
            locked.revoked_at = now or timezone.now()
            locked.save(update_fields=["revoked_at"])
            audit.record(actor=actor, action="invitation.revoke", obj=locked, after={"team": locked.team_id})


def obstacle_to(*, invitation: Invitation, user: User | None, now: datetime | None = None) -> DomainError | None:
    """What keeps ``user``, or anybody where nobody is logged in, from joining with the invitation now; the terms, which
    they can accept on the way, keep nobody.
    """
    moment = now or timezone.now()
    try:
        _check_usable(invitation, user, moment)
        _check_joinable(invitation.team, moment)
        _check_addable(invitation.team, user)
    except DomainError as error:
        return error
    return None


def join_team(*, token: str, user: User, now: datetime | None = None) -> Membership:
    """Use up the invitation of ``token`` and make ``user`` a member of its team.

    Raises ``InvitationNotFound``, ``InvitationUsed``, ``InvitationRevoked``, ``InvitationExpired``,
    ``InvitationForAnother``, ``CompetitionOver``, ``TeamDisqualified``, ``TermsNotAccepted``, ``TeamFull`` or
    ``AlreadyInTeam``; the invitation is used up only if the person joins.
    """
    moment = now or timezone.now()
    try:
        with transaction.atomic():
            invitation = _lock_invitation(token)
            _check_usable(invitation, user, moment)
            _check_joinable(invitation.team, moment)
            terms.require_accepted(user, invitation.team.competition)
            membership = _add_member(invitation.team, user)
            invitation.used_at, invitation.used_by = moment, user
            invitation.save(update_fields=["used_at", "used_by"])
            after = {"user": user.pk, "invitation": invitation.pk}
            audit.record(actor=user, action="team.join", obj=invitation.team, after=after, person=user)
    except IntegrityError as error:
        raise team_refusal(error, "") from error
    return membership


def masked(email: str) -> str:
    """``k***@example.com``: enough for its owner to recognise it."""
    name, _at, host = email.partition("@")
    return f"{name[:1]}***@{host}"


def _clean_address(email: str) -> str:
    address = email.strip().lower()
    if address:
        try:
            validate_email(address)
        except ValidationError:
            raise InvitationAddressInvalid from None
    return address


def _require_new(team: Team, leader: User, email: str, now: datetime) -> None:
    """Raise ``AddressInTeam`` or ``AlreadyInvited``, both of what the leader knows: which other addresses its members
    have is none of that.
    """
    is_own = leader.email.lower() == email or has_verified(leader, email)
    if is_own or team.invitations.filter(email=email, used_by__in=team.memberships.values("user")).exists():
        raise AddressInTeam(email=email)
    if open_one := open_invitations(team, now).filter(email=email).first():
        raise AlreadyInvited(email=email, until=open_one.expires_at)


def _require_room(team: Team, email: str, now: datetime) -> None:
    """Raise ``TooManyInvitations`` at the limit. A mailed one counts for a day, even if revoked: no mass mail."""
    mailed = team.invitations.exclude(email="").filter(created_at__gt=now - MAIL_WINDOW)
    if open_invitations(team, now).count() >= OPEN_MAX or (email and mailed.count() >= OPEN_MAX):
        raise TooManyInvitations(limit=OPEN_MAX)


def _send(invitation: Invitation, link: str) -> None:
    context = {
        "invitation": invitation,
        "team": invitation.team,
        "link": link,
        "until": kst_text(invitation.expires_at.replace(second=0, microsecond=0)),
    }
    subject = one_line(render_to_string("emails/invitation_subject.txt", context))
    send_mail(subject, render_to_string("emails/invitation_message.txt", context), None, [invitation.email])


def _lock_invitation(token: str) -> Invitation:
    """The invitation, locked together with its team."""
    token_sha256 = hash_token(token)
    team_ids = Invitation.objects.filter(token_sha256=token_sha256).values("team")
    if not lock_teams(Team.objects.filter(pk__in=team_ids)):
        raise InvitationNotFound
    rows = Invitation.objects.select_related("team__competition")
    return lock_rows(rows, Level.INVITATION).get(token_sha256=token_sha256)


def _check_usable(invitation: Invitation, user: User | None, now: datetime) -> None:
    if invitation.used_at is not None:
        raise InvitationUsed
    if invitation.revoked_at is not None:
        raise InvitationRevoked
    if invitation.expires_at <= now:
        raise InvitationExpired(expired_at=invitation.expires_at)
    if user is not None and invitation.email and not has_verified(user, invitation.email):
        raise InvitationForAnother(email=masked(invitation.email))


def _check_joinable(team: Team, now: datetime) -> None:
    ended_at = last_end(team.competition)
    if ended_at is not None and ended_at <= now:
        raise CompetitionOver(ended_at=ended_at)
    if is_disqualified(team):
        raise TeamDisqualified


def _check_addable(team: Team, user: User | None) -> None:
    if user is not None and Membership.objects.filter(competition_id=team.competition_id, user=user).exists():
        raise AlreadyInTeam
    limit = team.competition.team_size_max
    if team.memberships.count() >= limit:
        raise TeamFull(limit=limit)


def _add_member(team: Team, user: User) -> Membership:
    """Add ``user``; the caller has locked the team's row, so the number of members cannot grow meanwhile."""
    _check_addable(team, user)
    return Membership.objects.create(team=team, user=user, competition=team.competition)
