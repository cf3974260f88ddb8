"""Locks on rows, and the order in which every transaction takes them; and reads of one consistent state.

To avoid deadlocks, all transactions take their locks in the order of ``Level``, and several rows of one level in the
order of their primary keys. With ``settings.CHECK_LOCK_ORDER``, as in the tests, a lock of an earlier level raises an
error.

Needing no place in the order: rows that the transaction itself inserted, as nobody else sees them, or has locked
already (``own_rows``); rows that are passed over where somebody holds them (``skip_locked``); and tables whose rows no
service locks together with others.

One exception: cancelling a rescoring batch holds its phase and the batch when it drops the jobs of the batch's
runs (``jobs.outcome.drop``). Nobody waits in a circle: a worker takes the batch before such a job
(``evaluation.runs.finish_run``), and a run of a batch charges no team.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import TypeVar

from django.conf import settings
from django.db import connection, models, transaction

Row = TypeVar("Row", bound=models.Model)


class Level(IntEnum):
    """What is locked, first to last."""

    WORK = 1  # a job, then its run: giving one up refunds its team
    TEAM = 2  # its members and its quota
    INVITATION = 3
    PHASE = 4  # shared for uploads, exclusive for changes of what they are scored with
    BATCH = 5  # of rescoring
    TRACK = 6
    CAMPAIGN = 7  # shared for judgements, exclusive for opening, closing and publishing
    JUDGE = 8  # of a campaign: the own queue
    COMPETITION = 9  # its settings, the numbers of its teams, its hash chain: only for a moment, at the very end
    STANDINGS = 10  # of a phase, by whoever reads its board: in a transaction of its own


class LockOrderBroken(AssertionError):
    """A lock was taken after one of a later level: two such transactions could deadlock."""


def lock_rows(rows: models.QuerySet[Row], level: Level, *, no_key: bool = True) -> models.QuerySet[Row]:
    """``rows`` with a lock until the transaction ends, in the order of their primary keys.

    ``no_key=False`` also prevents inserts of rows that refer to them.
    """
    note(level)
    return rows.select_for_update(of=("self",), no_key=no_key).order_by("pk")


def lock_shared(model: type[models.Model], pk: int, level: Level) -> None:
    """Lock a row in shared mode: other shared locks do not wait for it, exclusive ones do."""
    note(level)
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT 1 FROM "{model._meta.db_table}" WHERE id = %s FOR SHARE', [pk])  # noqa: S608  # ours


def note(level: Level) -> None:
    """Record that a lock of ``level`` is taken. Raises ``LockOrderBroken`` if the order is checked."""
    if not settings.CHECK_LOCK_ORDER or getattr(connection, "malpan_own_rows", False):
        return
    blocks = [block for block in connection.atomic_blocks if not getattr(block, "_from_testcase", False)]
    this = blocks[0] if blocks else None  # the outermost one is the transaction
    known, highest = getattr(connection, "malpan_locks", (None, level))
    if known is this and level < highest:
        raise LockOrderBroken(f"{level.name} is locked after {highest.name}")
    setattr(connection, "malpan_locks", (this, max(level, highest) if known is this else level))  # noqa: B010


@contextmanager
def own_rows() -> Iterator[None]:
    """Inside, all locked rows were inserted or locked by this transaction, so their order does not matter."""
    setattr(connection, "malpan_own_rows", True)  # noqa: B010  # not an attribute Django declares
    try:
        yield
    finally:
        delattr(connection, "malpan_own_rows")


@contextmanager
def repeatable_read() -> Iterator[None]:
    """All reads inside see the same state; nothing can be written. Must not be used inside a transaction.

    Otherwise each query sees what was committed when it began: a page of three queries could show half of a change.
    """
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
