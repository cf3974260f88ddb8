"""The rules of the quota: computes a team's use and limits from its ledger. Pure.

The ledger (``QuotaEntry``; written by ``submissions.quota.services``) is read in the order in which it was written. The
lock on the team's row makes that order the same for everybody:

* **charge**: the submission counts from now on, at the moment of its upload. **refund**: it no longer counts.
* **grant for a KST day**: that day's limit is higher by its slots; the total stays the same.
* **grant for the phase**: the total limit is higher by its slots, and the daily limit stays. In a phase with a daily
  limit and no total it is a pool instead: from the day of the grant on, submissions beyond a day's own limit are taken
  from the pool, until it is empty. A grant does not change the interval.
* **reset**: nothing written before counts: no charge (of the day, of the total, for the interval) and no grant. A
  submission charged before a reset is settled: charging it again later, when its failed run is retried, uses no slot.

A rejected file was never charged; a withdrawn submission stays charged. A day is the KST calendar day.

A charge follows the person who submitted as well as the team. The slots somebody used in another team of the same
competition and phase (``Brought``) count in their current team, once for each submission, while they are in it, and in
the other team as before. So nobody gets more by moving, and a team may have used more than its limit: then nothing is
left.

* Only charges that count in the other team's ledger are brought: a refund or an earlier reset there removes them here
  too.
* Limits and grants are the team's and stay with it.
* A reset of a team also cancels what its members had brought until then. A person who joins later brings everything,
  and a person who leaves a reset team brings again what counts where it was charged.
* Baselines are exempt: a submission for one follows nobody, and a baseline's limits count only its own submissions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from malpan.competitions.models import Phase
from malpan.core.times import KST, kst_day
from malpan.submissions.models import QuotaEntry

Kind = QuotaEntry.Kind


@dataclass(frozen=True, slots=True)
class Brought:
    """A charge that counts in another team's ledger, by a ``person`` who joined this team at ``joined_at``."""

    charge: QuotaEntry
    person: str  # their name
    joined_at: datetime


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """How many slots people of a team used in other teams, and their names. False if none."""

    people: tuple[str, ...]
    slots: int

    def __bool__(self) -> bool:
        return self.slots > 0


@dataclass(frozen=True, slots=True)
class QuotaStatus:
    """Limits, use and remaining slots. A limit, and what is left of it, is ``None`` if the phase has none.

    Limits include grants: ``granted_today`` of ``daily_limit``, ``granted_total`` of ``total_limit``.
    ``next_allowed_at`` is the earliest moment, not before now, at which a file will be accepted: now itself if
    ``can_submit``, and ``None`` if no moment of the phase is left. ``left_today`` never exceeds ``left_total``.
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
    granted_today: int
    granted_total: int
    elsewhere_today: Elsewhere  # of used_today
    elsewhere_total: Elsewhere  # of used_total


@dataclass(frozen=True, slots=True)
class Account:
    """The entries of a ledger that count: the charges by submission, the grants, and the last reset."""

    charged: Mapping[int, datetime]  # submission -> moment of its upload; includes brought ones
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
        """The daily limits of ``phase`` for ``account``; ``None`` if the phase has none."""
        if phase.daily_limit is None:
            return None
        used = Counter(kst_day(moment) for moment in account.charged.values())
        pool = account.phase_grant if phase.total_limit is None else 0
        return cls(phase.daily_limit, used, account.day_grants, pool, account.granted_since)

    def granted(self, day: date) -> int:
        """Slots of ``day`` beyond the phase's limit: its own grants and what other days left of the pool."""
        own = self.grants.get(day, 0)
        if self.pool_since is None or day < self.pool_since:
            return own
        others = (self._beyond(other) for other in self.used if other != day and other >= self.pool_since)
        return own + max(0, self.pool - sum(others))

    def left(self, day: date) -> int:
        """The slots left on ``day``; below 0 if more were used than are allowed now."""
        return self.limit + self.granted(day) - self.used.get(day, 0)

    def first_day(self, after: date) -> date | None:
        """The first day after ``after`` on which a file is accepted, or ``None``."""
        # a day without entries has room or is like every other such day, so the first is one of these, if there is any
        likely = {after, *self.used, *self.grants} | ({self.pool_since} if self.pool_since else set())
        later = {day + timedelta(days=1) for day in likely if day >= after} | {day for day in likely if day > after}
        return next((day for day in sorted(later) if self.left(day) > 0), None)

    def _beyond(self, day: date) -> int:
        return max(0, self.used[day] - self.limit - self.grants.get(day, 0))


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

    Also to a later charge: a file uploaded before it may be checked after it.
    """
    for other in sorted(charged):
        end = _whole_second(other + interval)
        if other - interval < moment < end:
            moment = end
    return moment


def _whole_second(moment: datetime) -> datetime:
    """``moment``, rounded up, so that at the time shown, to the second, the file is accepted."""
    return moment if moment.microsecond == 0 else moment.replace(microsecond=0) + timedelta(seconds=1)
