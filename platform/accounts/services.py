"""Writes of teams, invitations and API tokens."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import ApiToken, Invitation, Membership, Team, User
from accounts.selectors import require_leader
from accounts.tokens import hash_token, make_token
from core import audit
from core.constraints import violated_constraint
from core.errors import (
    AlreadyInTeam,
    DomainError,
    InvitationExpired,
    InvitationNotFound,
    InvitationUsed,
    TeamFull,
    TeamNameInvalid,
    TeamNameTaken,
)
from core.text import has_unseen, one_line

if TYPE_CHECKING:
    from competitions.models import Competition

INVITATION_LIFETIME: Final = timedelta(days=7)
TEAM_NAME_MAX_CHARS: Final = 60
API_KEY_MARK: Final = "mlp_"  # lets a secret scanner, and a person, recognise a leaked token


def create_team(*, competition: Competition, name: str, leader: User, is_baseline: bool = False) -> Team:
    """Make a team of ``competition`` led by ``leader``.

    Raises ``TeamNameInvalid``, ``TeamNameTaken`` or, when the leader already has a team there, ``AlreadyInTeam``.
    Two requests at once are told apart by the database's constraints.
    """
    clean_name = _clean_team_name(name)
    try:
        with transaction.atomic():
            team = Team.objects.create(competition=competition, name=clean_name, is_baseline=is_baseline)
            Membership.objects.create(team=team, user=leader, competition=competition, role=Membership.Role.LEADER)
            audit.record(actor=leader, action="team.create", obj=team, after={"name": clean_name})
    except IntegrityError as error:
        raise _team_refusal(error, clean_name) from error
    return team


def create_invitation(*, team: Team, actor: User, now: datetime | None = None) -> tuple[Invitation, str]:
    """Make a single-use link into ``team``, good for seven days. The token is returned here and never again.

    Raises ``NotTeamLeader``.
    """
    require_leader(actor, team)
    token = make_token()
    with transaction.atomic():
        invitation = Invitation.objects.create(
            team=team,
            token_sha256=hash_token(token),
            created_by=actor,
            expires_at=(now or timezone.now()) + INVITATION_LIFETIME,
        )
        audit.record(actor=actor, action="invitation.create", obj=invitation, after={"team": team.pk})
    return invitation, token


def join_team(*, token: str, user: User, now: datetime | None = None) -> Membership:
    """Use up the invitation behind ``token`` and make ``user`` a member of its team.

    Raises ``InvitationNotFound``, ``InvitationUsed``, ``InvitationExpired``, ``TeamFull`` or ``AlreadyInTeam``; the
    invitation is used up only when the person is in.
    """
    try:
        with transaction.atomic():
            invitation = _lock_invitation(token)
            _check_usable(invitation, now or timezone.now())
            membership = _add_member(invitation.team, user)
            invitation.used_at = now or timezone.now()
            invitation.used_by = user
            invitation.save(update_fields=["used_at", "used_by"])
            audit.record(
                actor=user,
                action="team.join",
                obj=invitation.team,
                after={"user": user.pk, "invitation": invitation.pk},
            )
    except IntegrityError as error:
        raise _team_refusal(error, "") from error
    return membership


def create_api_token(*, user: User, label: str) -> tuple[ApiToken, str]:
    """Make a key to the API for ``user``. The token is returned here and never again; only its sha256 is kept."""
    token = make_token(API_KEY_MARK)
    with transaction.atomic():
        row = ApiToken.objects.create(user=user, label=label, prefix=token[:8], token_sha256=hash_token(token))
        audit.record(actor=user, action="api_token.create", obj=row, after={"prefix": row.prefix})
    return row, token


def revoke_api_token(*, api_token: ApiToken, actor: User) -> None:
    """Make the token worthless from now on. Revoking twice is harmless."""
    with transaction.atomic():
        if ApiToken.objects.filter(pk=api_token.pk, revoked_at=None).update(revoked_at=timezone.now()):
            audit.record(actor=actor, action="api_token.revoke", obj=api_token, after={"prefix": api_token.prefix})


def note_token_use(*, api_token: ApiToken) -> None:
    """Remember when the token last submitted, so that its owner can tell a forgotten one from one in use."""
    ApiToken.objects.filter(pk=api_token.pk).update(last_used_at=timezone.now())


def _clean_team_name(name: str) -> str:
    clean = one_line(name)
    if not 0 < len(clean) <= TEAM_NAME_MAX_CHARS or has_unseen(clean):
        raise TeamNameInvalid(limit=TEAM_NAME_MAX_CHARS)
    return clean


def _lock_invitation(token: str) -> Invitation:
    """The invitation, with its team's row locked first and its own after: always in this order."""
    token_sha256 = hash_token(token)
    team_ids = Invitation.objects.filter(token_sha256=token_sha256).values("team")
    if Team.objects.select_for_update(no_key=True).filter(pk__in=team_ids).first() is None:
        raise InvitationNotFound
    return (
        Invitation.objects.select_for_update(of=["self"])
        .select_related("team__competition")
        .get(token_sha256=token_sha256)
    )


def _check_usable(invitation: Invitation, now: datetime) -> None:
    if invitation.used_at is not None:
        raise InvitationUsed
    if invitation.expires_at <= now:
        raise InvitationExpired(expired_at=invitation.expires_at)


def _add_member(team: Team, user: User) -> Membership:
    """Add ``user``; the caller holds the team's row, so the count cannot grow meanwhile."""
    limit = team.competition.team_size_max
    if Membership.objects.filter(competition_id=team.competition_id, user=user).exists():
        raise AlreadyInTeam
    if team.memberships.count() >= limit:
        raise TeamFull(limit=limit)
    return Membership.objects.create(team=team, user=user, competition=team.competition)


def _team_refusal(error: IntegrityError, name: str) -> DomainError | IntegrityError:
    """The named error behind a broken constraint, or the error itself where it is none of ours."""
    return {
        "team_name_unique_in_competition": TeamNameTaken(name=name),
        "one_team_per_person_per_competition": AlreadyInTeam(),
    }.get(violated_constraint(error) or "", error)
