"""A board as a CSV file: all its rows with every digit, intervals and ties, and nothing that its pages do not show."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpResponse

from malpan.leaderboard.boards import COMPOSITE, Board, BoardRow
from malpan.web.csv_export import csv_response
from malpan.web.presenters.sureness import ranked_by
from scoring.recipes import Column

FORM: Final = "as"  # ?as=csv
CSV: Final = "csv"
_BEFORE: Final = ("rank", "team", "is_baseline", "is_own")
_AFTER: Final = (
    *("interval_low", "interval_high", "rank_best", "rank_worst", "tied_rank", "submissions", "submitted_at"),
    *("rank_yesterday", "reason_coverage", "is_program"),
)


def board_csv(found: Board) -> HttpResponse:
    """The rows of ``found``; scores are 0-1, as they are stored, or in the unit of their column."""
    columns = [column for column in found.columns if any(_value(row, column) is not None for row in found.rows)]
    score = ranked_by(found)
    composite = (COMPOSITE,) if found.components else ()
    header = [*_BEFORE, *composite, *(column.key for column in columns), *_AFTER]
    name = f"board-{found.phase.track.slug}-{found.phase.slug}.csv"
    return csv_response(name, header, [_cells(row, columns, score, bool(composite)) for row in found.rows])


def _cells(row: BoardRow, columns: list[Column], score: str, is_composite: bool) -> list[Any]:
    sure = row.sureness
    low, high = (None, None) if sure is None else sure.scores.get(score, (None, None))
    best, worst = (None, None) if sure is None or sure.places is None else sure.places
    composite = [row.composite and row.composite.value] if is_composite else []
    return [
        *(row.rank, row.team_name, row.is_baseline, row.is_own, *composite),
        *(_value(row, column) for column in columns),
        *(low, high, best, worst, sure and sure.shared_rank, row.submission_count, row.submitted_at),
        *(row.rank_before, row.coverage, row.is_program),
    ]


def _value(row: BoardRow, column: Column) -> float | None:
    return row.scores.get(column.key)
