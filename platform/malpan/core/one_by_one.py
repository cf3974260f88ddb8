"""Work on many rows of which none may stop the others: what the clock orders, and what follows the loss of a worker."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

from django.db import connection

from malpan.core.errors import DatabaseAway, DatabaseFull
from malpan.core.service_faults import fault_of

logger = logging.getLogger(__name__)

Row = TypeVar("Row")
Result = TypeVar("Result")


def one_by_one(rows: Iterable[Row], do: Callable[[Row], Result], what: str) -> list[Result]:
    """What ``do`` returns for each of ``rows``, in order. A row it fails with is left out, and logged as one of
    ``what``; the next rows are done all the same.

    ``do`` opens its own transaction. Raises ``OperationalError`` or ``InterfaceError`` if the database is away or has
    no room left: no other row would fare better.
    """
    done = []
    for row in rows:
        try:
            done.append(do(row))
        except Exception as error:
            fault = fault_of(error)
            if isinstance(fault, DatabaseFull) or (isinstance(fault, DatabaseAway) and not connection.is_usable()):
                raise
            logger.exception("one of %s failed: %s", what, _name_of(row))
    return done


def step_by_step(what: str, *steps: Callable[[], object]) -> None:
    """Call each of ``steps``, also where one before it failed. Raises as ``one_by_one``."""
    one_by_one(steps, lambda step: step(), what)


def _name_of(row: object) -> object:
    """What a log line may say of ``row``: a number or the name of a function, never a text that people wrote."""
    return getattr(row, "pk", None) or getattr(row, "__name__", None) or (row if isinstance(row, int) else "")
