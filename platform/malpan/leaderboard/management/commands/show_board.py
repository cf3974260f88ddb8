"""``manage.py show_board``: the public boards as text tables, for a terminal."""

from __future__ import annotations

import unicodedata
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management import BaseCommand, CommandError

from malpan.competitions.errors import RecipeNotInstalled
from malpan.competitions.models import Phase, Track
from malpan.core.messages import text_of
from malpan.leaderboard.boards import Board, BoardRow
from malpan.leaderboard.selectors import board
from scoring.recipes import Column

NAME_WIDTH = 36  # columns of a terminal


class Command(BaseCommand):
    help = "순위표를 글자 표로 보여 줍니다. / Prints the public boards as text tables."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("competitions", nargs="*", help="대회의 주소 이름, 없으면 모두 / slugs; all when none")

    def handle(self, *args: Any, competitions: list[str], **options: Any) -> None:
        phases = Phase.objects.filter(track__competition__is_published=True).select_related("track__competition")
        if competitions:
            phases = phases.filter(track__competition__slug__in=competitions)
            if missing := set(competitions) - set(phases.values_list("track__competition__slug", flat=True)):
                raise CommandError(f"그런 대회가 없습니다 / no such competition: {', '.join(sorted(missing))}")
        for phase in phases.order_by("track__competition", "track__position", "position"):
            try:
                shown = board(phase)
            except RecipeNotInstalled as error:
                self.stderr.write(f"[{phase}] {phase.track.recipe}: {text_of(error)}")
                continue
            if shown.rows:
                self.stdout.write("\n".join(board_lines(shown)) + "\n")


def board_lines(shown: Board) -> list[str]:
    """The board as lines of text: a title, a header, a line for each team; scores on the track's scale, aligned.

    Only the columns that judge: the other metrics would not fit a terminal. Where a composite ranks it is in the
    place of the final score.
    """
    track = shown.phase.track
    title = f"[{track.competition.title} · {track.title} · {shown.phase.title}]"
    if shown.is_demo_models:
        title += "  데모 모델 점수 / scores of demo models"
    columns = [column for column in shown.columns if column.group == "main"]
    composed = ["종합 점수"] if shown.components else []
    if composed:
        columns = [column for column in columns if not column.is_main]
    header = ["순위", "팀", *composed, *(column.label() for column in columns), "제출"]
    table = [header, *(_cells(row, columns, track) for row in shown.rows)]
    return [title, *_aligned(table, left={1})]


def _cells(row: BoardRow, columns: Sequence[Column], track: Track) -> list[str]:
    scores = [_score(column, row.scores[column.key], track) if column.key in row.scores else "–" for column in columns]
    composed = [] if row.composite is None else [f"{row.composite.value * track.score_scale:.{track.score_decimals}f}"]
    return [str(row.rank or "–"), _cut(row.team_name), *composed, *scores, str(row.submission_count)]


def _score(column: Column, value: float, track: Track) -> str:
    decimals = track.score_decimals if column.decimals is None else column.decimals
    return f"{value * (track.score_scale if column.is_scaled else 1):.{decimals}f}"


def _aligned(table: Sequence[Sequence[str]], *, left: set[int]) -> list[str]:
    """Rows padded to the widest cell of each column; columns in ``left`` to the left, the others to the right."""
    widths = [max(_width(cell) for cell in column) for column in zip(*table, strict=True)]
    return [
        "  "
        + "  ".join(
            cell + " " * (width - _width(cell)) if number in left else " " * (width - _width(cell)) + cell
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


def _cut(name: str) -> str:
    """``name`` in at most ``NAME_WIDTH`` columns."""
    if _width(name) <= NAME_WIDTH:
        return name
    end = max(length for length in range(len(name)) if _width(name[:length]) < NAME_WIDTH)
    return name[:end].rstrip() + "…"


def _width(text: str) -> int:
    """Columns of a terminal: Hangul takes two, a combining mark none."""
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text
    )
