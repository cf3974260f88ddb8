"""How many rejected files a team, a person and an address have checked.

Rejected files are free, so they are counted: by team and by person in the database, by address in the cache. Who has
too many in ten minutes has one more file checked in each tenth minute's share of the limit (a team with 20: in 30
seconds): as many as before in the long run, and nobody is kept out. A person waits twice as long as a team, so that
one who sends without end leaves the others of the team their turns.

A file counts from before its check, and no longer if it was sound: of files sent at once no more are checked than of
files sent one after the other. A file of a team and a person that is being checked is an advisory lock that many may
hold, which PostgreSQL counts and which goes with the process; one of an address is a unit of its counter.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.db.models import QuerySet
from redis.exceptions import RedisError

from malpan.accounts.models import User
from malpan.submissions.errors import FileRejected, TeamCheckRunning, TooManyRejections
from malpan.submissions.models import Rejection
from malpan.teams.models import Team

logger = logging.getLogger(__name__)

WINDOW: Final = timedelta(minutes=10)
# the classes of advisory locks: of who is being counted just now, and of files that are being checked
_GATES: Final = (20261128, 20261129)  # of a team, of a person
_CHECKS: Final = (20261130, 20261131)
_ALONE: Final = (
    "SELECT pg_advisory_lock(%s, %s), pg_advisory_lock(%s, %s)",
    "SELECT pg_advisory_unlock(%s, %s), pg_advisory_unlock(%s, %s)",
)
_SHARED: Final = (
    "SELECT pg_advisory_lock_shared(%s, %s), pg_advisory_lock_shared(%s, %s)",
    "SELECT pg_advisory_unlock_shared(%s, %s), pg_advisory_unlock_shared(%s, %s)",
)
_HELD: Final = """
SELECT count(*) FILTER (WHERE classid = %s), count(*) FILTER (WHERE classid = %s) FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND (classid, objid) IN ((%s, %s), (%s, %s))
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


@contextmanager
def patience(*, team: Team, user: User, address: str, now: datetime, counts_sound: bool = False) -> Iterator[None]:
    """Within it a file is checked and, if it is rejected, recorded; it counts until then and, rejected, afterwards.
    That of a ``team`` not in the database yet counts for the person and the address.

    ``counts_sound``: a sound one counts for the address too, and for the person as for an address: whoever has many of
    these. Raises ``TooManyRejections``, and ``TeamCheckRunning`` where only the files that are being checked leave no
    room.
    """
    with ExitStack() as held:
        held.enter_context(_counted_for_people(team, user, now))
        for who in (address, f"person-{user.pk}") if counts_sound else (address,):
            held.enter_context(_counted_for_address(who, now, counts_sound=counts_sound))
        yield


# --- by team and person -----------------------------------------------------------------------------------------------
@contextmanager
def _counted_for_people(team: Team, user: User, now: datetime) -> Iterator[None]:
    if not (limit := settings.REJECTIONS_PER_TEAM):  # 0: any number, here and below
        yield
        return
    keys = (team.pk or 0, user.pk)
    with ExitStack() as held:
        with _locked(_ALONE, _GATES, keys):
            recent = Rejection.objects.filter(created_at__gt=now - WINDOW)
            of_team, of_person = _asked(_HELD, *_CHECKS, _CHECKS[0], keys[0], _CHECKS[1], user.pk)
            if team.pk is not None:
                _require_turn(recent.filter(team=team), of_team, limit, WINDOW / limit, now)
            _require_turn(recent.filter(submitted_by=user), of_person, limit, 2 * WINDOW / limit, now)
            held.enter_context(_locked(_SHARED, _CHECKS, keys))
        yield


@contextmanager
def _locked(statements: tuple[str, str], classes: tuple[int, int], keys: tuple[int, int]) -> Iterator[None]:
    """Locks of the database's connection: they go with the process, and need no transaction."""
    take, leave = statements
    both = (classes[0], keys[0], classes[1], keys[1])
    _asked(take, *both)
    try:
        yield
    finally:
        _asked(leave, *both)


def _asked(statement: str, *params: int) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        found: tuple[Any, ...] = cursor.fetchone()
        return found


def _require_turn(rejections: QuerySet[Rejection], held: int, limit: int, pace: timedelta, now: datetime) -> None:
    """``held``: files that are being checked, each of which may be rejected."""
    newest = list(rejections.order_by("-created_at").values_list("created_at", flat=True)[:limit])
    if len(newest) == limit:
        until = min(newest[0] + pace, newest[-1] + WINDOW)
        if until > now:
            raise TooManyRejections(count=limit, window=WINDOW, pace=pace, wait=until - now)
    if held >= max(limit - len(newest), 1):
        raise TeamCheckRunning


# --- by address -------------------------------------------------------------------------------------------------------
@contextmanager
def _counted_for_address(address: str, now: datetime, *, counts_sound: bool) -> Iterator[None]:
    limit = settings.REJECTIONS_PER_ADDRESS
    taken = _take(address, limit, now) if address and limit else ()
    try:
        yield
    except FileRejected:
        raise
    except BaseException:
        _give_back(taken)
        raise
    if not counts_sound:
        _give_back(taken)


def _take(address: str, limit: int, now: datetime) -> tuple[str, ...]:
    """Count a file for ``address``: the keys in the cache that it holds, first the counter. The last one below the
    limit and those beyond take the turn of a share of the ten minutes, which one can have. Raises
    ``TooManyRejections``.

    While the cache is away the other two limits hold.
    """
    counter, turn, ends_at = _keys(address, limit, now)
    seconds = int(WINDOW.total_seconds())
    try:
        cache.add(counter, 0, timeout=seconds)
        if cache.incr(counter) < limit:
            return (counter,)
        if cache.add(turn, True, timeout=seconds):
            return (counter, turn)
    except (RedisError, OSError, ValueError):  # the last: the counter ended between the two
        logger.warning("a file could not be counted for its address", exc_info=True)
        return ()
    _give_back((counter,))
    raise TooManyRejections(count=limit, window=WINDOW, pace=WINDOW / limit, wait=ends_at - now)


def _give_back(taken: tuple[str, ...]) -> None:
    with suppress(RedisError, OSError, ValueError):
        for counter in taken[:1]:
            cache.decr(counter)
        cache.delete_many(taken[1:])


def _keys(address: str, limit: int, now: datetime) -> tuple[str, str, datetime]:
    """The counter of ``address``, the turn of this share of the ten minutes, and when the share ends."""
    window = int(now.timestamp() // WINDOW.total_seconds())
    begun = datetime.fromtimestamp(window * WINDOW.total_seconds(), tz=now.tzinfo)
    share = min((now - begun) // (WINDOW / limit), limit - 1)
    counter = f"rejections:{address}:{window}"
    return counter, f"{counter}:turn:{share}", begun + WINDOW * (share + 1) / limit
