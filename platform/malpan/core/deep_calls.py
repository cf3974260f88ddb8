"""Room on the interpreter's stack for calls within calls within calls.

CPython keeps the frames of a thread in chunks of 16 KB. It asks the kernel for a chunk when a frame does not fit any
more, and gives it back as soon as that frame returns. So a loop that happens to be at the edge of a chunk pays two
system calls and a page fault for every call it makes. Which page that hits is chance, and any change of the code moves
it: in the test of all pages it was 230 times a page, a quarter of the time. A frame that is larger than a chunk has one
of its own, and all that it calls lives in the rest of that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

_SLOTS = 50_000  # of 8 bytes: the chunk is then of 512 KB, of which 112 are left; only what is used takes memory

P = ParamSpec("P")
R = TypeVar("R")


def with_room(function: Callable[P, R]) -> Callable[P, R]:
    """``function``, called from a frame behind which there is room for some five hundred others."""

    def call(*arguments: P.args, **options: P.kwargs) -> R:
        return function(*arguments, **options)

    call.__code__ = call.__code__.replace(co_stacksize=_SLOTS)
    return call
