"""A child that is killed at one of its steps: what the kill drills share."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

Step = Callable[[], None]


def dies(work: Callable[[Step], object], killed_at: int) -> bool:
    """Whether ``work``, in a process of its own, is killed (SIGKILL) at its step ``killed_at``: not if it has fewer.

    ``work`` is given what it calls at each of its steps. An error of its own ends the drill.
    """
    child = os.fork()
    if not child:
        try:
            work(_counting(killed_at))
        except BaseException as error:  # noqa: BLE001 - it must not go on as a second parent
            print(f"step {killed_at}: {error!r}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0
        return False
    assert os.WTERMSIG(status) == signal.SIGKILL
    return True


def _counting(killed_at: int) -> Step:
    taken = 0

    def step() -> None:
        nonlocal taken
        taken += 1
        if taken == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    return step
