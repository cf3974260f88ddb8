"""The budget of an LLM judge: all workers of the site count its requests and tokens in one row for each profile.

Counting outlasts runs and restarts. More is allowed by raising the limits in ``[judge]`` of the profile, which every
run reads anew. A run for which the budget does not suffice, or whose judge is away, waits: what was judged is in the
pair cache, and no attempt is charged.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final, TypeVar

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Now

from malpan.jobs import outage
from malpan.jobs.registry import MustWait
from malpan.submissions.errors import JudgeAway, JudgeBudgetUsedUp, JudgeRejects
from malpan.submissions.models import JudgeUsage
from scoring.judging.budget import Limits, Usage
from scoring.judging.errors import JudgeBudgetSpent, JudgeRefused, JudgeUnreachable

logger = logging.getLogger(__name__)

BUDGET_PAUSE_SECONDS: Final = 120.0  # until a paused run looks whether there is more
AWAY_PAUSE_SECONDS: Final = 30.0  # until a run asks again for a judge that was away
LONGEST_PAUSE_SECONDS: Final = 900.0  # however long the server wants

Found = TypeVar("Found")


class SharedLedger:
    """The ledger of the judge of ``profile``, outside any transaction. A database that is away is waited for."""

    def __init__(self, profile: str) -> None:
        self._profile = profile[:200]

    def reserve(self, limits: Limits, tokens: int) -> bool:
        """As ``Ledger.reserve``; one statement decides, so that all workers together never exceed the limits."""
        self._patiently(self._begin)
        rows = JudgeUsage.objects.filter(profile=self._profile)
        if limits.requests:
            rows = rows.filter(requests__lt=limits.requests)
        if limits.tokens:
            rows = rows.filter(tokens__lte=limits.tokens - tokens)
        changed = {"requests": F("requests") + 1, "tokens": F("tokens") + tokens, "updated_at": Now()}
        return bool(self._patiently(partial(rows.update, **changed)))

    def settle(self, change: Usage) -> None:
        rows = JudgeUsage.objects.filter(profile=self._profile)
        changed = {"requests": F("requests") + change.requests, "tokens": F("tokens") + change.tokens}
        self._patiently(partial(rows.update, **changed, updated_at=Now()))

    def usage(self) -> Usage:
        row = self._patiently(JudgeUsage.objects.filter(profile=self._profile).first)
        return Usage() if row is None else Usage(row.requests, row.tokens)

    def _begin(self) -> int:
        """Make the row; returns how many there are."""
        if JudgeUsage.objects.filter(profile=self._profile).exists():
            return 1
        return len(JudgeUsage.objects.bulk_create([JudgeUsage(profile=self._profile)], ignore_conflicts=True))

    @staticmethod
    def _patiently(act: Callable[[], Found]) -> Found:
        """What ``act`` returns. If the answer was lost, it may be done twice: a reservation then counts too much, but a
        settlement too little.
        """
        return outage.outlast(act, again=act, seconds=settings.JOB_LEASE_SECONDS, gives_up=outage.is_stopping)


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
