"""Merging two teams: accepting a merge request moves people and submissions.

Allowed only while both together have used no more than one team could have by now: in every phase that is not over, the
charged submissions of each KST day within the daily limit and all of them within the total, including those that
members brought from other teams. (Intervals between uploads are not checked; a limit is that of the remaining team,
with its grants.) The charges of the asking team are charged to the remaining one, at the moments of its uploads: the
ledger of the remaining team is complete.

The submissions of a phase that is over stay with the team that made them, so that its board does not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.models import Phase
from malpan.core import audit
from malpan.submissions.finals import unmark_chosen
from malpan.submissions.models import Rejection, Submission
from malpan.submissions.quota import services as quota
from malpan.submissions.quota.ledger import Account, DailyRoom
from malpan.teams.errors import MergeImpossible, TeamNotFound
from malpan.teams.merging import close_request, require_fit
from malpan.teams.models import Invitation, Membership, MergeRequest, Team
from malpan.teams.selectors import merge_request_of, require_leader
from malpan.teams.services import lock_teams


def accept_merge(*, request: MergeRequest, actor: User, now: datetime | None = None) -> Team:
    """Merge the asking team into the asked one, whose leader is ``actor``; returns the remaining team.

    In one transaction: people and the submissions and rejected files of the phases not over move, open invitations and
    other requests of the asking team end, and if more submissions would be chosen for the final board than a team may
    choose, the choices of the asking team are dropped.

    Raises ``NotTeamLeader``, ``MergeRequestNotFound`` (already answered), ``MergeImpossible``.
    """
    moment = now or timezone.now()
    with transaction.atomic():
        source, target = _lock_both(request)
        require_leader(actor, target)
        open_request = merge_request_of(target, request.pk)
        require_fit(source, target, moment)
        phases = _phases_not_over(target, moment)
        close_request(open_request, MergeRequest.State.ACCEPTED, actor=actor, now=moment)
        _end_what_is_open(source, actor, moment)
        lapsed = _lapse_choices(phases, source, target, moment)
        moved = _move(phases, source, target, moment)
        for phase in phases:
            _charge_over(phase, source, target, actor)
            _require_room(phase, target)
        source.merged_into = target
        source.save(update_fields=["merged_into"])
        after = {"source": source.pk, "target": target.pk, "choices_lapsed": lapsed} | moved
        for team in (source, target):
            audit.record(actor=actor, action="team.merge", obj=team, after=after)
    return target


def _lock_both(request: MergeRequest) -> tuple[Team, Team]:
    """Both teams, locked. Raises ``TeamNotFound``."""
    wanted = Team.objects.filter(pk__in=[request.source_id, request.target_id])
    teams = {team.pk: team for team in lock_teams(wanted)}
    if len(teams) != 2:
        raise TeamNotFound
    return teams[request.source_id], teams[request.target_id]


def _phases_not_over(team: Team, now: datetime) -> list[Phase]:
    return list(Phase.objects.filter(track__competition_id=team.competition_id, ends_at__gt=now))


def _require_room(phase: Phase, team: Team) -> None:
    """Raise ``MergeImpossible``, which rolls everything back, if both together have used more than one team may."""
    excess = exceeded_limit(phase, quota.ledger_of(phase=phase, team=team).account())
    if excess is not None:
        raise MergeImpossible(phase=phase.title, **excess)


def exceeded_limit(phase: Phase, account: Account) -> dict[str, Any] | None:
    """The exceeded limit as params of ``MergeImpossible``; ``None`` within the limits."""
    used = len(account.charged)
    if phase.total_limit is not None and used > phase.total_limit + account.phase_grant:
        return {"reason": "total", "used": used, "limit": phase.total_limit + account.phase_grant}
    days = DailyRoom.of(phase, account)
    for day, used in sorted(days.used.items()) if days else ():
        if days and days.left(day) < 0:
            return {"reason": "daily", "day": day.isoformat(), "used": used, "limit": days.limit + days.granted(day)}
    return None


def _charge_over(phase: Phase, source: Team, target: Team, actor: User) -> None:
    """Charge the counted submissions of ``source``, which were moved with its people, to ``target``."""
    charged = quota.ledger_of(phase=phase, team=source).account().charged  # without members nothing is brought
    counted = Submission.objects.filter(pk__in=charged).select_related("phase", "team")
    for submission in counted.order_by("created_at", "pk"):
        quota.charge(submission=submission, actor=actor)


def _end_what_is_open(source: Team, actor: User, now: datetime) -> None:
    Invitation.objects.filter(team=source, used_at=None, revoked_at=None).update(revoked_at=now)
    for waiting in MergeRequest.objects.filter(target=source, state=MergeRequest.State.OPEN):
        close_request(waiting, MergeRequest.State.DECLINED, actor=actor, now=now)


def _lapse_choices(phases: Sequence[Phase], source: Team, target: Team, now: datetime) -> list[int]:
    """Drop the final choices of ``source`` if those of both teams are too many; returns their primary keys."""
    lapsed: list[int] = []
    for phase in phases:
        chosen = Submission.objects.filter(phase=phase, team__in=[source, target], is_final_choice=True)
        if phase.finals_limit is not None and chosen.count() > phase.finals_limit:
            lapsed += chosen.filter(team=source).order_by("pk").values_list("pk", flat=True)
    unmark_chosen(lapsed, now)
    return lapsed


def _move(phases: Sequence[Phase], source: Team, target: Team, now: datetime) -> dict[str, object]:
    """Move people, submissions and rejected files; returns the primary keys of what was moved."""
    people = list(source.memberships.order_by("pk").values_list("user_id", flat=True))
    Membership.objects.filter(team=source).update(team=target, role=Membership.Role.MEMBER, joined_at=now)
    moving = Submission.objects.filter(team=source, phase__in=phases)
    numbers = list(moving.order_by("pk").values_list("pk", flat=True))
    twins = Submission.objects.filter(
        team=target, upload_key=OuterRef("upload_key"), file_sha256=OuterRef("file_sha256")
    )
    moving.filter(Exists(twins)).update(upload_key="")  # a key identifies one upload of one team
    moving.update(team=target)
    Rejection.objects.filter(team=source, phase__in=phases).update(team=target)
    Team.objects.filter(merged_into=source).update(merged_into=target)  # never a chain
    return {"people": people, "submissions": numbers}
