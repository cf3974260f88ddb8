"""The rule over a ledger: KST days, totals, intervals, grants, resets, and the exact moment of the next file."""

from datetime import date, datetime, timedelta

import pytest

from malpan.core.times import KST
from malpan.submissions.models import QuotaEntry
from malpan.submissions.quota.ledger import Brought, DailyRoom, Elsewhere, QuotaStatus, account_from, status_from
from tests.factories import PhaseFactory

Kind = QuotaEntry.Kind


def kst(day: int, hour: int = 0, minute: int = 0, second: int = 0, micro: int = 0) -> datetime:
    """A moment of November 2026 in KST."""
    return datetime(2026, 11, day, hour, minute, second, micro, tzinfo=KST)


def _phase(**limits):
    return PhaseFactory.build(starts_at=kst(1), ends_at=kst(30), **limits)


def charges(*moments: datetime, first: int = 1) -> list[QuotaEntry]:
    """A charge at each moment, of the submissions ``first``, ``first + 1``…"""
    return [
        QuotaEntry(kind=Kind.CHARGE, submission_id=number, moment=moment)
        for number, moment in enumerate(moments, start=first)
    ]


def charge(number: int, moment: datetime) -> QuotaEntry:
    return QuotaEntry(kind=Kind.CHARGE, submission_id=number, moment=moment)


def refund(number: int, moment: datetime) -> QuotaEntry:
    return QuotaEntry(kind=Kind.REFUND, submission_id=number, moment=moment)


def grant(slots: int, moment: datetime, day: int | None = None) -> QuotaEntry:
    return QuotaEntry(kind=Kind.GRANT, slots=slots, moment=moment, day=date(2026, 11, day) if day else None)


def reset(moment: datetime, pk: int = 100) -> QuotaEntry:
    return QuotaEntry(pk=pk, kind=Kind.RESET, moment=moment)


def found(phase, entries, now) -> QuotaStatus:
    return status_from(phase=phase, entries=entries, now=now)


def _next(phase, moments, now):
    return found(phase, charges(*moments), now).next_allowed_at


def test_without_limits_a_file_is_taken_now():
    status = found(_phase(), charges(kst(20, 9)), kst(20, 10))

    assert (status.can_submit, status.next_allowed_at) == (True, kst(20, 10))
    assert (status.left_today, status.left_total) == (None, None)


def test_day_ends_at_midnight_in_korea_not_in_greenwich():
    charged = [kst(20, 8, 59), kst(20, 23, 59)]  # on two days of UTC, on one of KST
    phase = _phase(daily_limit=2)

    assert _next(phase, charged, kst(20, 23, 59, 59)) == kst(21)
    assert _next(phase, charged, kst(21)) == kst(21)
    assert found(phase, charges(*charged), kst(21)).left_today == 2


def test_last_microsecond_of_the_day_belongs_to_it():
    charged = charges(kst(20, 23, 59, 59, 999_999))

    assert found(_phase(daily_limit=1), charged, kst(20)).used_today == 1
    assert found(_phase(daily_limit=1), charged, kst(21)).used_today == 0


def test_file_of_before_midnight_that_is_judged_after_one_of_the_next_day_counts_on_its_own_day():
    later_first = charges(kst(21, 0, 0, 0, 100_000))

    status = found(_phase(daily_limit=1), later_first, kst(20, 23, 59, 59, 900_000))

    assert (status.used_today, status.can_submit) == (0, True)


def test_interval_runs_from_the_last_counted_submission():
    phase = _phase(min_interval=timedelta(hours=72))

    assert _next(phase, [kst(1, 9), kst(10, 12, 30)], kst(11)) == kst(13, 12, 30)
    assert _next(phase, [kst(10, 12, 30)], kst(13, 12, 30)) == kst(13, 12, 30)
    assert _next(phase, [kst(10, 12, 30), kst(1, 9)], kst(11)) == kst(13, 12, 30)  # written late, not sent late


def test_file_that_is_judged_after_a_later_one_keeps_the_interval_to_it_too():
    phase = _phase(min_interval=timedelta(seconds=1))

    assert _next(phase, [kst(10, 12, 0, 1)], kst(10, 12)) == kst(10, 12)
    assert _next(phase, [kst(10, 12, 0, 1)], kst(10, 12, 0, 0, 1)) == kst(10, 12, 0, 2)
    assert _next(phase, [kst(10, 12, 0, 1), kst(10, 12, 0, 2)], kst(10, 12, 0, 0, 1)) == kst(10, 12, 0, 3)


def test_shown_moment_is_whole_seconds_and_is_one_at_which_the_file_is_taken():
    phase = _phase(min_interval=timedelta(minutes=1))
    charged = [kst(10, 12, 0, 0, 1)]

    moment = _next(phase, charged, kst(10, 12, 0, 30))

    assert moment == kst(10, 12, 1, 1)
    assert found(phase, charges(*charged), moment).can_submit


def test_interval_that_ends_on_a_full_day_waits_for_the_next_one():
    phase = _phase(daily_limit=1, min_interval=timedelta(hours=1))

    assert _next(phase, [kst(20, 9)], kst(20, 9, 30)) == kst(21)
    assert _next(phase, [kst(20, 23, 30)], kst(20, 23, 40)) == kst(21, 0, 30)


def test_total_that_is_used_up_leaves_no_moment():
    status = found(_phase(total_limit=2), charges(kst(2), kst(3)), kst(20))

    assert (status.next_allowed_at, status.can_submit, status.left_total) == (None, False, 0)


def test_left_today_never_promises_more_than_the_total():
    status = found(_phase(daily_limit=5, total_limit=4), charges(kst(2), kst(3)), kst(20))

    assert (status.left_today, status.left_total, status.used_today) == (2, 2, 0)


def test_moment_after_the_end_of_the_phase_is_none():
    daily = _phase(daily_limit=1)

    assert _next(daily, [kst(29, 9)], kst(29, 10)) is None  # the phase ends at the next midnight
    assert _next(daily, [kst(28, 9)], kst(28, 10)) == kst(29)
    assert _next(_phase(), [], kst(30)) is None


def test_before_the_phase_the_moment_is_its_start():
    early = datetime(2026, 10, 31, 12, tzinfo=KST)

    assert _next(_phase(daily_limit=5), [], early) == kst(1)


def test_limit_of_nothing_allows_nothing_but_what_is_granted():
    assert _next(_phase(daily_limit=0), [], kst(20)) is None
    assert _next(_phase(total_limit=0), [], kst(20)) is None
    assert found(_phase(daily_limit=0), [grant(1, kst(20), day=25)], kst(20)).next_allowed_at == kst(25)
    assert found(_phase(total_limit=0), [grant(1, kst(20))], kst(20)).can_submit
    assert found(_phase(daily_limit=0), [grant(1, kst(20))], kst(20)).can_submit


DAILY, TOTAL, BOTH = {"daily_limit": 2}, {"total_limit": 3}, {"daily_limit": 2, "total_limit": 3}
HOUR = {"min_interval": timedelta(hours=1)}
TODAY = (kst(20, 9), kst(20, 10))
CASES = [
    # name, limits, ledger, now -> left today, left in all, granted today, granted in all, next
    ("a charge takes one", DAILY, charges(kst(20, 9)), kst(20, 12), (1, None, 0, 0, kst(20, 12))),
    ("a refund gives it back", DAILY, [*charges(*TODAY), refund(2, kst(20, 11))], kst(20, 12),
     (1, None, 0, 0, kst(20, 12))),
    ("a refund is worth one charge however often", DAILY,
     [*charges(*TODAY), refund(2, kst(20, 11)), refund(2, kst(20, 11))], kst(20, 12), (1, None, 0, 0, kst(20, 12))),
    ("yesterday's charge refunded today gives nothing today", DAILY,
     [charge(1, kst(19, 23, 59)), *charges(*TODAY, first=2), refund(1, kst(20, 11))], kst(20, 12),
     (0, None, 0, 0, kst(21))),
    ("yesterday's charge refunded today gives one of the total", BOTH,
     [charge(1, kst(19, 23, 59)), *charges(*TODAY, first=2), refund(1, kst(20, 11))], kst(21, 0),
     (1, 1, 0, 0, kst(21))),
    ("a charge after its refund counts at the moment it came in", DAILY,
     [*charges(*TODAY), refund(2, kst(20, 11)), charge(2, kst(20, 10))], kst(20, 12), (0, None, 0, 0, kst(21))),
    ("a refund lifts the interval it caused", HOUR, [*charges(*TODAY), refund(2, kst(20, 10, 5))], kst(20, 10, 30),
     (None, None, 0, 0, kst(20, 10, 30))),
    ("a grant for today raises today", DAILY, [*charges(*TODAY), grant(2, kst(20, 11), day=20)], kst(20, 12),
     (2, None, 2, 0, kst(20, 12))),
    ("a grant for today is gone at midnight", DAILY, [*charges(*TODAY), grant(2, kst(20, 11), day=20)], kst(21),
     (2, None, 0, 0, kst(21))),
    ("a grant for today raises no total", BOTH,
     [charge(1, kst(19)), *charges(*TODAY, first=2), grant(2, kst(20, 11), day=20)], kst(20, 12), (0, 0, 2, 0, None)),
    ("a grant for tomorrow waits for it", DAILY, [*charges(*TODAY), grant(1, kst(20, 11), day=21)], kst(20, 12),
     (0, None, 0, 0, kst(21))),
    ("a grant for the phase raises the total, not the day", BOTH,
     [*charges(*TODAY), charge(3, kst(19)), grant(2, kst(20, 11))], kst(20, 12), (0, 2, 0, 2, kst(21))),
    ("a grant for the phase without a total goes beyond the day", DAILY, [*charges(*TODAY), grant(2, kst(20, 11))],
     kst(20, 12), (2, None, 2, 0, kst(20, 12))),
    ("what a day took of the pool is gone the next day", DAILY,
     [*charges(*TODAY), grant(2, kst(20, 11)), charge(3, kst(20, 12))], kst(21), (3, None, 1, 0, kst(21))),
    ("an empty pool gives nothing", DAILY,
     [*charges(*TODAY), grant(1, kst(20, 11)), charge(3, kst(20, 12)), *charges(kst(21, 1), kst(21, 2), first=4)],
     kst(21, 3), (0, None, 0, 0, kst(22))),
    ("a refund fills the pool again", DAILY,
     [*charges(*TODAY), grant(1, kst(20, 11)), charge(3, kst(20, 12)), refund(1, kst(20, 13))], kst(21),
     (3, None, 1, 0, kst(21))),
    ("days before the grant took nothing of the pool", {"daily_limit": 1},
     [*charges(kst(19, 1), kst(19, 2), kst(19, 3)), grant(1, kst(20, 11))], kst(20, 12),
     (2, None, 1, 0, kst(20, 12))),
    ("a grant for today is used before the pool", DAILY,
     [*charges(*TODAY), grant(1, kst(20, 11), day=20), grant(1, kst(20, 11)), charge(3, kst(20, 12))], kst(21),
     (3, None, 1, 0, kst(21))),
    ("a grant lifts no interval", DAILY | HOUR, [*charges(*TODAY), grant(1, kst(20, 10, 5), day=20)], kst(20, 10, 30),
     (1, None, 1, 0, kst(20, 11))),
    ("a reset gives the day back", DAILY, [*charges(*TODAY), reset(kst(20, 11))], kst(20, 12),
     (2, None, 0, 0, kst(20, 12))),
    ("a reset gives the total back", TOTAL, [*charges(kst(3), kst(4), kst(5)), reset(kst(20, 11))], kst(20, 12),
     (None, 3, 0, 0, kst(20, 12))),
    ("a reset lifts the interval", HOUR, [*charges(*TODAY), reset(kst(20, 10, 5))], kst(20, 10, 30),
     (None, None, 0, 0, kst(20, 10, 30))),
    ("a grant then a reset: the grant is gone", BOTH, [grant(5, kst(20)), grant(5, kst(20), day=20), reset(kst(20, 1))],
     kst(20, 2), (2, 3, 0, 0, kst(20, 2))),
    ("a reset then a grant: it stays", BOTH, [reset(kst(20, 1)), grant(5, kst(20, 1)), grant(1, kst(20), day=20)],
     kst(20, 2), (3, 8, 1, 5, kst(20, 2))),
    ("a charge after a reset counts although its file came in before", DAILY, [reset(kst(20, 11)), *charges(*TODAY)],
     kst(20, 12), (0, None, 0, 0, kst(21))),
    ("a refund after a reset of a charge before it gives nothing more", DAILY,
     [*charges(*TODAY), reset(kst(20, 11)), refund(1, kst(20, 12)), charge(3, kst(20, 13))], kst(20, 14),
     (1, None, 0, 0, kst(20, 14))),
    ("a submission charged before a reset is settled", DAILY,
     [*charges(*TODAY), refund(1, kst(20, 10)), reset(kst(20, 11)), charge(1, kst(20, 9))], kst(20, 12),
     (2, None, 0, 0, kst(20, 12))),
    ("midnight: the full day and the new one", DAILY, charges(kst(20, 23, 58), kst(20, 23, 59)),
     kst(20, 23, 59, 59, 999_999), (0, None, 0, 0, kst(21))),
    ("midnight: the new day is empty", DAILY, charges(kst(20, 23, 58), kst(20, 23, 59)), kst(21),
     (2, None, 0, 0, kst(21))),
]  # fmt: skip


@pytest.mark.parametrize(("limits", "entries", "now", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_ledger_says_what_is_left(limits, entries, now, expected):
    status = found(_phase(**limits), entries, now)

    assert (
        status.left_today,
        status.left_total,
        status.granted_today,
        status.granted_total,
        status.next_allowed_at,
    ) == expected


def test_limits_shown_include_what_was_granted():
    status = found(_phase(**BOTH), [grant(4, kst(20)), grant(1, kst(20), day=20)], kst(20, 2))

    assert (status.daily_limit, status.total_limit) == (3, 7)


def test_pool_of_a_day_that_is_judged_late_is_not_open_to_days_before_the_grant():
    entries = [*charges(kst(20, 9), kst(20, 10)), grant(1, kst(21))]

    assert not found(_phase(**DAILY), entries, kst(20, 23, 59, 59)).can_submit


def test_account_names_the_last_reset_and_what_it_settled():
    account = account_from([*charges(*TODAY), reset(kst(20, 11), pk=7), charge(3, kst(20, 12))])

    assert (account.last_reset, account.settled, dict(account.charged)) == (7, {1, 2}, {3: kst(20, 12)})


# --- what people used elsewhere ---------------------------------------------------------------------------------------
def test_slots_used_elsewhere_are_told_by_day_and_in_all():
    brought = [
        Brought(charge(number, moment), person, kst(1))
        for number, moment, person in ((1, kst(19, 9), "나"), (2, kst(20, 9), "가"), (3, kst(20, 10), "가"))
    ]

    status = status_from(phase=_phase(daily_limit=5), entries=[], now=kst(20, 12), brought=brought)

    assert (status.elsewhere_today, status.elsewhere_total) == (Elsewhere(("가",), 2), Elsewhere(("가", "나"), 3))
    assert status.elsewhere_today
    assert not found(_phase(), charges(kst(20)), kst(20)).elsewhere_total


@pytest.mark.parametrize(("joined_at", "counts"), [(kst(9), False), (kst(10), False), (kst(10, 0, 1), True)])
def test_a_reset_cancels_what_those_brought_who_were_there(joined_at, counts):
    brought = [Brought(charge(1, kst(5)), "가", joined_at)]

    assert bool(account_from([reset(kst(10))], brought).charged) is counts


def test_the_first_day_with_room_is_a_later_one():
    days = DailyRoom(limit=1, used={date(2026, 11, 21): 1}, grants={}, pool=0, pool_since=None)

    assert days.first_day(date(2026, 11, 19)) == date(2026, 11, 20)
    assert days.first_day(date(2026, 11, 20)) == date(2026, 11, 22)
    assert days.first_day(date(2026, 11, 21)) == date(2026, 11, 22)
