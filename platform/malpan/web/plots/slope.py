"""A slope chart: where each was before and after, as a line from the left axis to the right one, the first on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from malpan.web.plots.forest import cut
from malpan.web.plots.scales import Scale

WIDTH: Final = 720
LEFT: Final = 240
RIGHT: Final = 480
ROW: Final = 24
MARGIN: Final = 20
LABEL_COLUMNS: Final = 24


@dataclass(frozen=True, slots=True)
class Move:
    """The places, from 1, of what ``label`` names. ``is_marked``: drawn in the accent colour of what is own."""

    label: str
    before: int
    after: int
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class Slope:
    """A line of the drawing with its two labels."""

    left_y: float
    right_y: float
    left_label: str
    right_label: str
    rises: bool
    is_marked: bool


@dataclass(frozen=True, slots=True)
class Slopes:
    """The geometry of a plot, in units of its ``width`` by ``height``."""

    width: int
    height: int
    left: int
    right: int
    slopes: tuple[Slope, ...]


def slopes(moves: Sequence[Move]) -> Slopes | None:
    """The plot of ``moves``; ``None`` for none. Raises ``ValueError`` for a place below 1."""
    if any(min(move.before, move.after) < 1 for move in moves):
        raise ValueError("places count from 1")
    if not moves:
        return None
    last = max(max(move.before, move.after) for move in moves)
    height = 2 * MARGIN + ROW * max(last - 1, 1)
    down = Scale(1, max(last, 2), MARGIN, height - MARGIN)
    drawn = tuple(
        Slope(
            left_y=down(move.before),
            right_y=down(move.after),
            left_label=f"{cut(move.label, LABEL_COLUMNS)} {move.before}",
            right_label=f"{move.after} {cut(move.label, LABEL_COLUMNS)}",
            rises=move.after < move.before,
            is_marked=move.is_marked,
        )
        for move in moves
    )
    return Slopes(WIDTH, height, LEFT, RIGHT, drawn)
