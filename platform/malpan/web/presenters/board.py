"""The board's table: which columns and lines it shows, in which order, and where its headings lead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal

from django.utils.translation import gettext as _

from malpan.competitions.models import Track
from malpan.competitions.targets import targets_of
from malpan.leaderboard.selectors import Board, BoardRow
from malpan.web.presenters import formatting, scores
from scoring.recipes import Column, Recipe
from scoring.recipes.targets import Target

Direction = Literal["ascending", "descending"]
Link = Callable[[Mapping[str, str]], str]  # this board's address with a query
RANK: Final = "rank"
COUNT: Final = "submissions"
TIME: Final = "submitted"
ALL: Final = "all"
PUBLIC: Final = "public"  # ?view=public: the public board where the final one is published
SECOND_LINE: Final = 36  # columns of text for scores on the second line of an entry at 390 px


@dataclass(frozen=True, slots=True)
class Heading:
    key: str
    label: str
    href: str
    aria_sort: Direction | None
    is_score: bool = False
    is_main: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """One score: in full, and short for the second line of a phone. ``is_extra`` is left out there."""

    label: str
    full: str
    short: str
    is_main: bool
    is_extra: bool
    is_sorted: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One team. ``change`` is against the track's baseline; ``marks`` are the lines drawn above this team.

    On a final board ``moved`` says how far the team moved from the public one: ``▲ 3``.
    """

    row: BoardRow
    cells: list[Cell]
    change: str | None = None
    marks: tuple[scores.Mark, ...] = ()
    moved: str = ""


@dataclass(frozen=True, slots=True)
class Sorting:
    key: str
    direction: Direction


def board_table(found: Board, query: Mapping[str, str], link: Link) -> dict[str, Any]:
    """The context of the board's table, sorted and narrowed as ``query`` asks; ``link`` gives the page's address."""
    shows_all = query.get("metrics") == ALL
    view_query = _view_query(query, found)
    found = replace(found, columns=_shown_columns(found, shows_all))
    sorting = _sorting(found, query.get("sort"), query.get("order"))
    ordered = _sorted(found.rows, sorting)
    targets = targets_of(found.phase.track)
    baseline, marks = scores.baseline_of(targets), scores.marks_of(found.phase.track, targets)
    drawn, below = _marks_between(ordered, marks if sorting.key == RANK else [])
    on_phone = {column.key for column in found.columns} if shows_all else _second_line(found, sorting)
    lines = [
        _line(row, found, found.phase.track, sorting, on_phone, marks=drawn[place], baseline=baseline)
        for place, row in enumerate(ordered)
    ]
    return {
        "board": found,
        "columns_across": len(found.columns) + 4,  # rank, team, scores, submissions, time
        "compared_column": _main_label(found) if baseline else None,
        "noted_marks": [mark for mark in marks if mark.note],
        "marks_below": below,
        "metrics_href": _metrics_href(link, found.recipe, shows_all, view_query),
        "shows_all_metrics": shows_all,
        "lacks_clip": _lacks_clip(found),
        "headings": _headings(link, found, sorting, {"metrics": ALL, **view_query} if shows_all else view_query),
        "lines": lines,
        "own_line": next((line for line in lines if line.row.is_own), None),
        "updated_at": _updated_at(found.rows),
    }


def _view_query(query: Mapping[str, str], found: Board) -> dict[str, str]:
    """What the links of this board carry on: that it is the public one, where the final one is published."""
    is_second = found.phase.final_published_at is not None and found.snapshot is None
    return {"view": PUBLIC} if is_second and query.get("view") == PUBLIC else {}


def _shown_columns(found: Board, shows_all: bool) -> tuple[Column, ...]:
    """The columns that judge, or all of them; of optional metrics those that some row has."""
    return tuple(
        column
        for column in found.columns
        if (shows_all or column.group == "main")
        and (column.group == "main" or any(column.key in row.scores for row in found.rows))
    )


def _lacks_clip(found: Board) -> bool:
    """Whether the recipe knows CLIPScore and no score on the board has it: no model or no frames are configured."""
    has_it = any(name in row.scores for row in found.rows for name in ("clipscore", "clip_cosine"))
    return "clipscore" in found.recipe.optional_metrics and bool(found.rows) and not has_it


def _marks_between(
    rows: Sequence[BoardRow], marks: Sequence[scores.Mark]
) -> tuple[list[tuple[scores.Mark, ...]], tuple[scores.Mark, ...]]:
    """For each ranked row the marks drawn above it: those it fails and the row before it reached; then the rest.

    A score equal to a mark has reached it. Marks above the first row stand there: what nobody has reached yet.
    """
    left = sorted(marks, key=lambda mark: -mark.value)
    drawn = []
    for row in rows:
        above = [] if row.rank is None else [mark for mark in left if row.final_score < mark.value]
        drawn.append(tuple(above))
        left = [mark for mark in left if mark not in above]
    return drawn, tuple(left)


def _metrics_href(link: Link, recipe: Recipe, shows_all: bool, view_query: Mapping[str, str]) -> str | None:
    """Where the other view of the columns is: all metrics, or those that judge; ``None`` where there is only one."""
    if all(column.group == "main" for column in recipe.columns):
        return None
    return link(view_query if shows_all else {"metrics": ALL, **view_query})


def _sorting(found: Board, key: str | None, order: str | None) -> Sorting:
    """What was asked for, or the ranking. Scores and counts start from the highest, rank and time from the first."""
    known = {column.key for column in found.columns} | {COUNT, TIME}
    if key not in known:
        return Sorting(RANK, "ascending")
    natural: Direction = "ascending" if key == TIME else "descending"
    wanted: dict[str | None, Direction] = {"asc": "ascending", "desc": "descending"}
    return Sorting(key, wanted.get(order, natural))


def _sorted(rows: Sequence[BoardRow], sorting: Sorting) -> list[BoardRow]:
    """The rows in the order asked for; rows without the value stand last; the ranking decides among equals."""
    if sorting.key == RANK:
        return list(rows)
    value = _value_of(sorting.key)
    with_value = [row for row in rows if value(row) is not None]
    without = [row for row in rows if value(row) is None]
    return sorted(with_value, key=value, reverse=sorting.direction == "descending") + without


def _value_of(key: str) -> Callable[[BoardRow], Any]:
    if key == COUNT:
        return lambda row: row.submission_count
    if key == TIME:
        return lambda row: row.submitted_at
    return lambda row: row.scores.get(key)


def _headings(link: Link, found: Board, sorting: Sorting, carried: Mapping[str, str]) -> list[Heading]:
    def heading(key: str, label: str, **kind: bool) -> Heading:
        aria_sort = sorting.direction if key == sorting.key else None
        return Heading(key, label, _sort_href(link, key, aria_sort, carried), aria_sort, **kind)

    columns = [
        heading(column.key, column.label(scores.language()), is_score=True, is_main=column.is_main)
        for column in found.columns
    ]
    return [heading(RANK, _("순위")), *columns, heading(COUNT, _("제출 수")), heading(TIME, _("제출 시각(KST)"))]


def _sort_href(link: Link, key: str, current: Direction | None, carried: Mapping[str, str]) -> str:
    """Where the heading leads: this sorting, or the other way round when it is already the current one."""
    query = dict(carried)
    if key != RANK:
        query["sort"] = key
        if current:
            query["order"] = "asc" if current == "descending" else "desc"
    return link(query)


def _main_label(found: Board) -> str:
    return next(column.label(scores.language()) for column in found.columns if column.is_main)


def _line(
    row: BoardRow,
    found: Board,
    track: Track,
    sorting: Sorting,
    on_phone: set[str],
    *,
    marks: tuple[scores.Mark, ...],
    baseline: Target | None,
) -> Line:
    cells = [
        Cell(
            label=column.label(scores.language()),
            full=scores.score_text(column, row.scores.get(column.key), track),
            short=scores.score_text(column, row.scores.get(column.key), track, is_short=True),
            is_main=column.is_main,
            is_extra=not column.is_main and column.key not in on_phone,
            is_sorted=column.key == sorting.key,
        )
        for column in found.columns
    ]
    change = scores.change_text(row.final_score, baseline) if baseline else None
    return Line(row, cells, change, marks, _moved(row))


def _moved(row: BoardRow) -> str:
    """``▲ 3``, ``▼ 2`` or ``–``: against the public board; nothing where the row is not of a final board."""
    if row.rank is None or row.public_rank is None:
        return ""
    moved = row.public_rank - row.rank
    return f"{'▲' if moved > 0 else '▼'} {abs(moved)}" if moved else "–"


def _second_line(found: Board, sorting: Sorting) -> set[str]:
    """The scores that fit the second line of a phone: the one sorted by, then the others in their order."""
    side = sorted((column for column in found.columns if not column.is_main), key=lambda c: c.key != sorting.key)
    shown: set[str] = set()
    room = SECOND_LINE
    for column in side:
        room -= formatting.text_width(column.label(scores.language())) + len(" 00.00")
        if room < 0:
            break
        shown.add(column.key)
    return shown


def _updated_at(rows: Sequence[BoardRow]) -> datetime | None:
    """When the newest score on the board was finished."""
    moments = [row.scored_at for row in rows if row.scored_at]
    return max(moments, default=None)
