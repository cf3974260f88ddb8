"""How many files a team may still submit, and from when.

Counted are the submissions of the team in the phase that were not refunded; a rejected file was never a submission.
A day is the KST calendar day. ``status`` reads; ``take_slot`` decides, holding the team's row, so that any number of
uploads at once never exceed a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NoReturn

from django.utils import timezone

from accounts.models import Team, User
from competitions.models import Phase
from core import audit
from core.errors import QuotaExceeded
from core.times import kst_day, kst_day_bounds
from submissions.models import Submission


@dataclass(frozen=True, slots=True)
class QuotaStatus:
    """What is left. A limit, and what is left of it, is ``None`` where the phase sets none.

    ``next_allowed_at`` is the earliest moment, not before now, at which a file will be taken: now itself when
    ``can_submit``, and ``None`` when no moment of the phase is left. ``left_today`` never exceeds ``left_total``.
    """

    daily_limit: int | None
    used_today: int
    left_today: int | None
    total_limit: int | None
    used_total: int
    left_total: int | None
    min_interval: timedelta
    next_allowed_at: datetime | None
    can_submit: bool


def status(*, phase: Phase, team: Team, now: datetime | None = None) -> QuotaStatus:
    """What ``team`` has left in ``phase``. One query."""
    return status_from(phase=phase, charged=charged_moments(phase=phase, team=team), now=now or timezone.now())


def take_slot(*, phase: Phase, team: Team, now: datetime) -> None:
    """Lock the team until the transaction ends and make sure one more submission at ``now`` is within every limit.

    The caller creates the submission in the same transaction. Raises ``QuotaExceeded``.
    """
    lock_team(team)
    require_room(phase=phase, team=team, now=now)


def lock_team(team: Team) -> None:
    """Hold the team's row until the transaction ends. Rows that merely point at the team are not kept waiting."""
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)


def require_room(*, phase: Phase, team: Team, now: datetime) -> None:
    """Raise ``QuotaExceeded`` unless a submission at ``now`` is within every limit. Final only under ``lock_team``."""
    current = status(phase=phase, team=team, now=now)
    if not current.can_submit:
        _refuse(current, now)


def refund(*, submission: Submission, reason: str, actor: User | None = None) -> None:
    """Stop counting ``submission``: it failed on our side. Refunding twice is harmless."""
    now = timezone.now()
    if Submission.objects.filter(pk=submission.pk, refunded_at=None).update(refunded_at=now):
        submission.refunded_at = now
        audit.record(actor=actor, action="submission.refund", obj=submission, after={"reason": reason})


def charge_again(*, submission: Submission, actor: User) -> None:
    """Count a refunded ``submission`` once more, under ``lock_team``. One that counts already is left as it is.

    Its day and the total must have room (``QuotaExceeded``); the interval and the end of the phase were judged when
    it came in.
    """
    if submission.refunded_at is None:
        return
    phase = submission.phase
    charged = charged_moments(phase=phase, team=submission.team)
    used_that_day = sum(kst_day(moment) == kst_day(submission.created_at) for moment in charged)
    if phase.total_limit is not None and len(charged) >= phase.total_limit:
        raise QuotaExceeded(kind="total", limit=phase.total_limit, next_allowed_at=None)
    if phase.daily_limit is not None and used_that_day >= phase.daily_limit:
        raise QuotaExceeded(kind="daily", limit=phase.daily_limit, next_allowed_at=None)
    Submission.objects.filter(pk=submission.pk).update(refunded_at=None)
    submission.refunded_at = None
    audit.record(actor=actor, action="submission.charge_again", obj=submission)


def charged_moments(*, phase: Phase, team: Team) -> list[datetime]:
    """When the counted submissions of ``team`` came in, oldest first."""
    counted = Submission.objects.filter(phase=phase, team=team, refunded_at=None)
    return list(counted.order_by("created_at").values_list("created_at", flat=True))


def status_from(*, phase: Phase, charged: Sequence[datetime], now: datetime) -> QuotaStatus:
    """The status that follows from the moments of the counted submissions, oldest first. Pure."""
    used_total = len(charged)
    used_today = sum(kst_day(moment) == kst_day(now) for moment in charged)
    left_total = _left(phase.total_limit, used_total)
    left_today = _left(phase.daily_limit, used_today)
    if left_today is not None and left_total is not None:
        left_today = min(left_today, left_total)
    next_allowed_at = _next_allowed_at(phase, charged, now)
    return QuotaStatus(
        daily_limit=phase.daily_limit,
        used_today=used_today,
        left_today=left_today,
        total_limit=phase.total_limit,
        used_total=used_total,
        left_total=left_total,
        min_interval=phase.min_interval,
        next_allowed_at=next_allowed_at,
        can_submit=next_allowed_at == now,
    )


def _left(limit: int | None, used: int) -> int | None:
    return None if limit is None else max(0, limit - used)


def _next_allowed_at(phase: Phase, charged: Sequence[datetime], now: datetime) -> datetime | None:
    """The earliest moment from ``now`` on that every limit allows, inside the phase."""
    if phase.daily_limit == 0 or _left(phase.total_limit, len(charged)) == 0:
        return None
    moment = max(now, phase.starts_at)
    if charged and phase.min_interval:
        moment = max(moment, _whole_second(charged[-1] + phase.min_interval))
    if phase.daily_limit is not None:
        moment = _first_day_with_room(phase.daily_limit, charged, moment)
    return moment if moment < phase.ends_at else None


def _first_day_with_room(limit: int, charged: Sequence[datetime], moment: datetime) -> datetime:
    """``moment``, or the first KST midnight after it whose day has room."""
    while sum(kst_day(other) == kst_day(moment) for other in charged) >= limit:
        moment = kst_day_bounds(moment)[1]
    return moment


def _whole_second(moment: datetime) -> datetime:
    """``moment``, rounded up, so that the time shown to the second is a time at which the file is taken."""
    return moment if moment.microsecond == 0 else moment.replace(microsecond=0) + timedelta(seconds=1)


def _refuse(current: QuotaStatus, now: datetime) -> NoReturn:
    """Name the limit that stands in the way longest: the total, then the day, then the interval."""
    if current.left_total == 0:
        raise QuotaExceeded(kind="total", limit=current.total_limit, next_allowed_at=None)
    if current.left_today == 0:
        raise QuotaExceeded(kind="daily", limit=current.daily_limit, next_allowed_at=current.next_allowed_at)
    raise QuotaExceeded(kind="interval", limit=current.min_interval, next_allowed_at=current.next_allowed_at)
