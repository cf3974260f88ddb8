"""The quota of a team in a phase: what is left, and all writes to its ledger.

``submissions.quota.ledger`` explains the lines. They are written while the team's row is locked (``lock_team``), so
that their order is the same for everybody, and parallel uploads never exceed a limit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from django.db import transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone
from django.utils.translation import gettext

from malpan.accounts.models import User
from malpan.competitions.models import Phase
from malpan.core import audit
from malpan.submissions.errors import GrantWithoutEffect, QuotaExceeded
from malpan.submissions.models import QuotaEntry, RescoreBatch, Submission
from malpan.submissions.quota.ledger import Account, Brought, QuotaStatus, account_from, status_from
from malpan.teams.models import Membership, Team
from malpan.teams.services import lock_team, lock_teams

Kind = QuotaEntry.Kind


@dataclass(frozen=True, slots=True)
class Ledger:
    """A team's ledger in a phase: its lines in the order of writing, and the charges that its members brought."""

    entries: tuple[QuotaEntry, ...]
    brought: tuple[Brought, ...]

    def account(self) -> Account:
        return account_from(self.entries, self.brought)

    def status(self, phase: Phase, now: datetime) -> QuotaStatus:
        return status_from(phase=phase, entries=self.entries, brought=self.brought, now=now)


def status(*, phase: Phase, team: Team, now: datetime | None = None) -> QuotaStatus:
    """What ``team`` has left in ``phase``. One query."""
    return statuses(phase=phase, teams=[team], now=now)[team.pk]


def statuses(*, phase: Phase, teams: Iterable[Team], now: datetime | None = None) -> dict[int, QuotaStatus]:
    """What each of ``teams`` has left in ``phase``, by its primary key. One query."""
    moment, wanted = now or timezone.now(), [team.pk for team in teams]
    return {pk: ledger.status(phase, moment) for pk, ledger in _ledgers(_lines(phase, wanted), wanted).items()}


def ledger_of(*, phase: Phase, team: Team) -> Ledger:
    """The ledger of ``team`` in ``phase``, its lines with their submissions, actors and teams. One query.

    Under ``lock_team`` it is final: members cannot change, and their charges elsewhere were written while they were in
    the other team, before they could leave it.
    """
    lines = _lines(phase, [team.pk]).select_related("submission", "actor", "team")
    return _ledgers(lines, [team.pk])[team.pk]


def _lines(phase: Phase, wanted: Sequence[int]) -> QuerySet[Any]:
    """The lines of the ``wanted`` teams and of all teams in which their members have submitted, in the order of
    writing.

    ``person`` submitted the file; ``home`` is the one of the ``wanted`` teams that this person is in now, ``joined_at``
    since when. ``follows``: the charge follows the person. One for a baseline does not, and after a merge only the
    ledger of the remaining team counts a submission.
    """
    people = Membership.objects.filter(team__in=wanted, team__is_baseline=False)
    home = people.filter(user=OuterRef("submission__submitted_by"))
    visited = Submission.objects.filter(phase=phase, submitted_by__in=people.values("user"))
    teams_to_read = visited.order_by().values("team").union(Team.objects.filter(pk__in=wanted).values("pk"))
    rows = QuotaEntry.objects.filter(phase=phase, team__in=teams_to_read).order_by("pk")
    return rows.annotate(
        person=F("submission__submitted_by__name"),
        home=Subquery(home.values("team")[:1]),
        joined_at=Subquery(home.values("joined_at")[:1]),
        follows=Q(kind=Kind.CHARGE, team__is_baseline=False, submission__team=F("team")),
    )


def _ledgers(lines: Iterable[Any], wanted: Sequence[int]) -> dict[int, Ledger]:
    by_team: dict[int, list[Any]] = defaultdict(list)
    for line in lines:
        by_team[line.team_id].append(line)
    brought: dict[int, list[Brought]] = defaultdict(list)
    for entries in by_team.values():
        counted = account_from(entries).charged
        charges = {entry.submission_id: entry for entry in entries if entry.follows and entry.submission_id in counted}
        for each in charges.values():
            if each.home not in (None, each.team_id):
                person = each.person or gettext("탈퇴한 사람")
                brought[each.home].append(Brought(each, person, each.joined_at))
    return {team: Ledger(tuple(by_team[team]), tuple(brought[team])) for team in wanted}


def lock_team_of(submission: Submission) -> None:
    """Lock the current team of ``submission`` and set ``submission.team``: a merge may have moved it meanwhile."""
    lock_team(submission.team)
    while (team := Team.objects.get(submissions=submission.pk)).pk != submission.team_id:
        submission.team = team
        lock_team(team)


def require_room(*, phase: Phase, team: Team, now: datetime) -> None:
    """Raise ``QuotaExceeded`` unless a submission at ``now`` is within every limit. Final only under ``lock_team``."""
    current = status(phase=phase, team=team, now=now)
    if not current.can_submit:
        raise refusal_of(current)


def charge(*, submission: Submission, actor: User | None) -> None:
    """Charge ``submission`` to its team, at the moment of its upload. Call it in the transaction that creates it."""
    _write(submission.phase, submission.team, Kind.CHARGE, actor, submission=submission, moment=submission.created_at)


def refund(*, submission: Submission, reason: str, actor: User | None = None) -> bool:
    """Stop counting ``submission``, also on the board: it failed on our side, or an organiser decides so.

    Returns false and does nothing if it is already refunded.
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
    """Count a refunded ``submission`` again, under ``lock_team_of``. Does nothing if it already counts.

    Its day and the total must have room (``QuotaExceeded``); the interval and the end of the phase were checked at the
    upload. One that was charged before a reset uses no slot.
    """
    if submission.refunded_at is None:
        return
    ledger = ledger_of(phase=submission.phase, team=submission.team)
    if submission.pk not in ledger.account().settled:
        current = ledger.status(submission.phase, submission.created_at)
        if current.left_total == 0 or current.left_today == 0:
            raise refusal_of(replace(current, next_allowed_at=None))
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
    """Give every team of the competition ``slots`` more; returns the number of teams.

    Raises ``GrantWithoutEffect``. Teams made later do not get them.
    """
    _require_effect(phase, day)
    return _write_for_all(phase, Kind.GRANT, actor, slots=slots, day=day, reason=reason, batch=batch)


def reset(*, phase: Phase, team: Team, reason: str, actor: User | None) -> QuotaEntry:
    """Cancel all earlier charges and grants of ``team`` in ``phase``."""
    with transaction.atomic():
        lock_team(team)
        entry = _write(phase, team, Kind.RESET, actor, reason=reason)
        audit.record(actor=actor, action="quota.reset", obj=entry, after=_facts(entry))
    return entry


def reset_all(*, phase: Phase, reason: str, actor: User | None, batch: RescoreBatch | None = None) -> int:
    """Cancel all earlier charges and grants of every team in ``phase``; returns the number of teams."""
    return _write_for_all(phase, Kind.RESET, actor, reason=reason, batch=batch)


def _write_for_all(phase: Phase, kind: Kind, actor: User | None, **fields: Any) -> int:
    """Write one line for every team, locked here unless a batch has locked them, and one audit entry for the phase."""
    competition = phase.track.competition
    now = timezone.now()
    with transaction.atomic():
        teams: Iterable[Team] = Team.objects.filter(competition=competition, merged_into=None).order_by("pk")
        # a batch locked them before its phase; a team made later may be locked by an upload that waits for the phase
        if fields.get("batch") is None:
            teams = lock_teams(Team.objects.filter(competition=competition, merged_into=None))
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
    """The facts for the audit log of a line without a submission."""
    facts = {"phase": entry.phase_id, "reason": entry.reason}
    if entry.kind == Kind.GRANT:
        facts |= {"slots": entry.slots, "day": entry.day.isoformat() if entry.day else None}
    if entry.batch_id is not None:
        facts["batch"] = entry.batch_id
    return facts


def _require_effect(phase: Phase, day: date | None) -> None:
    """Raise ``GrantWithoutEffect`` unless a grant would raise a limit of the phase."""
    if phase.daily_limit is None and (day is not None or phase.total_limit is None):
        raise GrantWithoutEffect


def refusal_of(current: QuotaStatus) -> QuotaExceeded:
    """Why no file is taken now: the limit that lasts longest, the total, then the day, then the interval."""
    then, total, today = current.next_allowed_at, current.elsewhere_total, current.elsewhere_today
    if current.left_total == 0:
        return QuotaExceeded(kind="total", limit=current.total_limit, next_allowed_at=None, elsewhere=total)
    if current.left_today == 0:
        return QuotaExceeded(kind="daily", limit=current.daily_limit, next_allowed_at=then, elsewhere=today)
    return QuotaExceeded(kind="interval", limit=current.min_interval, next_allowed_at=then, elsewhere=total)
