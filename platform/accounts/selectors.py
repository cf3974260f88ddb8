"""Reads of teams, invitations and API tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from accounts.models import ApiToken, Invitation, Membership, Team, User
from accounts.tokens import hash_token
from core.errors import ApiTokenInvalid, InvitationNotFound, NotTeamLeader, NotTeamMember

if TYPE_CHECKING:
    from competitions.models import Competition


def team_of(user: User | AnonymousUser, competition: Competition) -> Team | None:
    """The person's team in ``competition``; ``None`` for a visitor and for a person without one."""
    if not user.is_authenticated:
        return None
    return Team.objects.filter(memberships__user=user, competition=competition).first()


def membership_of(user: User | AnonymousUser, team: Team) -> Membership | None:
    """The person's place in ``team``, or ``None``."""
    if not user.is_authenticated:
        return None
    return Membership.objects.filter(team=team, user=user).first()


def require_member(user: User | AnonymousUser, team: Team) -> Membership:
    """The person's place in ``team``; raises ``NotTeamMember``."""
    membership = membership_of(user, team)
    if membership is None:
        raise NotTeamMember
    return membership


def require_leader(user: User | AnonymousUser, team: Team) -> Membership:
    """The leader's place in ``team``; raises ``NotTeamLeader`` for everybody else."""
    membership = membership_of(user, team)
    if membership is None or membership.role != Membership.Role.LEADER:
        raise NotTeamLeader
    return membership


def members_of(team: Team) -> QuerySet[Membership]:
    """The members with their people, the leader first, then as they joined."""
    return team.memberships.select_related("user").order_by("role", "joined_at", "pk")


def invitation_by_token(token: str) -> Invitation:
    """The invitation behind a link, usable or not, with its team and competition. Raises ``InvitationNotFound``."""
    invitation = (
        Invitation.objects.filter(token_sha256=hash_token(token))
        .select_related("team__competition", "created_by")
        .first()
    )
    if invitation is None:
        raise InvitationNotFound
    return invitation


def api_tokens_of(user: User) -> QuerySet[ApiToken]:
    """The person's tokens that still work, newest first."""
    return user.api_tokens.filter(revoked_at=None).order_by("-created_at")


def api_token_by_secret(token: str) -> ApiToken:
    """The key, with its user. Raises ``ApiTokenInvalid`` for an unknown or revoked one and for a closed account."""
    row = (
        ApiToken.objects.filter(token_sha256=hash_token(token), revoked_at=None, user__is_active=True)
        .select_related("user")
        .first()
    )
    if row is None:
        raise ApiTokenInvalid
    return row
