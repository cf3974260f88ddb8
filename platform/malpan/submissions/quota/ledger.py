"""The rule of the quota: what follows from a team's ledger. Pure.

The ledger (``QuotaEntry``; written by ``submissions.quota.services``) is read in the order in which it was written.
The lock on the team's row makes that one order for everybody:

* **charge**: the submission counts from now on, at the moment its file came in. **refund**: it does not.
* **grant for a KST day**: that day's limit is so much higher; the total stays what it is.
* **grant for the phase**: the total limit is so much higher, and the day's limit stays. In a phase with a daily limit
  and no total it is a pool instead: what a day takes beyond its own limit, from the day of the grant on, is taken from
  the pool, until the pool is empty. A grant lifts no interval.
* **reset**: nothing written before counts: no charge (of the day, of the total, for the interval) and no grant. A
  submission charged before a reset is settled: charging it again later, when its failed run is retried, takes no slot.

A rejected file was never charged; a withdrawn submission stays charged. A day is the KST calendar day.

A charge follows the person who submitted as well as the team. What somebody used in another team of the same
competition and phase (``Brought``) counts in the team they are in now, once for each submission, as long as they are in
it, and in the other team as before. So nobody gets more by moving, and a team may have used more than its limit: then
nothing is left.

* Brought is what counts in the other team's ledger: a refund there, or a reset before, takes it away here as well.
* Limits and grants are the team's and stay with it.
* A reset of a team also ends what its members had brought until then. Whoever joins later brings everything, and
  whoever moves on from a team that was reset brings again what counts where it was charged.
* Baselines are exempt: what was submitted for one follows nobody, and a baseline's own limits count only its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final

from malpan.competitions.models import Phase
from malpan.core.times import KST, kst_day
from malpan.submissions.models import QuotaEntry

Kind = QuotaEntry.Kind


@dataclass(frozen=True, slots=True)
class Brought:
    """A charge that counts in another team's ledger, by a ``person`` who joined this team at ``joined_at``."""

    charge: QuotaEntry
    person: str  # by name
    joined_at: datetime


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """How many slots which people of a team used in other teams. False where they used none."""

    people: tuple[str, ...] = ()
    slots: int = 0

    def __bool__(self) -> bool:
        return self.slots > 0


NOTHING_ELSEWHERE: Final = Elsewhere()


@dataclass(frozen=True, slots=True)
class QuotaStatus:
    """What is left. A limit, and what is left of it, is ``None`` where the phase sets none.

    Limits include what was granted: ``granted_today`` of ``daily_limit``, ``granted_total`` of ``total_limit``.
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
    granted_today: int = 0
    granted_total: int = 0
    elsewhere_today: Elsewhere = NOTHING_ELSEWHERE  # of used_today
    elsewhere_total: Elsewhere = NOTHING_ELSEWHERE  # of used_total


@dataclass(frozen=True, slots=True)
class Account:
    """What of a ledger counts: the charges by submission, the grants, and the entry from which on it is read."""

    charged: Mapping[int, datetime]  # submission -> when its file came in; what was brought is among them
    brought: tuple[Brought, ...]
    day_grants: Mapping[date, int]
    phase_grant: int
    granted_since: date | None  # the day of the first grant for the phase
    last_reset: int | None  # the primary key of the entry
    settled: frozenset[int]  # the submissions charged before it


def account_from(entries: Iterable[QuotaEntry], brought: Iterable[Brought] = ()) -> Account:
    """Replay a ledger, given in the order in which it was written, with what its members ``brought``. Pure."""
    charged: dict[int, datetime] = {}
    day_grants: Counter[date] = Counter()
    phase_grant, granted_since, last_reset = 0, None, None
    reset_at: datetime | None = None
    seen: set[int] = set()
    settled: frozenset[int] = frozenset()
    for entry in entries:
        key = entry.submission_id
        if entry.kind == Kind.RESET:
            charged, day_grants, phase_grant, granted_since = {}, Counter(), 0, None
            settled, last_reset, reset_at = frozenset(seen), entry.pk, entry.moment
        elif entry.kind == Kind.GRANT and entry.day is not None:
            day_grants[entry.day] += entry.slots
        elif entry.kind == Kind.GRANT:
            phase_grant += entry.slots
            granted_since = granted_since or kst_day(entry.moment)
        elif key is not None and entry.kind == Kind.CHARGE:
            seen.add(key)
            if key not in settled:
                charged[key] = entry.moment
        elif key is not None:
            charged.pop(key, None)
    counted = tuple(each for each in brought if reset_at is None or each.joined_at > reset_at)
    charged |= {each.charge.submission_id: each.charge.moment for each in counted if each.charge.submission_id}
    return Account(charged, counted, day_grants, phase_grant, granted_since, last_reset, settled)


def status_from(
    *, phase: Phase, entries: Iterable[QuotaEntry], now: datetime, brought: Iterable[Brought] = ()
) -> QuotaStatus:
    """The status that follows from a ledger, given as for ``account_from``. Pure."""
    account = account_from(entries, brought)
    days = DailyRoom.of(phase, account)
    today = kst_day(now)
    used_total = len(account.charged)
    granted_total = account.phase_grant if phase.total_limit is not None else 0
    total_limit = None if phase.total_limit is None else phase.total_limit + granted_total
    left_total = None if total_limit is None else max(0, total_limit - used_total)
    left_today = None if days is None else max(0, days.left(today))
    if left_today is not None and left_total is not None:
        left_today = min(left_today, left_total)
    next_allowed_at = None if left_total == 0 else _next_allowed_at(phase, account, days, now)
    return QuotaStatus(
        daily_limit=None if days is None else days.limit + days.granted(today),
        used_today=sum(kst_day(moment) == today for moment in account.charged.values()),
        left_today=left_today,
        total_limit=total_limit,
        used_total=used_total,
        left_total=left_total,
        min_interval=phase.min_interval,
        next_allowed_at=next_allowed_at,
        can_submit=next_allowed_at == now,
        granted_today=0 if days is None else days.granted(today),
        granted_total=granted_total,
        elsewhere_today=_elsewhere(each for each in account.brought if kst_day(each.charge.moment) == today),
        elsewhere_total=_elsewhere(account.brought),
    )


def _elsewhere(brought: Iterable[Brought]) -> Elsewhere:
    used = Counter(each.person for each in brought)
    return Elsewhere(tuple(sorted(used)), used.total())


@dataclass(frozen=True, slots=True)
class DailyRoom:
    """The daily limit over all days of a phase."""

    limit: int
    used: Mapping[date, int]
    grants: Mapping[date, int]
    pool: int
    pool_since: date | None

    @classmethod
    def of(cls, phase: Phase, account: Account) -> DailyRoom | None:
        """``None`` where the phase sets no daily limit."""
        if phase.daily_limit is None:
            return None
        used = Counter(kst_day(moment) for moment in account.charged.values())
        pool = account.phase_grant if phase.total_limit is None else 0
        return cls(phase.daily_limit, used, account.day_grants, pool, account.granted_since)

    def granted(self, day: date) -> int:
        """What ``day`` may take beyond the phase's limit: its own grants and what other days left of the pool."""
        own = self.grants.get(day, 0)
        if self.pool_since is None or day < self.pool_since:
            return own
        others = (self._beyond(other) for other in self.used if other != day and other >= self.pool_since)
        return own + max(0, self.pool - sum(others))

    def left(self, day: date) -> int:
        """How many more ``day`` takes; below 0 when it took more than it may now."""
        return self.limit + self.granted(day) - self.used.get(day, 0)

    def first_day(self, after: date) -> date | None:
        """The first day later than ``after`` that takes a file, or ``None``."""
        # a day without entries has room or is like every other such day: one of these is the first, if there is any
        likely = {after, *self.used, *self.grants} | ({self.pool_since} if self.pool_since else set())
        later = {day + timedelta(days=1) for day in likely if day >= after} | {day for day in likely if day > after}
        return next((day for day in sorted(later) if self.left(day) > 0), None)

    def _beyond(self, day: date) -> int:
        return max(0, self.used.get(day, 0) - self.limit - self.grants.get(day, 0))


def _next_allowed_at(phase: Phase, account: Account, days: DailyRoom | None, now: datetime) -> datetime | None:
    """The earliest moment from ``now`` on that the interval and the days allow, inside the phase."""
    moment = max(now, phase.starts_at)
    if phase.min_interval:
        moment = _outside_intervals(moment, account.charged.values(), phase.min_interval)
    if days is not None and days.left(kst_day(moment)) <= 0:
        day = days.first_day(after=kst_day(moment))
        if day is None:
            return None
        moment = datetime.combine(day, time.min, tzinfo=KST)
    return moment if moment < phase.ends_at else None


def _outside_intervals(moment: datetime, charged: Iterable[datetime], interval: timedelta) -> datetime:
    """The first moment from ``moment`` on that keeps ``interval`` to every charge.

    To a later one as well: a file that came in before it may be judged after it.
    """
    for other in sorted(charged):
        end = _whole_second(other + interval)
        if other - interval < moment < end:
            moment = end
    return moment


def _whole_second(moment: datetime) -> datetime:
    """``moment``, rounded up, so that the time shown to the second is a time at which the file is taken."""
    return moment if moment.microsecond == 0 else moment.replace(microsecond=0) + timedelta(seconds=1)
