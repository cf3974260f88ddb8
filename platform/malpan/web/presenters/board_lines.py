"""The lines of the board's table: a team's scores, and the marks drawn between teams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from malpan.competitions.models import Phase, Track
from malpan.competitions.shown_scores import fewest_decimals, scale_of
from malpan.leaderboard.boards import COMPOSITE, Board, BoardRow
from malpan.web.presenters import composites, formatting, scores, sureness
from malpan.web.presenters.board_headings import Sorting
from scoring.recipes import Column
from scoring.recipes.targets import Target

SECOND_LINE: Final = 36  # columns of text for scores on the second line of an entry at 390 px


@dataclass(frozen=True, slots=True)
class Cell:
    """One score: in full, and short for the second line of a phone. ``is_extra`` is left out there.

    ``part`` and, on a phone, ``short_part``: what it is as a part of a composite, its rank.
    """

    label: str
    full: str
    short: str
    is_main: bool
    is_extra: bool
    is_sorted: bool
    part: str = ""
    short_part: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One team. ``change`` says how far it is from the track's baseline; ``marks`` are the lines drawn above this team.

    On a final board ``moved`` says how far the team moved from the public one: ``▲ 3``; ``since`` how far since the day
    began. ``gap``: how far it is below the team above; ``coverage``: the share of reasons given. ``interval`` is that
    of the score that ranks, ``places`` that of the rank; ``tied_rank`` that of the first team of its band, which takes
    the place of its own where it ``shares_rank``. ``awards``: the titles of what the team got. ``bar``: the length of
    the bar of the score that ranks, of a hundred. ``ends_prize``: the prize place that ends below this team.
    """

    row: BoardRow
    cells: list[Cell]
    change: str | None = None
    marks: tuple[scores.Mark, ...] = ()
    moved: str = ""
    gap: str = ""
    since: str = ""
    coverage: str = ""
    interval: str = ""
    places: str = ""
    tied_rank: int | None = None
    shares_rank: bool = False
    awards: tuple[str, ...] = ()
    ends_prize: int | None = None
    bar: str = ""


def line_of(
    row: BoardRow,
    *,
    labelled: Sequence[tuple[Column, str]],
    decimals: Mapping[str, int],
    step: Decimal | None,
    track: Track,
    sorting: Sorting,
    on_phone: set[str],
    marks: tuple[scores.Mark, ...],
    baseline: Target | None,
    ranked_by: str,
    ties: str,
    gap: float | None = None,
    awards: tuple[str, ...] = (),
    ends_prize: int | None = None,
) -> Line:
    parts = {} if row.composite is None else {part.score: part for part in row.composite.parts}
    cells = [
        Cell(
            label=label,
            full=_score_text(row, column, track, decimals[column.key]),
            short=(
                _score_text(row, column, track, decimals[column.key])
                if column.key == sorting.key  # two that differ look different where they are sorted by it
                else scores.score_text(column, value_of(row, column), track, _step_of(column, step), is_short=True)
            ),
            is_main=column.is_main,
            is_extra=not column.is_main and column.key not in on_phone,
            is_sorted=column.key == sorting.key,
            part=composites.part_text(parts[column.key]) if column.key in parts else "",
            short_part=composites.rank_text(parts[column.key].rank) if column.key in parts else "",
        )
        for column, label in labelled
    ]
    change = scores.against_baseline(row.final_score, baseline) if baseline else None
    return Line(
        row,
        cells,
        change,
        marks,
        _movement(row.public_rank, row.rank),
        gap="" if gap is None else _gap_text(gap, track, None if row.composite is not None else step),
        coverage="" if row.coverage is None else f"{100 * row.coverage:.1f}%",
        since="" if row.rank_before == row.rank else _movement(row.rank_before, row.rank),
        interval=sureness.interval_text(row, ranked_by, track),
        places=sureness.places_text(row),
        tied_rank=None if ties == Phase.Ties.NONE else sureness.tied_rank(row),
        shares_rank=ties == Phase.Ties.SHARED,
        awards=awards,
        ends_prize=ends_prize,
        bar=next((_bar(row, column) for column, _label in labelled if column.is_main and column.is_scaled), ""),
    )


def _score_text(row: BoardRow, column: Column, track: Track, decimals: int) -> str:
    return formatting.scaled_text(value_of(row, column), scale_of(column, track), decimals)


def _step_of(column: Column, step: Decimal | None) -> Decimal | None:
    """What the score of ``column`` is rounded to: a composite of rounded scores is not."""
    return None if column.key == COMPOSITE else step


def _gap_text(gap: float, track: Track, step: Decimal | None) -> str:
    """The difference in few decimals; in as many as show it where there is one."""
    scale = track.score_scale
    least = fewest_decimals(formatting.SHORT_DECIMALS[scale], scale, step)
    texts = [formatting.signed_text(gap, scale, each) for each in range(least, max(least, track.score_decimals) + 1)]
    return next((text for text in texts if not text[0].isdigit()), texts[0])


def _bar(row: BoardRow, column: Column) -> str:
    """How long the bar of a score 0-1 is, of a hundred; empty where there is none to draw."""
    value = value_of(row, column)
    return "" if value is None else f"{100 * min(max(value, 0.0), 1.0):.1f}"


def value_of(row: BoardRow, column: Column) -> float | None:
    if column.key == COMPOSITE:
        return None if row.composite is None else row.composite.value
    return row.scores.get(column.key)


def _movement(before: int | None, after: int | None) -> str:
    """``▲ 3``, ``▼ 2`` or ``–``; nothing where one of the ranks is not known."""
    if before is None or after is None:
        return ""
    moved = before - after
    return f"{'▲' if moved > 0 else '▼'} {abs(moved)}" if moved else "–"


def second_line(found: Board, sorting: Sorting) -> set[str]:
    """The scores that fit the second line of a phone: the one sorted by, then the others in their order. The parts of a
    composite are shown all, on as many lines as they take.
    """
    if found.components:
        return {component.score for component in found.components}
    side = sorted((column for column in found.columns if not column.is_main), key=lambda c: c.key != sorting.key)
    shown: set[str] = set()
    room = SECOND_LINE
    for column in side:
        room -= formatting.text_width(column.label(scores.language())) + len(" 00.00")
        if room < 0:
            break
        shown.add(column.key)
    return shown


def content_of(row: BoardRow) -> tuple[Any, ...]:
    """All of a row that its line shows."""
    shown = (row.rank, row.team_name, row.is_own, row.is_baseline, row.public_rank, row.composite)
    counts = (row.submission_count, row.submitted_at, row.final_score, row.scores)
    return (
        *shown,
        row.sureness,
        row.is_disqualified,
        row.rank_before,
        row.is_new,
        row.coverage,
        row.model,
        row.is_program,
        *counts,
    )


def prizes_ending(found: Board, places: Sequence[int]) -> list[int | None]:
    """For each row of ``found`` the prize place that ends below it: the team after it is beyond that place. ``None``
    where none does, for baselines, and for all where the rows are in another order or searched for. Below the last row
    of a page only where its rank is the place.
    """
    ranks = [row.rank if found.view.is_of_neighbours else None for row in found.rows]
    ends: list[int | None] = []
    for at, rank in enumerate(ranks):
        following = next((later for later in ranks[at + 1 :] if later is not None), None)
        ending = [place for place in places if rank is not None and _ends_below(rank, following, place)]
        ends.append(max(ending, default=None))
    return ends


def _ends_below(rank: int, following: int | None, place: int) -> bool:
    return rank == place if following is None else rank <= place < following


def gaps_above(found: Board, count: int | None = None) -> list[float | None]:
    """How far each row of ``found`` is below the team right above it, in what ranks; ``None`` for the first and for
    baselines, and of all where the rows are in another order or searched for. ``count``: of so many rows, from the
    first.
    """
    above = found.row_before
    gaps: list[float | None] = []
    for row in found.rows[:count]:
        is_known = found.view.is_of_neighbours and row.rank is not None and above is not None
        gaps.append(_ranked_by(row) - _ranked_by(above) if is_known and above is not None else None)
        above = above if row.rank is None else row
    return gaps


def _ranked_by(row: BoardRow) -> float:
    return row.final_score if row.composite is None else row.composite.value


def marks_between(
    found: Board, marks: Sequence[scores.Mark]
) -> tuple[list[tuple[scores.Mark, ...]], tuple[scores.Mark, ...]]:
    """For each ranked row the marks drawn above it: those it fails and the row before it reached; then the rest.

    A score equal to a mark has reached it. Marks that nobody has reached yet are above the first row.
    """
    before = found.row_before
    above_page = [] if before is None else [mark for mark in marks if before.final_score < mark.value]
    left = sorted((mark for mark in marks if mark not in above_page), key=lambda mark: -mark.value)
    drawn = []
    for row in found.rows:
        above = [] if row.rank is None else [mark for mark in left if row.final_score < mark.value]
        drawn.append(tuple(above))
        left = [mark for mark in left if mark not in above]
    return drawn, tuple(left)
