"""Values over time: points joined by a line, or a value that holds until the next one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from malpan.web.plots.scales import Mark, Scale, tick_text, ticks
from malpan.web.plots.times import time_text, time_ticks

WIDTH: Final = 720
HEIGHT: Final = 220
LEFT: Final = 64
RIGHT: Final = 16
TOP: Final = 12
AXIS: Final = 30


@dataclass(frozen=True, slots=True)
class Point:
    """A value at a moment. ``is_marked``: drawn in the accent colour of what is own."""

    at: datetime
    value: float
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class Dot:
    x: float
    y: float
    is_marked: bool


@dataclass(frozen=True, slots=True)
class Line:
    """The geometry of a plot, in units of its ``width`` by ``height``; ``path`` is the line, ``dots`` its points."""

    width: int
    height: int
    left: int
    right: int
    bottom: int
    path: str
    dots: tuple[Dot, ...]
    days: tuple[Mark, ...]
    ticks: tuple[Mark, ...]


def line(points: Sequence[Point], *, holds_until: datetime | None = None) -> Line | None:
    """The plot of ``points`` in the order of time; ``None`` for fewer than two, or where all are of one moment.

    ``holds_until``: each value holds until the next, the last until then. Raises ``ValueError`` for points out of
    order.
    """
    if any(after.at < before.at for before, after in itertools.pairwise(points)):
        raise ValueError("the points are not in the order of time")
    if len(points) < 2:
        return None
    start, end = points[0].at, max(points[-1].at, holds_until or points[-1].at)
    if start == end:
        return None
    marks = ticks(min(each.value for each in points), max(each.value for each in points), 5)
    bottom, right = HEIGHT - AXIS, WIDTH - RIGHT
    across = Scale(start.timestamp(), end.timestamp(), LEFT, right)
    up = Scale(marks[0], marks[-1], bottom, TOP)
    dots = tuple(Dot(across(each.at.timestamp()), up(each.value), each.is_marked) for each in points)
    return Line(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=right,
        bottom=bottom,
        path=_joined(dots) if holds_until is None else _stepped(dots, across(end.timestamp())),
        dots=dots,
        days=tuple(Mark(across(tick.timestamp()), time_text(tick, end - start)) for tick in time_ticks(start, end)),
        ticks=tuple(Mark(up(mark), tick_text(mark, marks)) for mark in marks),
    )


def _joined(dots: Sequence[Dot]) -> str:
    return "M" + "L".join(f"{dot.x} {dot.y}" for dot in dots)


def _stepped(dots: Sequence[Dot], end: float) -> str:
    first, *rest = dots
    return f"M{first.x} {first.y}" + "".join(f"H{dot.x}V{dot.y}" for dot in rest) + f"H{end}"
