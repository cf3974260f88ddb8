"""A win matrix: for every pair how many comparisons the row won against the column, shaded by the share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

CELL: Final = 44
LABEL_WIDTH: Final = 56
HEADER: Final = 28
SHADES: Final = 9  # 0 lost all, 4 even, 8 won all


@dataclass(frozen=True, slots=True)
class Cell:
    """``shade`` is ``None`` where the two never met."""

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
    count = len(labels)
    if any(len(table) != count or any(len(row) != count for row in table) for table in (wins, ties)):
        raise ValueError("the tables do not fit the labels")
    if not count:
        return None
    cells = tuple(
        _cell(row, column, wins[row][column], wins[column][row], ties[row][column])
        for row in range(count)
        for column in range(count)
        if row != column
    )
    middle = CELL / 2 + 5
    return Matrix(
        width=LABEL_WIDTH + CELL * count,
        height=HEADER + CELL * count,
        cell=CELL - 2,
        cells=cells,
        rows=tuple(Label(LABEL_WIDTH - 8, HEADER + CELL * at + middle, label) for at, label in enumerate(labels)),
        columns=tuple(Label(LABEL_WIDTH + CELL * at + CELL / 2, HEADER - 9, label) for at, label in enumerate(labels)),
    )


def _cell(row: int, column: int, won: int, lost: int, tied: int) -> Cell:
    x, y = LABEL_WIDTH + CELL * column, HEADER + CELL * row
    met = won + lost + tied
    share = (won + tied / 2) / met if met else None
    return Cell(
        x=x,
        y=y,
        text_x=x + CELL / 2 - 1,
        text_y=y + CELL / 2 + 5,
        text=str(won) if met else "–",
        shade=None if share is None else min(int(share * SHADES), SHADES - 1),
    )
