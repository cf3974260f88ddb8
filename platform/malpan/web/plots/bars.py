"""Columns of counts side by side, each of several parts stacked: what happened by the hour, how many by value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from malpan.web.plots.scales import Mark, Scale, tick_text, ticks

WIDTH: Final = 720
HEIGHT: Final = 200
LEFT: Final = 48
TOP: Final = 12
AXIS: Final = 30
GAP: Final = 2
EDGE: Final = 24  # room for half the label of the last edge
LABELS: Final = 12  # at most so many below the axis


@dataclass(frozen=True, slots=True)
class Column:
    """``counts``: its parts, from the bottom to the top. ``is_marked``: drawn in the accent colour of what is own."""

    label: str
    counts: tuple[float, ...]
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle of part ``part``."""

    x: float
    y: float
    width: float
    height: float
    part: int
    is_marked: bool


@dataclass(frozen=True, slots=True)
class Bars:
    """The geometry of a plot, in units of its ``width`` by ``height``."""

    width: int
    height: int
    left: int
    right: int
    bottom: int
    bars: tuple[Bar, ...]
    labels: tuple[Mark, ...]
    ticks: tuple[Mark, ...]


def bars(columns: Sequence[Column], edges: Sequence[str] = ()) -> Bars | None:
    """The plot of ``columns`` from left to right; ``None`` without any, or where all counts are 0.

    ``edges``: of a histogram, where its bins begin and where the last one ends; they stand below the sides of the bars,
    in place of the labels below their middles.

    Raises ``ValueError`` for a negative count, or where there is not one edge more than columns.
    """
    if edges and len(edges) != len(columns) + 1:
        raise ValueError("each column has two edges")
    if any(count < 0 for column in columns for count in column.counts):
        raise ValueError("a count is negative")
    highest = max((sum(column.counts) for column in columns), default=0)
    if not highest:
        return None
    marks = ticks(0.0, float(max(highest, 2)), 5, is_count=True)
    bottom, right = HEIGHT - AXIS, WIDTH - (EDGE if edges else 0)
    scale = Scale(0.0, marks[-1], bottom, TOP)
    width = (right - LEFT) / len(columns)
    labels, before = (edges, 0.0) if edges else ([column.label for column in columns], 0.5)
    every = -(-len(columns) // LABELS)
    shown = [
        Mark(round(LEFT + width * (at + before), 1), label)
        for at, label in enumerate(labels)
        if at % every == 0 and label
    ]
    return Bars(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=right,
        bottom=bottom,
        bars=tuple(bar for at, column in enumerate(columns) for bar in _stack(column, LEFT + width * at, width, scale)),
        labels=tuple(shown),
        ticks=tuple(Mark(scale(mark), tick_text(mark, marks)) for mark in marks),
    )


def _stack(column: Column, x: float, width: float, scale: Scale) -> list[Bar]:
    """The parts of a column, one on the other; a part of nothing is not drawn."""
    found, below = [], 0.0
    for part, count in enumerate(column.counts):
        if count:
            top, foot = scale(below + count), scale(below)
            inner = max(width - GAP, 0.5)
            place = round(x + (width - inner) / 2, 1)
            found.append(Bar(place, top, round(inner, 1), round(foot - top, 1), part, column.is_marked))
        below += count
    return found
