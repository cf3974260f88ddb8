"""The limits of a phase: KST days, totals, intervals, and the exact moment from which a file is taken again."""

from datetime import datetime, timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from core.errors import QuotaExceeded
from core.models import AuditEntry
from core.times import KST
from submissions import quota
from submissions.models import Submission
from tests.factories import PhaseFactory, SubmissionFactory, TeamFactory, UserFactory

pytestmark = pytest.mark.django_db


def kst(day: int, hour: int = 0, minute: int = 0, second: int = 0, micro: int = 0) -> datetime:
    """A moment of November 2026 in KST."""
    return datetime(2026, 11, day, hour, minute, second, micro, tzinfo=KST)


def _phase(**limits):
    return PhaseFactory.build(starts_at=kst(1), ends_at=kst(30), **limits)


def _next(phase, charged, now):
    return quota.status_from(phase=phase, charged=charged, now=now).next_allowed_at


def test_without_limits_a_file_is_taken_now():
    status = quota.status_from(phase=_phase(), charged=[kst(20, 9)], now=kst(20, 10))

    assert (status.can_submit, status.next_allowed_at) == (True, kst(20, 10))
    assert (status.left_today, status.left_total) == (None, None)


def test_day_ends_at_midnight_in_korea_not_in_greenwich():
    charged = [kst(20, 8, 59), kst(20, 23, 59)]  # on two days of UTC, on one of KST
    phase = _phase(daily_limit=2)

    assert _next(phase, charged, kst(20, 23, 59, 59)) == kst(21)
    assert _next(phase, charged, kst(21)) == kst(21)
    assert quota.status_from(phase=phase, charged=charged, now=kst(21)).left_today == 2


def test_last_microsecond_of_the_day_belongs_to_it():
    charged = [kst(20, 23, 59, 59, 999_999)]

    assert quota.status_from(phase=_phase(daily_limit=1), charged=charged, now=kst(20)).used_today == 1
    assert quota.status_from(phase=_phase(daily_limit=1), charged=charged, now=kst(21)).used_today == 0


def test_interval_runs_from_the_last_counted_submission():
    phase = _phase(min_interval=timedelta(hours=72))

    assert _next(phase, [kst(1, 9), kst(10, 12, 30)], kst(11)) == kst(13, 12, 30)
    assert _next(phase, [kst(10, 12, 30)], kst(13, 12, 30)) == kst(13, 12, 30)


def test_shown_moment_is_whole_seconds_and_is_one_at_which_the_file_is_taken():
    phase = _phase(min_interval=timedelta(minutes=1))
    charged = [kst(10, 12, 0, 0, 1)]

    moment = _next(phase, charged, kst(10, 12, 0, 30))

    assert moment == kst(10, 12, 1, 1)
    assert quota.status_from(phase=phase, charged=charged, now=moment).can_submit


def test_interval_that_ends_on_a_full_day_waits_for_the_next_one():
    phase = _phase(daily_limit=1, min_interval=timedelta(hours=1))

    assert _next(phase, [kst(20, 9)], kst(20, 9, 30)) == kst(21)
    assert _next(phase, [kst(20, 23, 30)], kst(20, 23, 40)) == kst(21, 0, 30)


def test_total_that_is_used_up_leaves_no_moment():
    status = quota.status_from(phase=_phase(total_limit=2), charged=[kst(2), kst(3)], now=kst(20))

    assert (status.next_allowed_at, status.can_submit, status.left_total) == (None, False, 0)


def test_left_today_never_promises_more_than_the_total():
    status = quota.status_from(phase=_phase(daily_limit=5, total_limit=4), charged=[kst(2), kst(3)], now=kst(20))

    assert (status.left_today, status.left_total, status.used_today) == (2, 2, 0)


def test_moment_after_the_end_of_the_phase_is_none():
    daily = _phase(daily_limit=1)

    assert _next(daily, [kst(29, 9)], kst(29, 10)) is None  # the phase ends at the next midnight
    assert _next(daily, [kst(28, 9)], kst(28, 10)) == kst(29)
    assert _next(_phase(), [], kst(30)) is None


def test_before_the_phase_the_moment_is_its_start():
    early = datetime(2026, 10, 31, 12, tzinfo=KST)

    assert _next(_phase(daily_limit=5), [], early) == kst(1)


def test_limit_of_nothing_never_allows_anything():
    assert _next(_phase(daily_limit=0), [], kst(20)) is None
    assert _next(_phase(total_limit=0), [], kst(20)) is None


@pytest.mark.parametrize(
    ("limits", "kind"),
    [
        ({"daily_limit": 1}, "daily"),
        ({"total_limit": 1}, "total"),
        ({"min_interval": timedelta(hours=1)}, "interval"),
        ({"daily_limit": 1, "total_limit": 1, "min_interval": timedelta(hours=1)}, "total"),
        ({"daily_limit": 1, "min_interval": timedelta(hours=1)}, "daily"),
    ],
)
def test_refusal_names_the_limit_that_holds_longest(limits, kind):
    phase = PhaseFactory.create(**limits)
    submission = SubmissionFactory.create(phase=phase)

    with transaction.atomic(), pytest.raises(QuotaExceeded) as caught:
        quota.take_slot(phase=phase, team=submission.team, now=timezone.now())

    assert caught.value.kind == kind


def test_only_the_team_in_this_phase_counts():
    phase = PhaseFactory.create(total_limit=3)
    team = TeamFactory.create(competition=phase.track.competition)
    SubmissionFactory.create(phase=phase, team=team)
    SubmissionFactory.create(phase=phase)
    SubmissionFactory.create(phase=PhaseFactory.create(track=phase.track), team=team)
    SubmissionFactory.create(phase=phase, team=team, refunded_at=timezone.now())

    assert quota.status(phase=phase, team=team).used_total == 1


def test_status_is_one_query(django_assert_num_queries):
    submission = SubmissionFactory.create()

    with django_assert_num_queries(1):
        quota.status(phase=submission.phase, team=submission.team)


def test_refund_gives_the_slot_back_once_and_is_audited():
    submission = SubmissionFactory.create(phase=PhaseFactory.create(daily_limit=1))

    quota.refund(submission=submission, reason="worker_lost")
    quota.refund(submission=submission, reason="worker_lost")

    assert quota.status(phase=submission.phase, team=submission.team).can_submit
    entry = AuditEntry.objects.get(action="submission.refund")
    assert (entry.actor, entry.after) == (None, {"reason": "worker_lost"})


def test_refunded_slot_that_was_used_again_cannot_be_charged_twice():
    phase, organiser = PhaseFactory.create(daily_limit=1), UserFactory.create(is_staff=True)
    refunded = SubmissionFactory.create(phase=phase, refunded_at=timezone.now())

    later = SubmissionFactory.create(phase=phase, team=refunded.team)
    with pytest.raises(QuotaExceeded):
        quota.charge_again(submission=refunded, actor=organiser)

    Submission.objects.filter(pk=later.pk).delete()
    quota.charge_again(submission=refunded, actor=organiser)
    assert not quota.status(phase=phase, team=refunded.team).can_submit
