"""The budget of an LLM judge: all workers of the site count its requests and tokens in one row for each profile.

Counting outlasts runs and restarts. More is allowed by raising the limits in ``[judge]`` of the profile, which every
run reads anew. A run for which the budget does not suffice, or whose judge is away, waits: what was judged is kept
(``judge_values``), and no attempt is charged.

Every reservation has a row of its own for as long as it is open. So whoever does not know whether a commit was carried
out does it again without counting twice: the row is there already, or gone already.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Final, TypeVar

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from malpan.jobs import outage
from malpan.jobs.registry import MustWait
from malpan.submissions.errors import JudgeAway, JudgeBudgetUsedUp, JudgeRejects
from malpan.submissions.models import JudgeReservation, JudgeUsage
from scoring.judging.budget import Limits, Reservation, Usage
from scoring.judging.errors import JudgeBudgetSpent, JudgeRefused, JudgeUnreachable

logger = logging.getLogger(__name__)

BUDGET_PAUSE_SECONDS: Final = 120.0  # until a paused run looks whether there is more
AWAY_PAUSE_SECONDS: Final = 30.0  # until a run asks again for a judge that was away
LONGEST_PAUSE_SECONDS: Final = 900.0  # however long the server wants
FORGOTTEN_AFTER: Final = timedelta(days=1)  # a reservation whose worker was killed; what it counted stays

_OPEN: Final = """
    INSERT INTO submissions_judgereservation (key, created_at) VALUES (%s, now()) ON CONFLICT DO NOTHING
"""

Found = TypeVar("Found")


class SharedLedger:
    """The ledger of the judge of ``profile``, outside any transaction. A database that is away is waited for."""

    def __init__(self, profile: str) -> None:
        self._profile = profile[:200]

    def reserve(self, limits: Limits, tokens: int) -> Reservation | None:
        """As ``Ledger.reserve``; one statement decides, so that all workers together never exceed the limits."""
        made = Reservation(tokens)
        self._patiently(self._begin)
        return made if self._patiently(partial(self._reserve, limits, made)) else None

    def _reserve(self, limits: Limits, made: Reservation) -> bool:
        rows = JudgeUsage.objects.filter(profile=self._profile)
        if limits.requests:
            rows = rows.filter(requests__lt=limits.requests)
        if limits.tokens:
            rows = rows.filter(tokens__lte=limits.tokens - made.tokens)
        with transaction.atomic():
            if not _opened(made):
                return True  # by a commit whose answer was lost
            is_allowed = rows.update(requests=F("requests") + 1, tokens=F("tokens") + made.tokens, updated_at=Now())
            transaction.set_rollback(not is_allowed)
        return bool(is_allowed)

    def settle(self, reservation: Reservation, spent: Usage) -> None:
        self._patiently(partial(self._settle, reservation, spent))

    def _settle(self, reservation: Reservation, spent: Usage) -> None:
        requests, tokens = spent.requests - 1, spent.tokens - reservation.tokens
        with transaction.atomic():
            if JudgeReservation.objects.filter(key=reservation.key).delete()[0]:
                rows = JudgeUsage.objects.filter(profile=self._profile)
                rows.update(requests=F("requests") + requests, tokens=F("tokens") + tokens, updated_at=Now())

    def usage(self) -> Usage:
        row = self._patiently(JudgeUsage.objects.filter(profile=self._profile).first)
        return Usage() if row is None else Usage(row.requests, row.tokens)

    def _begin(self) -> None:
        """Make the row."""
        if not JudgeUsage.objects.filter(profile=self._profile).exists():
            JudgeUsage.objects.bulk_create([JudgeUsage(profile=self._profile)], ignore_conflicts=True)

    @staticmethod
    def _patiently(act: Callable[[], Found]) -> Found:
        """What ``act`` returns, which may be carried out twice without harm."""
        return outage.outlast(act, again=act, gives_up=outage.is_stopping)


def _opened(reservation: Reservation) -> bool:
    """Write its row; whether it was not there. A commit that is still on its way is waited for."""
    with connection.cursor() as cursor:
        cursor.execute(_OPEN, [reservation.key])
        return bool(cursor.rowcount)


def forget_reservations() -> int:
    """Delete reservations that nobody will settle any more; returns how many."""
    return JudgeReservation.objects.filter(created_at__lt=Now() - FORGOTTEN_AFTER).delete()[0]


@contextmanager
def judge_required() -> Iterator[None]:
    """Turn what a judge raises into a wait or a fault. Raises ``MustWait`` and ``JudgeRejects``."""
    try:
        yield
    except JudgeBudgetSpent as error:
        logger.error("%s", error)
        raise MustWait(JudgeBudgetUsedUp, pause=BUDGET_PAUSE_SECONDS, at_most=None) from error
    except JudgeUnreachable as error:
        logger.error("%s", error)
        pause = min(max(error.retry_after or 0.0, AWAY_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
        raise MustWait(JudgeAway, pause=pause, at_most=settings.JUDGE_WAIT_SECONDS) from error
    except JudgeRefused as error:
        logger.error("%s", error)
        raise JudgeRejects from error
