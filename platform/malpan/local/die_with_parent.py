"""Run a program bound to its parent: when the parent dies, however it dies, the kernel ends the program too.

Executed by path (``python -I -S die_with_parent.py PARENT_PID PROGRAM ARGUMENTS...``), so that it starts in
milliseconds and nothing but the standard library is loaded before the program takes its place.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """Have the kernel send ``number`` to this process when its parent, the process ``parent``, ends.

    Only Linux knows this; elsewhere what a killed supervisor left running is ended by hand.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:  # it died before the kernel was told
        os.kill(os.getpid(), number)


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
