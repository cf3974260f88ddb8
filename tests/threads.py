"""Many people at once: real threads, each with a database connection of its own, all let go at the same moment."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connection

from malpan.core.errors import DomainError

Outcome = TypeVar("Outcome")
# PostgreSQL takes a hundred by default: the processes of one run share eighty, and other runs need theirs
CONNECTIONS = min(60, 80 // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def at_once(calls: Sequence[Callable[[], Outcome]]) -> list[Outcome | DomainError]:
    """Run every call in its own thread, all at once, and return what each returned or the domain error it raised.

    Every thread lives until the last has started. As many as ``CONNECTIONS`` hold the database at one time; the others
    wait their turn, as requests do in front of a server's threads.
    """
    start = threading.Barrier(len(calls))
    turn = threading.BoundedSemaphore(CONNECTIONS)

    def run(call: Callable[[], Outcome]) -> Outcome | DomainError:
        start.wait(timeout=60)
        with turn:
            try:
                return call()
            except DomainError as error:
                return error
            finally:
                connection.close()

    with ThreadPoolExecutor(max_workers=len(calls)) as pool:
        return list(pool.map(run, calls))
