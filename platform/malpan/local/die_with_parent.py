"""Run a program that the kernel ends together with its parent, however the parent ends.

Executed by path (``python -I -S die_with_parent.py PARENT_PID PROGRAM ARGUMENTS...``), so that it starts in
milliseconds and loads only the standard library before it executes the program.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """Have the kernel send ``number`` to this process when its parent, the process ``parent``, ends.

    Only on Linux; elsewhere, programs left by a killed supervisor must be ended by hand.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:  # the parent ended before the call
        os.kill(os.getpid(), number)


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
