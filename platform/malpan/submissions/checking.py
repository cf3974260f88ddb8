"""Checking of uploaded files, so that nobody's files keep the others waiting.

* A small file is checked at once, here. One of many bytes or parts is checked in a process of its own
  (``scoring.checking``), of which one runs at a time and few wait, one for each team; the others are told when to try
  again and hold no thread. Large files that were accepted are read in the same places (``integrity.answers``).
* How many rejected files are checked is in ``patience``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.conf import settings
from django.db import connection

from malpan.competitions.models import ReferenceVersion
from malpan.competitions.references import load_references, recipe_named
from malpan.core.storage import read_private
from malpan.core.uploads import FORM_BYTES
from malpan.submissions.errors import CheckCrashed, ChecksBusy, TeamCheckRunning
from malpan.teams.models import Team
from scoring import checking
from scoring.checking import Checked

logger = logging.getLogger(__name__)

INLINE_BYTES: Final = 256 * 1024
INLINE_PARTS: Final = 10_000  # items, members or lines, of which each may take some 15 microseconds
_MARKS: Final = (b"{", b",", b"\n")  # each part of a file has one of them
_LOCKS: Final = 20261123  # the class of the advisory locks of teams
_places = threading.BoundedSemaphore(settings.LARGE_CHECKS)  # of this process: others keep its threads for reading
_running = threading.BoundedSemaphore(1)


def checked(data: bytes, *, team: Team, reference: ReferenceVersion, recipe_id: str) -> Checked:
    """What is known of the sound file ``data``.

    Raises ``InvalidFile``; for a large file also ``TeamCheckRunning``, ``ChecksBusy`` and ``CheckCrashed``.
    """
    if is_small(data, reference.item_count):
        return checking.check(data, recipe_named(recipe_id), load_references(reference, recipe_id))
    with apart(team):
        try:
            references = read_private(reference.file_sha256)
            return checking.check_apart(data, recipe_id, references, seconds=settings.CHECK_SECONDS)
        except checking.CheckFailed as error:
            logger.exception("the check of a file failed")
            raise CheckCrashed from error


def is_small(data: bytes, reference_items: int) -> bool:
    """Whether the check of ``data`` against so many references takes less than a quarter of a second of processor,
    whatever it holds.

    256 KB of empty objects are 87,000 items and took 1.5 s; one caption for references of 60,000 took as long.
    """
    parts = max(reference_items, *map(data.count, _MARKS))
    return len(data) <= INLINE_BYTES and parts <= INLINE_PARTS


def refuse_if_busy(size: int) -> None:
    """For a request of ``size`` bytes whose file is not read yet: raises ``ChecksBusy`` where ``checked`` would now.

    Reading a large file, and asking the database about it, costs more than the answer that it has to come again.
    """
    if size > INLINE_BYTES + FORM_BYTES:
        with _place():
            pass


@contextmanager
def apart(team: Team) -> Iterator[None]:
    """The turn of a large file, one of ``team`` at a time. Raises ``TeamCheckRunning`` and ``ChecksBusy``."""
    with _place(), _only_one_of(team), _running:
        yield


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
    """A lock of the database's connection: it goes with the process, and needs no transaction. Baselines of a
    competition that are not in the database yet have one together.
    """
    key = team.pk or -team.competition_id
    if not _asked("SELECT pg_try_advisory_lock(%s, %s)", key):
        raise TeamCheckRunning
    try:
        yield
    finally:
        _asked("SELECT pg_advisory_unlock(%s, %s)", key)


def _asked(statement: str, key: int) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, [_LOCKS, key])
        return cursor.fetchone()[0]
