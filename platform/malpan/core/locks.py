"""Locks on rows, and the one order in which a transaction takes them; and reading everything as of one moment.

Two transactions that wait for each other would wait for ever. So all take their locks in the order of ``Level``, and
several rows of one level in the order of their keys. With ``settings.CHECK_LOCK_ORDER``, as in the tests, whoever
goes back a level is told so at once.

Needing no place in the order: rows that the transaction itself inserted, as nobody else sees them (``own_rows``); rows
that are passed over where somebody holds them (``skip_locked``); and tables whose rows no service locks together with
others.

One exception: cancelling a rescoring batch holds its phase and the batch when it drops the jobs of the batch's
runs (``jobs.outcome.drop``). Nobody waits in a circle: a worker that holds such a job locks nothing more, as a run of
a batch charges no team, and becomes live only when the batch is applied.
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

    WORK = 1  # a job, then the run it is about: whoever gives one up refunds its team
    TEAM = 2  # who is in it, and its quota
    INVITATION = 3
    PHASE = 4  # shared by uploads, alone for whoever changes what they are scored with
    BATCH = 5  # of rescoring
    TRACK = 6
    SUBMISSION = 7
    COMPETITION = 8  # its settings, the numbers of its teams, its hash chain: held for a moment, at the very end


class LockOrderBroken(AssertionError):
    """A lock was taken after one of a later level: two of such transactions could wait for each other."""


def lock_rows(rows: models.QuerySet[Row], level: Level, *, no_key: bool = True) -> models.QuerySet[Row]:
    """``rows``, to be read as they are now and held until the transaction ends, in the order of their keys.

    ``no_key=False`` also keeps others from inserting rows that point at them.
    """
    note(level)
    return rows.select_for_update(of=("self",), no_key=no_key).order_by("pk")


def lock_shared(model: type[models.Model], pk: int, level: Level) -> None:
    """Hold a row together with others who hold it so; whoever wants it alone waits, and is waited for."""
    note(level)
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT 1 FROM "{model._meta.db_table}" WHERE id = %s FOR SHARE', [pk])  # noqa: S608  # ours


def note(level: Level) -> None:
    """Tell that a lock of ``level`` is taken now. Raises ``LockOrderBroken`` where order is checked."""
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
    """Inside, all rows that are locked were inserted by this very transaction: their order does not matter."""
    setattr(connection, "malpan_own_rows", True)  # noqa: B010  # not an attribute Django declares
    try:
        yield
    finally:
        delattr(connection, "malpan_own_rows")


@contextmanager
def repeatable_read() -> Iterator[None]:
    """Everything read inside is as of one moment; nothing can be written. Not for use inside a transaction.

    Without it each query sees what was committed when it began: a page of three queries could show half of a change.
    """
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
