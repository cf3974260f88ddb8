"""Requests to merge two teams: one leader asks, the other answers. Accepting is in ``submissions.merging``."""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils import timezone

from malpan.accounts.models import User
from malpan.core import audit
from malpan.core.constraints import violated_constraint
from malpan.teams.errors import MergeAlreadyAsked, MergeImpossible, MergeRequestNotFound, TeamNotFound
from malpan.teams.models import MergeRequest, Team
from malpan.teams.selectors import is_disqualified, last_end, merge_request_of, require_leader
from malpan.teams.services import lock_team

State = MergeRequest.State


def ask_merge(*, source: Team, target: Team, actor: User, now: datetime | None = None) -> MergeRequest:
    """Ask ``target`` to merge with ``source``. The submissions of both are checked when the other leader accepts.

    Raises ``NotTeamLeader``, ``TeamNotFound`` (of another competition), ``MergeImpossible``, ``MergeAlreadyAsked``.
    """
    if target.competition_id != source.competition_id:
        raise TeamNotFound
    try:
        with transaction.atomic():
            locked = lock_team(source)
            require_leader(actor, locked)
            require_fit(locked, Team.objects.get(pk=target.pk), now or timezone.now())
            request = MergeRequest.objects.create(source=locked, target=target, asked_by=actor)
            audit.record(actor=actor, action="team.ask_merge", obj=locked, after={"target": target.pk})
    except IntegrityError as error:
        if violated_constraint(error) == "one_open_merge_request_per_team":
            raise MergeAlreadyAsked from error
        raise
    return request


def withdraw_merge(*, request: MergeRequest, actor: User, now: datetime | None = None) -> None:
    """Withdraw the request of one's own team. Raises ``NotTeamLeader``, ``MergeRequestNotFound`` (already answered)."""
    with transaction.atomic():
        source = lock_team(request.source)
        require_leader(actor, source)
        close_request(merge_request_of(source, request.pk), State.WITHDRAWN, actor=actor, now=now)
        audit.record(actor=actor, action="team.withdraw_merge", obj=source, before={"target": request.target_id})


def decline_merge(*, request: MergeRequest, actor: User, now: datetime | None = None) -> None:
    """Decline another team's request. Raises ``NotTeamLeader``, ``MergeRequestNotFound`` (already answered)."""
    with transaction.atomic():
        target = lock_team(request.target)
        require_leader(actor, target)
        close_request(merge_request_of(target, request.pk), State.DECLINED, actor=actor, now=now)
        audit.record(actor=actor, action="team.decline_merge", obj=target, before={"source": request.source_id})


def close_request(request: MergeRequest, state: str, *, actor: User, now: datetime | None = None) -> None:
    """Answer an open request; raises ``MergeRequestNotFound`` if it is already answered. Writes no audit entry."""
    open_row = MergeRequest.objects.filter(pk=request.pk, state=State.OPEN)
    if not open_row.update(state=state, answered_by=actor, answered_at=now or timezone.now()):
        raise MergeRequestNotFound


def require_fit(source: Team, target: Team, now: datetime) -> None:
    """Raise ``MergeImpossible`` unless the two teams may be merged; does not check their submissions."""
    if source.pk == target.pk:
        raise MergeImpossible(reason="same")
    if source.is_baseline or target.is_baseline:
        raise MergeImpossible(reason="baseline")
    if source.is_program != target.is_program:
        raise MergeImpossible(reason="program")
    if is_disqualified(source) or is_disqualified(target):
        raise MergeImpossible(reason="disqualified")
    if source.merged_into_id is not None or target.merged_into_id is not None:
        raise MergeImpossible(reason="merged")
    ended_at = last_end(source.competition)
    if ended_at is not None and ended_at <= now:
        raise MergeImpossible(reason="over")
    size, limit = source.memberships.count() + target.memberships.count(), source.competition.team_size_max
    if size > limit:
        raise MergeImpossible(reason="size", size=size, limit=limit)
