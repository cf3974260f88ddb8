"""Points by two values: the first along the bottom axis, the second along the left one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from malpan.web.plots.scales import Mark, Scale, tick_text, ticks

WIDTH: Final = 720
HEIGHT: Final = 400
LEFT: Final = 64
RIGHT: Final = 16
TOP: Final = 34
AXIS: Final = 54


@dataclass(frozen=True, slots=True)
class Point:
    """``label`` is told where one points at it. ``is_marked``: drawn with a ring, as what is own."""

    x: float
    y: float
    label: str
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class Dot:
    x: float
    y: float
    label: str
    is_marked: bool


@dataclass(frozen=True, slots=True)
class Scatter:
    """The geometry of a plot, in units of its ``width`` by ``height``; the marked dots are last, above the others."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    x_label: str
    y_label: str
    dots: tuple[Dot, ...]
    across: tuple[Mark, ...]
    up: tuple[Mark, ...]


def scatter(points: Sequence[Point], x_label: str, y_label: str) -> Scatter | None:
    """The plot of ``points``; ``None`` for fewer than two."""
    if len(points) < 2:
        return None
    bottom, right = HEIGHT - AXIS, WIDTH - RIGHT
    x_ticks = ticks(min(each.x for each in points), max(each.x for each in points))
    y_ticks = ticks(min(each.y for each in points), max(each.y for each in points))
    across = Scale(x_ticks[0], x_ticks[-1], LEFT, right)
    up = Scale(y_ticks[0], y_ticks[-1], bottom, TOP)
    ordered = sorted(points, key=lambda each: each.is_marked)
    return Scatter(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=right,
        top=TOP,
        bottom=bottom,
        x_label=x_label,
        y_label=y_label,
        dots=tuple(Dot(across(each.x), up(each.y), each.label, each.is_marked) for each in ordered),
        across=tuple(Mark(across(mark), tick_text(mark, x_ticks)) for mark in x_ticks),
        up=tuple(Mark(up(mark), tick_text(mark, y_ticks)) for mark in y_ticks),
    )
