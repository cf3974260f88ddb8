"""An outage of the database as a worker meets it: it tries again by itself until the database answers.

A commit whose answer was lost is done or not: who tries again asks the row first.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from malpan.core.service_faults import is_full

logger = logging.getLogger(__name__)

UNREACHABLE: Final = (OperationalError, InterfaceError)
AGAIN_SECONDS: Final = 0.5
RING_SECONDS: Final = 60.0  # how long a worker keeps a ring that it cannot answer

Found = TypeVar("Found")


class StillAway(OperationalError):
    """The database was away for longer than somebody waits for it."""


def _never() -> bool:
    return False


is_stopping: Callable[[], bool] = _never


def prepare(stopping: Callable[[], bool]) -> None:
    """Tell this process how it knows that its worker is being stopped."""
    global is_stopping
    is_stopping = stopping


def patience() -> float:
    """For how many seconds a worker at work on a job tries again: the length of a lease, as nobody can take the job
    meanwhile.
    """
    return float(settings.JOB_LEASE_SECONDS)


def outlast(
    act: Callable[[], Found],
    *,
    again: Callable[[], Found],
    seconds: float | None = None,
    gives_up: Callable[[], bool] = _never,
) -> Found:
    """What ``act`` returns or, if the database is away, what ``again`` returns when it is back.

    Raises ``StillAway`` after ``seconds`` (default: ``patience()``), or as soon as ``gives_up``.
    """
    seconds = patience() if seconds is None else seconds
    ends = None
    while True:
        try:
            return act()
        except UNREACHABLE as error:
            connection.close_if_unusable_or_obsolete()
            now = time.monotonic()
            if ends is None:
                what = "has no room left on its disk" if is_full(error) else "is unreachable"
                logger.warning("the database %s; trying again for %.0f s", what, seconds)
                ends = now + seconds
            if now >= ends or gives_up():
                raise StillAway("the database was away for too long") from error
        act = again
        time.sleep(AGAIN_SECONDS)
