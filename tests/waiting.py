"""Waiting for a condition, with a limit. Nothing in the tests sleeps for a fixed time to be synchronised.

The limit is for what never happens. It is far beyond what an idle machine takes: CI shares its cores among several
processes of tests, each of which may run a whole site.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def wait_for(condition: Callable[[], Found], what: str, *, seconds: float = 120.0, every: float = 0.05) -> Found:
    """The first true value of ``condition``; fails the test with ``what`` when there is none within ``seconds``."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:.0f} s in vain: {what}")
        time.sleep(every)
    return found
