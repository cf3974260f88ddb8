"""Rows of words and figures laid out as text or Markdown, for the reports of the instrument."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scoring.recipes import Column, Recipe

Row = tuple[str, ...]


def display_width(text: str) -> int:
    """Columns ``text`` takes in a terminal: East Asian wide characters take two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def aligned(rows: Sequence[Row], numeric: bool = False) -> list[str]:
    """Rows as columns: the first padded, further ones right-aligned where ``numeric``. Hangul counts two columns."""
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [row[0] + " " * (widths[0] - display_width(row[0]))]
        for cell, width in zip(row[1:], widths[1:], strict=True):
            cells.append(" " * (width - display_width(cell) if numeric else 0) + cell)
        lines.append("  ".join(cells).rstrip())
    return lines


def indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def markdown_table(header: Row, rows: Sequence[Row]) -> list[str]:
    """A Markdown table whose columns after the first are right-aligned. A bar in a cell is escaped."""
    ruler = ["---", *("---:" for _ in header[1:])]
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |" for cells in (header, ruler, *rows)]


def figure(
    recipe: Recipe, column: Column, value: float, *, is_signed: bool = False, decimals: int | None = None
) -> str:
    """``value`` as the board shows it: times the recipe's scale unless the column has its own, with fixed decimals."""
    scale = recipe.scale if column.is_scaled else 1
    places = next(each for each in (column.decimals, decimals, recipe.decimals) if each is not None)
    return f"{value * scale:{'+' if is_signed else ''}.{places}f}"
