"""How many decimals the board writes: four, all on demand, and always enough to tell two scores apart.

Of rounded scores it writes no more than the step has that they are rounded to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final

from malpan.competitions.models import Track
from malpan.competitions.shown_scores import decimals_of as shown_decimals
from malpan.competitions.shown_scores import scale_of, scaled_text
from malpan.leaderboard.boards import COMPOSITE, Board, BoardRow
from malpan.web.presenters.board_lines import value_of
from scoring.recipes import Column

DIGITS: Final = "digits"  # ?digits=all: every decimal of the track
EVERY: Final = "all"
SHOWN: Final = 4
KEPT: Final = 512  # columns of boards, of a hundred scores each


def decimals_of(found: Board, *, shows_all: bool) -> dict[str, int]:
    """The decimals of each column of ``found``, equal in all of its rows. Columns that have decimals of their own keep
    them.
    """
    track = found.phase.track
    rows = [row for row in (found.row_before, *found.rows, found.own_row) if row is not None]
    return {column.key: _decimals(column, track, rows, found.step, shows_all=shows_all) for column in found.columns}


def _decimals(column: Column, track: Track, rows: Sequence[BoardRow], step: Decimal | None, *, shows_all: bool) -> int:
    if column.key == COMPOSITE:  # of rounded scores, and not rounded itself
        step = None
    if step is not None or shows_all or column.decimals is not None or track.score_decimals <= SHOWN:
        return shown_decimals(column, track, step)
    values = frozenset(value for row in rows if (value := value_of(row, column)) is not None)
    return _telling_apart(values, scale_of(column, track), track.score_decimals)


@lru_cache(KEPT)
def _telling_apart(values: frozenset[float], scale: int, every: int) -> int:
    def told_apart(decimals: int) -> int:
        return len({scaled_text(value, scale, decimals) for value in values})

    if told_apart(SHOWN) == len(values):  # as nearly always
        return SHOWN
    most = told_apart(every)
    return next((each for each in range(SHOWN, every) if told_apart(each) == most), every)


def digits_query(query: Mapping[str, str]) -> dict[str, str]:
    """What the links of a board carry on where all decimals were asked for."""
    return {DIGITS: EVERY} if query.get(DIGITS) == EVERY else {}
