"""A square table of pairs, shaded: how many comparisons the row won against the column, or how two things correlate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

CELL: Final = 44
LABEL_WIDTH: Final = 56
HEADER: Final = 28
SHADES: Final = 9  # of wins: 0 lost all, 4 even, 8 won all


@dataclass(frozen=True, slots=True)
class Cell:
    """``shade`` is ``None`` where nothing is known of the two."""

    x: float
    y: float
    text_x: float
    text_y: float
    text: str
    shade: int | None


@dataclass(frozen=True, slots=True)
class Label:
    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Matrix:
    width: int
    height: int
    cell: int
    cells: tuple[Cell, ...]
    rows: tuple[Label, ...]
    columns: tuple[Label, ...]


def win_matrix(labels: Sequence[str], wins: Sequence[Sequence[int]], ties: Sequence[Sequence[int]]) -> Matrix | None:
    """The drawing of square tables in the order of ``labels``; a tie is half a win in the shade. ``None`` without rows.

    Raises ``ValueError`` for tables of another shape.
    """
    _require_square(labels, wins, ties)

    def cell(row: int, column: int) -> tuple[str, float | None]:
        won, lost, tied = wins[row][column], wins[column][row], ties[row][column]
        met = won + lost + tied
        return (str(won), (won + tied / 2) / met) if met else ("–", None)

    return _drawn(labels, cell)


def correlation_matrix(labels: Sequence[str], values: Sequence[Sequence[float | None]]) -> Matrix | None:
    """The drawing of correlations from -1, not shaded, to 1. ``None`` without rows; raises as ``win_matrix``."""
    _require_square(labels, values)

    def cell(row: int, column: int) -> tuple[str, float | None]:
        value = values[row][column]
        return ("–", None) if value is None else (f"{value:.2f}".replace("-", "−"), (value + 1) / 2)

    return _drawn(labels, cell)


def _require_square(labels: Sequence[str], *tables: Sequence[Sequence[float | None]]) -> None:
    count = len(labels)
    if any(len(table) != count or any(len(row) != count for row in table) for table in tables):
        raise ValueError("the tables do not fit the labels")


def _drawn(labels: Sequence[str], cell: Callable[[int, int], tuple[str, float | None]]) -> Matrix | None:
    """``cell`` gives the text of a row and column with the share from 0 to 1 that shades it."""
    count = len(labels)
    if not count:
        return None
    middle = CELL / 2 + 5
    return Matrix(
        width=LABEL_WIDTH + CELL * count,
        height=HEADER + CELL * count,
        cell=CELL - 2,
        cells=tuple(
            _cell(row, column, *cell(row, column)) for row in range(count) for column in range(count) if row != column
        ),
        rows=tuple(Label(LABEL_WIDTH - 8, HEADER + CELL * at + middle, label) for at, label in enumerate(labels)),
        columns=tuple(Label(LABEL_WIDTH + CELL * at + CELL / 2, HEADER - 9, label) for at, label in enumerate(labels)),
    )


def _cell(row: int, column: int, text: str, share: float | None) -> Cell:
    x, y = LABEL_WIDTH + CELL * column, HEADER + CELL * row
    return Cell(
        x=x,
        y=y,
        text_x=x + CELL / 2 - 1,
        text_y=y + CELL / 2 + 5,
        text=text,
        shade=None if share is None else min(int(share * SHADES), SHADES - 1),
    )
