"""The quota of a team in a phase: what is left, and every line that is written into its ledger.

What the lines mean stands in ``submissions.quota.ledger``. They are written while the team's row is held
(``lock_team``), so that the order in which they stand is one order for everybody, and any number of uploads at once
never exceed a limit. Whoever also locks a run locks it before the team, and a submission or the chain after it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, NoReturn

from django.db import transaction
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.models import Phase
from malpan.core import audit
from malpan.submissions.errors import GrantWithoutEffect, QuotaExceeded
from malpan.submissions.models import QuotaEntry, RescoreBatch, Submission
from malpan.submissions.quota.ledger import QuotaStatus, account_from, status_from
from malpan.teams.models import Team
from malpan.teams.services import lock_team

Kind = QuotaEntry.Kind


def status(*, phase: Phase, team: Team, now: datetime | None = None) -> QuotaStatus:
    """What ``team`` has left in ``phase``. One query."""
    return status_from(phase=phase, entries=entries_of(phase=phase, team=team), now=now or timezone.now())


def statuses(*, phase: Phase, teams: Iterable[Team], now: datetime | None = None) -> dict[int, QuotaStatus]:
    """What each of ``teams`` has left in ``phase``, by its primary key. One query."""
    wanted = list(teams)
    ledgers: dict[int, list[QuotaEntry]] = defaultdict(list)
    for entry in QuotaEntry.objects.filter(phase=phase, team__in=wanted).order_by("pk"):
        ledgers[entry.team_id].append(entry)
    moment = now or timezone.now()
    return {team.pk: status_from(phase=phase, entries=ledgers[team.pk], now=moment) for team in wanted}


def lock_team_of(submission: Submission) -> None:
    """Hold the team whose ``submission`` it is now, and write it there: since it was read a merge may have moved it."""
    lock_team(submission.team)
    while (team := Team.objects.get(submissions=submission.pk)).pk != submission.team_id:
        submission.team = team
        lock_team(team)


def require_room(*, phase: Phase, team: Team, now: datetime) -> None:
    """Raise ``QuotaExceeded`` unless a submission at ``now`` is within every limit. Final only under ``lock_team``."""
    current = status(phase=phase, team=team, now=now)
    if not current.can_submit:
        _refuse(current)


def entries_of(*, phase: Phase, team: Team) -> list[QuotaEntry]:
    """The ledger of ``team`` in ``phase``, in the order in which it was written."""
    return list(QuotaEntry.objects.filter(phase=phase, team=team).order_by("pk"))


def charge(*, submission: Submission, actor: User | None) -> None:
    """Write that ``submission`` took a slot, at the moment it came in. Call it in the transaction that creates it."""
    _write(submission.phase, submission.team, Kind.CHARGE, actor, submission=submission, moment=submission.created_at)


def refund(*, submission: Submission, reason: str, actor: User | None = None) -> bool:
    """Stop counting ``submission``, on the board as well: it failed on our side, or an organiser decides so.

    False, and nothing done, when it is refunded already.
    """
    now = timezone.now()
    with transaction.atomic():
        lock_team_of(submission)
        if not Submission.objects.filter(pk=submission.pk, refunded_at=None).update(refunded_at=now):
            return False
        _write(submission.phase, submission.team, Kind.REFUND, actor, submission=submission, reason=reason, moment=now)
        audit.record(actor=actor, action="submission.refund", obj=submission, after={"reason": reason})
    submission.refunded_at = now
    return True


def charge_again(*, submission: Submission, actor: User) -> None:
    """Count a refunded ``submission`` once more, under ``lock_team_of``. One that counts already is left as it is.

    Its day and the total must have room (``QuotaExceeded``); the interval and the end of the phase were judged when
    it came in. One that was charged before a reset takes no slot.
    """
    if submission.refunded_at is None:
        return
    entries = entries_of(phase=submission.phase, team=submission.team)
    if submission.pk not in account_from(entries).settled:
        current = status_from(phase=submission.phase, entries=entries, now=submission.created_at)
        if current.left_total == 0:
            raise QuotaExceeded(kind="total", limit=current.total_limit, next_allowed_at=None)
        if current.left_today == 0:
            raise QuotaExceeded(kind="daily", limit=current.daily_limit, next_allowed_at=None)
    Submission.objects.filter(pk=submission.pk).update(refunded_at=None)
    submission.refunded_at = None
    charge(submission=submission, actor=actor)
    audit.record(actor=actor, action="submission.charge_again", obj=submission)


def grant(
    *,
    phase: Phase,
    team: Team,
    slots: int,
    reason: str,
    actor: User | None,
    day: date | None = None,
) -> QuotaEntry:
    """Give ``team`` ``slots`` more, for the KST day ``day`` or for the phase. Raises ``GrantWithoutEffect``."""
    _require_effect(phase, day)
    with transaction.atomic():
        lock_team(team)
        entry = _write(phase, team, Kind.GRANT, actor, slots=slots, day=day, reason=reason)
        audit.record(actor=actor, action="quota.grant", obj=entry, after=_facts(entry))
    return entry


def grant_all(
    *,
    phase: Phase,
    slots: int,
    reason: str,
    actor: User | None,
    day: date | None = None,
    batch: RescoreBatch | None = None,
) -> int:
    """Give every team of the competition ``slots`` more; the number of teams.

    Raises ``GrantWithoutEffect``. Teams made later have no part in it.
    """
    _require_effect(phase, day)
    return _write_for_all(phase, Kind.GRANT, actor, slots=slots, day=day, reason=reason, batch=batch)


def reset(*, phase: Phase, team: Team, reason: str, actor: User | None) -> QuotaEntry:
    """Let nothing written so far count for ``team`` in ``phase``: no charge and no grant."""
    with transaction.atomic():
        lock_team(team)
        entry = _write(phase, team, Kind.RESET, actor, reason=reason)
        audit.record(actor=actor, action="quota.reset", obj=entry, after=_facts(entry))
    return entry


def reset_all(*, phase: Phase, reason: str, actor: User | None, batch: RescoreBatch | None = None) -> int:
    """Let nothing written so far count for any team of the competition in ``phase``; the number of teams."""
    return _write_for_all(phase, Kind.RESET, actor, reason=reason, batch=batch)


def _write_for_all(phase: Phase, kind: Kind, actor: User | None, **fields: Any) -> int:
    """One line for every team, held unless a batch holds them already, and one audit entry for the phase."""
    competition = phase.track.competition
    now = timezone.now()
    with transaction.atomic():
        teams = Team.objects.filter(competition=competition, merged_into=None).order_by("pk")
        if fields.get("batch") is None:
            teams = teams.select_for_update(no_key=True)
        # a batch holds them since before its phase; a team made since may be held by an upload that waits for the phase
        entries = [QuotaEntry(phase=phase, team=team, kind=kind, actor=actor, moment=now, **fields) for team in teams]
        QuotaEntry.objects.bulk_create(entries)
        if entries:
            audit.record(
                actor=actor,
                action=f"quota.{kind}_all",
                obj=phase,
                after=_facts(entries[0]) | {"teams": len(entries)},
            )
    return len(entries)


def _write(phase: Phase, team: Team, kind: Kind, actor: User | None, **fields: Any) -> QuotaEntry:
    return QuotaEntry.objects.create(
        phase=phase, team=team, kind=kind, actor=actor, **{"moment": timezone.now(), **fields}
    )


def _facts(entry: QuotaEntry) -> dict[str, Any]:
    """What the audit log keeps of a line that no submission caused."""
    facts = {"phase": entry.phase_id, "reason": entry.reason}
    if entry.kind == Kind.GRANT:
        facts |= {"slots": entry.slots, "day": entry.day.isoformat() if entry.day else None}
    if entry.batch_id is not None:
        facts["batch"] = entry.batch_id
    return facts


def _require_effect(phase: Phase, day: date | None) -> None:
    """A grant must raise a limit that the phase has."""
    if phase.daily_limit is None and (day is not None or phase.total_limit is None):
        raise GrantWithoutEffect


def _refuse(current: QuotaStatus) -> NoReturn:
    """Name the limit that stands in the way longest: the total, then the day, then the interval."""
    if current.left_total == 0:
        raise QuotaExceeded(kind="total", limit=current.total_limit, next_allowed_at=None)
    if current.left_today == 0:
        raise QuotaExceeded(kind="daily", limit=current.daily_limit, next_allowed_at=current.next_allowed_at)
    raise QuotaExceeded(kind="interval", limit=current.min_interval, next_allowed_at=current.next_allowed_at)
