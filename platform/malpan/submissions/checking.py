"""Checking of uploaded files, so that nobody's files keep the others waiting.

* A small file is checked at once, here. A large one is checked in a process of its own (``scoring.checking``), of which
  one runs at a time and few wait, one for each team; the others are told when to try again and hold no thread.
* Rejected files are free, so they are counted: by team and by person in the database, by address in the cache. Who has
  too many in ten minutes has one more file checked in each tenth minute's share of the limit (a team with 20: in 30
  seconds): as many as before in the long run, and nobody is kept out. A person waits twice as long as a team, so that
  one who sends without end leaves the others of the team their turns.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.db.models import QuerySet
from redis.exceptions import RedisError

from malpan.accounts.models import User
from malpan.competitions.models import ReferenceVersion
from malpan.competitions.references import load_references, recipe_named
from malpan.core.storage import read_private
from malpan.core.uploads import FORM_BYTES
from malpan.submissions.errors import CheckCrashed, ChecksBusy, TeamCheckRunning, TooManyRejections
from malpan.submissions.models import Rejection
from malpan.teams.models import Team
from scoring import checking
from scoring.checking import Checked

logger = logging.getLogger(__name__)

INLINE_BYTES: Final = 256 * 1024  # a file up to this size is checked in some tens of milliseconds
WINDOW: Final = timedelta(minutes=10)
_LOCKS: Final = 20261123  # the class of the advisory locks of teams
_places = threading.BoundedSemaphore(settings.LARGE_CHECKS)  # of this process: others keep its threads for reading
_running = threading.BoundedSemaphore(1)


def require_patience(*, team: Team, user: User, address: str, now: datetime) -> None:
    """Refuse a file while too many before it were rejected. Raises ``TooManyRejections``. Two queries."""
    recent = Rejection.objects.filter(created_at__gt=now - WINDOW)
    if limit := settings.REJECTIONS_PER_TEAM:  # 0: any number, here and below
        _require_turn(recent.filter(team=team), limit, WINDOW / limit, now)
        _require_turn(recent.filter(submitted_by=user), limit, 2 * WINDOW / limit, now)
    if address and 0 < (limit := settings.REJECTIONS_PER_ADDRESS) <= _count_of(address, now):
        until = _taken_until(address, now)
        if until > now:
            raise TooManyRejections(count=limit, window=WINDOW, pace=WINDOW / limit, wait=until - now)
        _take_turn(address, now)


def note_rejection(address: str, now: datetime) -> None:
    """Count a rejected file for ``address``. Team and person are counted by their rows."""
    if not address:
        return
    try:
        cache.add(_key(address, now), 0, timeout=int(WINDOW.total_seconds()))
        cache.incr(_key(address, now))
    except (RedisError, OSError):  # the cache is away: the other two limits hold
        logger.warning("a rejected file could not be counted for its address", exc_info=True)
    _take_turn(address, now)


def checked(data: bytes, *, team: Team, reference: ReferenceVersion, recipe_id: str) -> Checked:
    """What is known of the sound file ``data``.

    Raises ``InvalidFile``; for a large file also ``TeamCheckRunning``, ``ChecksBusy`` and ``CheckCrashed``.
    """
    if len(data) <= INLINE_BYTES:
        return checking.check(data, recipe_named(recipe_id), load_references(reference, recipe_id))
    with _place(), _only_one_of(team), _running:
        try:
            references = read_private(reference.file_sha256)
            return checking.check_apart(data, recipe_id, references, seconds=settings.CHECK_SECONDS)
        except checking.CheckFailed as error:
            logger.exception("the check of a file failed")
            raise CheckCrashed from error


def refuse_if_busy(size: int) -> None:
    """For a request of ``size`` bytes whose file is not read yet: raises ``ChecksBusy`` where ``checked`` would now.

    Reading a large file, and asking the database about it, costs more than the answer that it has to come again.
    """
    if size > INLINE_BYTES + FORM_BYTES:
        with _place():
            pass


@contextmanager
def _place() -> Iterator[None]:
    if not _places.acquire(blocking=False):
        raise ChecksBusy
    try:
        yield
    finally:
        _places.release()


@contextmanager
def _only_one_of(team: Team) -> Iterator[None]:
    """A lock of the database's connection: it goes with the process, and needs no transaction."""
    if not _asked("SELECT pg_try_advisory_lock(%s, %s)", team):
        raise TeamCheckRunning
    try:
        yield
    finally:
        _asked("SELECT pg_advisory_unlock(%s, %s)", team)


def _asked(statement: str, team: Team) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, [_LOCKS, team.pk])
        return cursor.fetchone()[0]


def _require_turn(rejections: QuerySet[Rejection], limit: int, pace: timedelta, now: datetime) -> None:
    newest = list(rejections.order_by("-created_at").values_list("created_at", flat=True)[:limit])
    if len(newest) < limit:
        return
    until = min(newest[0] + pace, newest[-1] + WINDOW)
    if until > now:
        raise TooManyRejections(count=limit, window=WINDOW, pace=pace, wait=until - now)


def _count_of(address: str, now: datetime) -> int:
    try:
        return int(cache.get(_key(address, now)) or 0)
    except (RedisError, OSError):
        return 0


def _key(address: str, now: datetime) -> str:
    return f"rejections:{address}:{int(now.timestamp() // WINDOW.total_seconds())}"


def _turn(address: str) -> str:
    return f"rejections:{address}:turn"


def _taken_until(address: str, now: datetime) -> datetime:
    """From when another file of ``address`` is checked where it has too many."""
    begun = int(now.timestamp() // WINDOW.total_seconds())
    window_end = datetime.fromtimestamp((begun + 1) * WINDOW.total_seconds(), tz=now.tzinfo)
    try:
        return min(cache.get(_turn(address)) or now, window_end)
    except (RedisError, OSError):
        return now


def _take_turn(address: str, now: datetime) -> None:
    with suppress(RedisError, OSError):
        if limit := settings.REJECTIONS_PER_ADDRESS:
            cache.set(_turn(address), now + WINDOW / limit, timeout=int(WINDOW.total_seconds()))
