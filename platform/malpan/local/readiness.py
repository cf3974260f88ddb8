"""A program of the supervisor tells it that it does its work now: those that wait for it are started then."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final

DESCRIPTOR: Final = "MALPAN_READY_FD"  # of a pipe that the supervisor reads; not set where there is none


def say_ready() -> None:
    """Tell the supervisor, if this process runs under one."""
    if descriptor := os.environ.get(DESCRIPTOR):
        with suppress(OSError):  # it is gone, and takes this process with it
            os.write(int(descriptor), b"\n")
