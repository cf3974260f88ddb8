"""What the shared ledger of a judge counts, how long a run waits for one, and what is forgotten."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from malpan.jobs.registry import MustWait
from malpan.submissions.errors import JudgeAway, JudgeBudgetUsedUp, JudgeRejects
from malpan.submissions.evaluation.judge_budget import (
    AWAY_PAUSE_SECONDS,
    BUDGET_PAUSE_SECONDS,
    LONGEST_PAUSE_SECONDS,
    SharedLedger,
    forget_reservations,
    judge_required,
)
from malpan.submissions.models import JudgeReservation, JudgeUsage
from scoring.judging.budget import Limits, Usage
from scoring.judging.errors import JudgeBudgetSpent, JudgeRefused, JudgeUnreachable

pytestmark = pytest.mark.django_db


def test_what_is_spent_is_counted_by_profile_at_its_time() -> None:
    ledger, other = SharedLedger("one"), SharedLedger("other")
    assert ledger.usage() == Usage()
    foreign = other.reserve(Limits(), 5)
    before = timezone.now() - timedelta(hours=1)

    for number in (1, 2):
        made = ledger.reserve(Limits(), 100)
        assert ledger.usage() == Usage(number, 100 * number)
        assert made is not None
        assert JudgeUsage.objects.get(profile="one").updated_at > before
        JudgeUsage.objects.update(updated_at=before)
    ledger.settle(made, Usage(2, 30))

    assert (ledger.usage(), other.usage()) == (Usage(3, 130), Usage(1, 5))
    assert JudgeUsage.objects.get(profile="one").updated_at > before
    assert JudgeUsage.objects.get(profile="other").updated_at == before
    assert foreign is not None
    assert made is not None
    keys = set(JudgeReservation.objects.values_list("key", flat=True))
    assert made.key not in keys
    assert foreign.key in keys


def test_a_row_that_another_worker_makes_at_the_same_time_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look whether there is one and the making of it."""
    assert SharedLedger("one").reserve(Limits(), 5) is not None
    with monkeypatch.context() as patch:
        patch.setattr(QuerySet, "exists", lambda _rows: False)
        assert SharedLedger("one").reserve(Limits(), 5) is not None
    assert SharedLedger("one").usage() == Usage(2, 10)


def test_a_limit_is_reached_and_never_exceeded() -> None:
    for limits, tokens, allowed in ((Limits(requests=2), 9, 2), (Limits(tokens=20), 10, 2), (Limits(tokens=19), 10, 1)):
        ledger = SharedLedger(f"{limits}")
        given = [ledger.reserve(limits, tokens) is not None for _time in range(4)]
        assert given == [True] * allowed + [False] * (4 - allowed)
        assert ledger.usage() == Usage(allowed, allowed * tokens)
    assert JudgeReservation.objects.count() == 5, "a refusal leaves none"


def test_a_long_name_of_a_profile_is_cut() -> None:
    assert SharedLedger("가" * 201).reserve(Limits(), 1) is not None
    assert SharedLedger("가" * 200).usage() == Usage(1, 1)


def test_reservations_are_forgotten_after_a_day() -> None:
    ledger = SharedLedger("one")
    made = [ledger.reserve(Limits(), 1) for _time in range(3)]
    assert forget_reservations() == 0
    for hours, each in zip((23, 25, 26), made, strict=True):
        assert each is not None
        JudgeReservation.objects.filter(key=each.key).update(created_at=timezone.now() - timedelta(hours=hours))

    assert forget_reservations() == 2

    assert made[0] is not None
    assert JudgeReservation.objects.get().key == made[0].key


@pytest.mark.parametrize(
    ("asked", "pause"),
    [(None, AWAY_PAUSE_SECONDS), (1.0, AWAY_PAUSE_SECONDS), (100.0, 100.0), (5000.0, LONGEST_PAUSE_SECONDS)],
)
def test_a_judge_that_is_away_is_asked_again_when_it_wants_within_reason(
    asked: float | None, pause: float, settings: Any
) -> None:
    with pytest.raises(MustWait) as waits, judge_required():
        raise JudgeUnreachable(url="u", why="w", retry_after=asked)
    assert (waits.value.fault, waits.value.pause) == (JudgeAway, pause)
    assert waits.value.at_most == settings.JUDGE_WAIT_SECONDS


def test_a_budget_is_waited_for_without_end_and_a_refusal_is_a_fault() -> None:
    with pytest.raises(MustWait) as waits, judge_required():
        raise JudgeBudgetSpent(requests=1, tokens=1, max_requests=1, max_tokens=1)
    assert (waits.value.fault, waits.value.pause, waits.value.at_most) == (
        JudgeBudgetUsedUp, BUDGET_PAUSE_SECONDS, None,
    )  # fmt: skip
    with pytest.raises(JudgeRejects), judge_required():
        raise JudgeRefused(url="u", status=401)
    with judge_required():
        pass
