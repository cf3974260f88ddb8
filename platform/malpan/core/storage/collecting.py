"""Removes copies that no row names. Never one that a row names, whoever stores or commits at the same moment:

* A copy younger than a day is left alone: its row may not be committed yet. Rows are asked after the copies were
  listed, so that a row which appears later names a file that was stored later, or one that another row named.
* The same bytes stored again meanwhile are another copy (``s3``), or replace the old one under a lock (``local_disk``).
* Another site's files are refused: the store records the database whose rows name its files, and only that one collects
  (a copy of the site on a copy of its database would find its own rows missing, and remove).

* While a backup copies files nothing is removed: the rows of its moment may be gone since (``files_stay``).

Of a named file with several copies the newest sound one stays, and those older than a day go. A collector that is
killed has removed less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby, islice
from typing import Final

from django.db import Error, connection

from malpan.core.errors import FilesInUse, StoreOfAnotherSite
from malpan.core.fields import named_by_rows
from malpan.core.storage.places import configured
from malpan.core.storage.stores import Copy, Store

KEPT: Final = timedelta(days=1)
HELD: Final = "before the restore"  # in the place of a database: nobody's, until an operator adopts the files
_OF: Final = f"{HELD} of "  # and whose they were, which is what a restore that leaves nothing unnamed gives back
_FILES: Final = 500  # of which the database is asked at a time
_LOCK: Final = 20261201  # any number that no other advisory lock of this database uses


@dataclass(slots=True)
class Collected:
    """What was removed, or with ``is_trial`` would be, and how many files rows name: they stay. ``young``: files that
    no row names, but not for a day yet.
    """

    copies: int = 0
    size: int = 0
    named: int = 0
    young: int = 0


def collect(*, is_trial: bool = False, adopts: bool = False, store: Store | None = None) -> Collected:
    """Remove what no row names. Raises ``StoreOfAnotherSite``, ``FilesInUse`` and ``StorageUnavailable``; a rerun
    removes the rest.

    ``adopts``: from now on this site collects in its store, whichever did before.
    """
    if is_trial:
        return _collect(store or configured(), is_trial=True, adopts=adopts)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK])
        [is_alone] = cursor.fetchone()
    if not is_alone:
        raise FilesInUse
    try:
        return _collect(store or configured(), is_trial=False, adopts=adopts)
    finally:
        _let_go("SELECT pg_advisory_unlock(%s)")


@contextmanager
def files_stay() -> Iterator[None]:
    """Inside, nothing is collected. Waits for a collector that is at work."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock_shared(%s)", [_LOCK])
    try:
        yield
    finally:
        _let_go("SELECT pg_advisory_unlock_shared(%s)")


def _let_go(statement: str) -> None:
    with suppress(Error), connection.cursor() as cursor:  # a connection that was lost has let go
        cursor.execute(statement, [_LOCK])


def _collect(store: Store, *, is_trial: bool, adopts: bool) -> Collected:
    site = this_site()
    if adopts and not is_trial:
        store.adopt(site)
    if not adopts and (owner := store.claim(site)) != site:
        raise StoreOfAnotherSite(owner=owner)
    done = Collected()
    for files in _batches(store.copies()):
        named = named_by_rows(set(files))
        done.named += len(named)
        for sha256, copies in files.items():
            done.young += sha256 not in named and all(copy.age <= KEPT for copy in copies)
            for copy in _surplus(store, copies) if sha256 in named else copies:
                if copy.age > KEPT and (is_trial or store.remove(copy)):
                    done.copies += 1
                    done.size += copy.size
    return done


def hold() -> None:
    """Before a restore empties the database: from now on nothing is collected, whatever becomes of that restore.

    The files of uploads after the backup are all that is left of them. It lasts until ``give_back``, or until somebody
    adopts the files.
    """
    store = configured()
    owner = store.owner() or this_site()
    if not is_held(owner):
        store.adopt(_OF + owner)


def give_back() -> int:
    """After a restore: the store is whose it was before ``hold``, unless no row names some of its files; how many."""
    store = configured()
    unnamed = sum(len(set(files) - named_by_rows(set(files))) for files in _batches(store.copies()))
    owner = store.owner()
    if not unnamed and owner is not None and owner.startswith(_OF):
        store.adopt(owner.removeprefix(_OF))
    return unnamed


def is_held(owner: str) -> bool:
    """Whether ``owner``, as a store records it, is nobody: its files are held after a restore."""
    return owner.startswith(HELD)


def this_site() -> str:
    """The database server and the database on it: a restored copy is another one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT system_identifier || '/' || current_database() FROM pg_control_system()")
        return str(cursor.fetchone()[0])


def _surplus(store: Store, copies: list[Copy]) -> list[Copy]:
    """All but the newest sound copy of a file; none if no copy is sound, or there is only one."""
    if len(copies) == 1 or all(copy.age <= KEPT for copy in copies):
        return []
    kept = next((copy for copy in sorted(copies, key=lambda copy: copy.age) if store.is_sound(copy)), None)
    return [copy for copy in copies if copy is not kept] if kept else []


def _batches(copies: Iterable[Copy]) -> Iterator[dict[str, list[Copy]]]:
    """The copies by file, of some files at a time."""
    files = ((sha256, list(group)) for sha256, group in groupby(copies, key=lambda copy: copy.sha256))
    while batch := dict(islice(files, _FILES)):
        yield batch
