"""A forest plot: estimates with their intervals, one below the other."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from malpan.web.plots.scales import Scale, tick_text, ticks

WIDTH: Final = 720
LABEL_WIDTH: Final = 200
LABEL_COLUMNS: Final = 22  # a Hangul syllable counts two
MARGIN: Final = 16
ROW: Final = 30
AXIS: Final = 34


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
    """The geometry of a plot, in units of its ``width`` by ``height``."""

    width: int
    height: int
    bottom: int
    row_height: int
    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]


def forest(estimates: Sequence[Estimate]) -> Forest | None:
    """The plot of ``estimates`` in their order, the first on top; ``None`` for none."""
    if not estimates:
        return None
    marks = ticks(min(each.low for each in estimates), max(each.high for each in estimates))
    scale = Scale(marks[0], marks[-1], LABEL_WIDTH + MARGIN, WIDTH - MARGIN)
    bottom = ROW * len(estimates)
    rows = tuple(_row(each, number, scale) for number, each in enumerate(estimates))
    shown = tuple(Tick(scale(mark), tick_text(mark, marks), mark == 0) for mark in marks)
    return Forest(WIDTH, bottom + AXIS, bottom, ROW, rows, shown)


def _row(estimate: Estimate, number: int, scale: Scale) -> Row:
    middle = ROW * number + ROW / 2
    return Row(
        label=cut(estimate.label, LABEL_COLUMNS),
        text_y=middle + 5,
        y=middle,
        low=scale(estimate.low),
        value=scale(estimate.value),
        high=scale(estimate.high),
        is_marked=estimate.is_marked,
        is_striped=number % 2 == 1,
        top=ROW * number,
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
