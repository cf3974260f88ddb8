"""A forest plot: estimates with their intervals, one below the other; and the same for a phone, each label above its
line.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from malpan.web.plots.scales import Scale, tick_text, ticks

WIDTH: Final = 720
LABEL_WIDTH: Final = 200
LABEL_COLUMNS: Final = 22  # a Hangul syllable counts two
MARGIN: Final = 16
ROW: Final = 30
AXIS: Final = 34
NARROW_WIDTH: Final = 344  # as wide as a phone has room for
NARROW_COLUMNS: Final = 44
NARROW_ROW: Final = 46
NARROW_TICKS: Final = 5


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is drawn: a value with its interval, both in the same unit. ``is_marked``: drawn in the accent colour."""

    label: str
    value: float
    low: float
    high: float
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the drawing: its place, the ends of the interval, and the value."""

    label: str
    text_y: float
    y: float
    low: float
    value: float
    high: float
    is_marked: bool
    is_striped: bool
    top: float


@dataclass(frozen=True, slots=True)
class Tick:
    x: float
    label: str
    is_zero: bool


@dataclass(frozen=True, slots=True)
class Forest:
    """The geometry of a plot, in units of its ``width`` by ``height``. ``narrow``: the same plot for a phone."""

    width: int
    height: int
    bottom: int
    row_height: int
    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]
    narrow: Forest | None = None


def forest(estimates: Sequence[Estimate]) -> Forest | None:
    """The plot of ``estimates`` in their order, the first on top; ``None`` for none."""
    if not estimates:
        return None
    beside = _Layout(WIDTH, LABEL_WIDTH + MARGIN, ROW, LABEL_COLUMNS, text_y=ROW / 2 + 5, y=ROW / 2)
    above = _Layout(NARROW_WIDTH, MARGIN, NARROW_ROW, NARROW_COLUMNS, text_y=18, y=33, most_ticks=NARROW_TICKS)
    return replace(_drawn(estimates, beside), narrow=_drawn(estimates, above))


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where a row has what: the scale from ``left`` to the margin of ``width``; label and line below its top."""

    width: int
    left: int
    row: int
    columns: int
    text_y: float
    y: float
    most_ticks: int = 6


def _drawn(estimates: Sequence[Estimate], layout: _Layout) -> Forest:
    marks = ticks(min(each.low for each in estimates), max(each.high for each in estimates), layout.most_ticks)
    scale = Scale(marks[0], marks[-1], layout.left, layout.width - MARGIN)
    bottom = layout.row * len(estimates)
    rows = tuple(_row(each, number, scale, layout) for number, each in enumerate(estimates))
    shown = tuple(Tick(scale(mark), tick_text(mark, marks), mark == 0) for mark in marks)
    return Forest(layout.width, bottom + AXIS, bottom, layout.row, rows, shown)


def _row(estimate: Estimate, number: int, scale: Scale, layout: _Layout) -> Row:
    top = layout.row * number
    return Row(
        label=cut(estimate.label, layout.columns),
        text_y=top + layout.text_y,
        y=top + layout.y,
        low=scale(estimate.low),
        value=scale(estimate.value),
        high=scale(estimate.high),
        is_marked=estimate.is_marked,
        is_striped=number % 2 == 1,
        top=top,
    )


def cut(label: str, columns: int) -> str:
    """``label``, shortened with an ellipsis to ``columns`` columns; a Hangul syllable takes two."""
    taken, kept = 0, ""
    for character in label:
        taken += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if taken > columns:
            return kept[:-1].rstrip() + "…"
        kept += character
    return label
