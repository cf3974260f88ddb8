"""Reads of teams, invitations and requests to merge."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Max, Prefetch, Q, QuerySet
from django.utils import timezone

from malpan.accounts.models import User
from malpan.accounts.tokens import hash_token
from malpan.core.database.prepared import Prepared
from malpan.core.rows import only
from malpan.core.text import one_line, without_unseen
from malpan.teams.errors import (
    InvitationNotFound,
    MergeRequestNotFound,
    NotTeamLeader,
    NotTeamMember,
    TeamDisqualified,
    TeamNotFound,
)
from malpan.teams.models import Invitation, Membership, MergeRequest, Team

if TYPE_CHECKING:
    from malpan.competitions.models import Competition

FOUND_TEAMS: Final = 10  # the most that a search by name returns
DISQUALIFIED: Final[dict[str, Any]] = {"disqualified_at__isnull": False}
_TEAM: Final = Prepared(
    lambda user, competition: Team.objects.filter(memberships__user=user, memberships__competition=competition),
    int,
    int,
)
_MEMBERSHIP: Final = Prepared(lambda user, team: Membership.objects.filter(user=user, team=team), int, int)


def team_of(user: User | AnonymousUser, competition: Competition) -> Team | None:
    """The person's team in ``competition``; ``None`` for a visitor and for a person without one."""
    if not user.is_authenticated:
        return None
    return _TEAM.only(user.pk, competition.pk)


def membership_of(user: User | AnonymousUser, team: Team) -> Membership | None:
    """The person's membership in ``team``, or ``None``."""
    if not user.is_authenticated:
        return None
    return _MEMBERSHIP.only(user.pk, team.pk)


def require_member(user: User | AnonymousUser, team: Team) -> Membership:
    """The person's membership in ``team``; raises ``NotTeamMember``."""
    membership = membership_of(user, team)
    if membership is None:
        raise NotTeamMember
    return membership


def require_leader(user: User | AnonymousUser, team: Team) -> Membership:
    """The leader's membership in ``team``; raises ``NotTeamLeader`` for everybody else."""
    membership = membership_of(user, team)
    if membership is None or membership.role != Membership.Role.LEADER:
        raise NotTeamLeader
    return membership


def is_disqualified(team: Team) -> bool:
    """Whether ``team`` was disqualified when its row was read."""
    return team.disqualified_at is not None


def require_in_good_standing(team: Team) -> None:
    """Raise ``TeamDisqualified`` if the team is disqualified now: reads the database, not ``team``."""
    if Team.objects.filter(pk=team.pk, disqualified_at__isnull=False).exists():
        raise TeamDisqualified


def disqualified_teams(competition: Competition) -> QuerySet[Team]:
    """The disqualified teams, with their public notes (see ``naming.public_note``), the latest last."""
    return Team.objects.filter(competition=competition, **DISQUALIFIED).order_by("disqualified_at", "pk")


def last_end(competition: Competition) -> datetime | None:
    """When the last phase of ``competition`` ends; ``None`` if it has none."""
    return competition.tracks.aggregate(last=Max("phases__ends_at"))["last"]


def has_final_board(competition: Competition) -> bool:
    """Whether the final board of one of its phases is published."""
    return competition.tracks.filter(phases__final_published_at__isnull=False).exists()


def members_of(team: Team) -> QuerySet[Membership]:
    """The members with their users, the leader first, then in the order of joining."""
    return team.memberships.select_related("user").order_by("role", "joined_at", "pk")


def invitation_by_token(token: str) -> Invitation:
    """The invitation of a link, usable or not, with its team and competition. Raises ``InvitationNotFound``."""
    known = Invitation.objects.filter(token_sha256=hash_token(token))
    invitation = only(known.select_related("team__competition", "created_by"))
    if invitation is None:
        raise InvitationNotFound
    return invitation


def open_invitations(team: Team, now: datetime | None = None) -> QuerySet[Invitation]:
    """The invitations of ``team`` that somebody could still use, newest first."""
    return team.invitations.filter(used_at=None, revoked_at=None, expires_at__gt=now or timezone.now()).order_by(
        "-created_at", "-pk"
    )


def invitation_of(team: Team, pk: int) -> Invitation:
    """The invitation of ``team`` with this primary key. Raises ``InvitationNotFound``."""
    invitation = team.invitations.filter(pk=pk).first()
    if invitation is None:
        raise InvitationNotFound
    return invitation


def member_of(team: Team, pk: int) -> Membership:
    """The membership in ``team`` with this primary key. Raises ``NotTeamMember``."""
    membership = team.memberships.select_related("user").filter(pk=pk).first()
    if membership is None:
        raise NotTeamMember
    return membership


def teams_to_merge_with(team: Team, wanted: str, *, exactly: bool) -> list[Team]:
    """Teams of the same competition whose name contains ``wanted``, at most ``FOUND_TEAMS``.

    ``exactly``: only by the whole name, for blind names, which must not be listed.
    """
    wanted = _as_typed(wanted)
    if not wanted:
        return []
    by_name = Q(name__iexact=wanted) if exactly else Q(name__icontains=wanted)
    others = Team.objects.filter(by_name, competition_id=team.competition_id).exclude(pk=team.pk)
    return list(_able_to_merge(others).order_by("name", "pk")[:FOUND_TEAMS])


def team_named(competition: Competition, name: str) -> Team:
    """The team with exactly this name that could merge; raises ``TeamNotFound``."""
    team = _able_to_merge(Team.objects.filter(competition=competition, name__iexact=_as_typed(name))).first()
    if team is None:
        raise TeamNotFound
    return team


def _as_typed(name: str) -> str:
    return without_unseen(one_line(name))  # PostgreSQL refuses a text that holds a NUL


def _able_to_merge(teams: QuerySet[Team]) -> QuerySet[Team]:
    return teams.filter(is_baseline=False, disqualified_at=None, merged_into=None)


def merge_asked(team: Team) -> MergeRequest | None:
    """The open request of ``team`` to merge into another."""
    return team.merges_asked.filter(state=MergeRequest.State.OPEN).select_related("target", "asked_by").first()


def merges_offered(team: Team) -> QuerySet[MergeRequest]:
    """The open requests of other teams to merge into ``team``, oldest first, with their number of members."""
    offered = team.merges_offered.filter(state=MergeRequest.State.OPEN).select_related("source", "asked_by")
    return offered.annotate(people=Count("source__memberships")).order_by("created_at", "pk")


def merge_request_of(team: Team, pk: int) -> MergeRequest:
    """The open request by or to ``team`` with this primary key. Raises ``MergeRequestNotFound``."""
    request = (
        MergeRequest.objects.filter(Q(source=team) | Q(target=team), pk=pk, state=MergeRequest.State.OPEN)
        .select_related("source", "target")
        .first()
    )
    if request is None:
        raise MergeRequestNotFound
    return request


def teams_with_members(competition: Competition, **counts: Any) -> QuerySet[Team]:
    """Every team with its members, by number; ``counts`` are further annotations (from an app that may import more)."""
    people = Prefetch("memberships", Membership.objects.select_related("user").order_by("role", "joined_at", "pk"))
    rows = Team.objects.filter(competition=competition).select_related("merged_into")
    return rows.annotate(**counts).prefetch_related(people).order_by("number", "pk")


def team_by_number(competition: Competition, number: int) -> Team:
    """The team of this number in ``competition``, whatever its state; raises ``TeamNotFound``."""
    team = teams_with_members(competition).filter(number=number).first()
    if team is None:
        raise TeamNotFound
    return team


def competing_with_a_role(competition: Competition) -> dict[int, str]:
    """People with a role who also compete: their team's name by the user's primary key. Baselines do not compete."""
    rows = Membership.objects.filter(
        competition=competition, team__is_baseline=False, user__competition_roles__competition=competition
    )
    return dict(rows.values_list("user_id", "team__name"))
