"""Looking at something again and again until it is over, the less often the longer it takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from malpan_client.failing import Failure
from malpan_client.showing import note
from malpan_client.site import Site

FIRST_LOOK, LONGEST_LOOK = 1.0, 15.0  # seconds between two looks


def watch(
    site: Site,
    found: Any,
    path: str,
    *,
    is_over: Callable[[Any], bool],
    line: Callable[[Any], str],
    seconds: float | None = None,
    hint: str = "",
) -> Any:
    """What is at ``path`` when it is over, or after ``seconds``; whenever its ``line`` changes, it is told.

    ``hint``: how to go on, should the site be away for too long.
    """
    ends_at = None if seconds is None else time.monotonic() + seconds
    pause, told = FIRST_LOOK, ""
    while not is_over(found) and (ends_at is None or time.monotonic() < ends_at):
        if line(found) != told:
            told = line(found)
            note(told)
        time.sleep(pause if ends_at is None else max(0.0, min(pause, ends_at - time.monotonic())))
        pause = min(pause * 1.5, LONGEST_LOOK)
        try:
            found = site.ask("GET", path, is_patient=True)
        except Failure as failure:
            failure.hint = hint or failure.hint
            raise
    return found
