"""How the time of reading grows with the file: a part of a hostile file says what the whole one would cost.

A part is read, and a quarter of that part. What is linear takes four times as long for it, what is quadratic sixteen
times. Processor time on a busy machine is sometimes twice what it should be: what looks like growth is measured again,
and the least counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

FOLD: Final = 4  # by so much the second part is smaller
MOST_FOLD: Final = 2 * FOLD
NOTHING: Final = 0.1  # seconds: a part this quick is not compared, the whole file takes seconds at most
TRIES: Final = 4

Sized = Callable[[int], int]


@dataclass(frozen=True)
class Growth:
    """Seconds of a part, and of a quarter of it."""

    seconds: float
    quarter: float

    @property
    def is_in_step(self) -> bool:
        return self.seconds <= MOST_FOLD * self.quarter + NOTHING


def growth(share: int, seconds_of: Callable[[Sized], float], most: float) -> Growth:
    """That of the file which ``seconds_of`` makes of its counts and reads; a part should take ``most`` at most."""
    found = Growth(float("inf"), float("inf"))
    for _ in range(TRIES):
        quarter = min(found.quarter, seconds_of(part(share * FOLD)))
        found = Growth(min(found.seconds, seconds_of(part(share))), quarter)
        if found.is_in_step and found.seconds < most:
            break
    return found


def part(share: int) -> Sized:
    """The function that says how many of a whole file's pieces are in such a part of it."""
    return lambda count: count // share
