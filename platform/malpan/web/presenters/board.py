"""The board's table: which columns and lines it shows, in which order, and where its headings lead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any, Final, Literal

from django.core.paginator import Paginator
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from malpan.competitions.models import Phase, Track
from malpan.competitions.targets import board_targets_of
from malpan.leaderboard.boards import COMPOSITE, COUNT, PAGE_ROWS, RANK, TIME, Board, BoardRow, View
from malpan.leaderboard.models import BoardSnapshot
from malpan.web import fragments
from malpan.web.presenters import composites, formatting, scores, sureness
from scoring.recipes import Column
from scoring.recipes.targets import Target

Direction = Literal["ascending", "descending"]
Link = Callable[[Mapping[str, str]], str]  # this board's address with a query
ALL: Final = "all"
PUBLIC: Final = "public"  # ?view=public: the public board where the final one is published
SNAPSHOT: Final = "snapshot"  # ?snapshot=1: the final board as it was published first
PAST: Final = "past"  # ?past=1: the public board as it was kept first
SECOND_LINE: Final = 36  # columns of text for scores on the second line of an entry at 390 px


@dataclass(frozen=True, slots=True)
class Heading:
    key: str
    label: str
    href: str
    aria_sort: Direction | None
    is_score: bool = False
    is_main: bool = False
    is_demo: bool = False


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
    is_demo: bool
    part: str = ""
    short_part: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One team. ``change`` is against the track's baseline; ``marks`` are the lines drawn above this team.

    On a final board ``moved`` says how far the team moved from the public one: ``▲ 3``. ``interval`` is that of the
    score that ranks, ``places`` that of the rank; ``tied_rank`` that of the first team of its band, which takes the
    place of its own where it ``shares_rank``.
    """

    row: BoardRow
    cells: list[Cell]
    change: str | None = None
    marks: tuple[scores.Mark, ...] = ()
    moved: str = ""
    interval: str = ""
    places: str = ""
    tied_rank: int | None = None
    shares_rank: bool = False


@dataclass(frozen=True, slots=True)
class Publication:
    """A final board as it was published, or a public one as it was kept: its page, and what names it to the API."""

    snapshot: BoardSnapshot
    href: str
    api_query: str
    is_shown: bool


def publications_of(final: Board, link: Link) -> list[Publication]:
    """Every publication of a final board, the newest first; ``final`` is the one that is shown."""
    newest = final.snapshots[0]
    return [
        Publication(
            each,
            link({} if each == newest else {SNAPSHOT: str(each.number)}),
            f"{SNAPSHOT}={each.number}",
            each == final.snapshot,
        )
        for each in final.snapshots
    ]


def past_boards_of(found: Board, link: Link) -> list[Publication]:
    """Every public board that was kept, the newest first, where a public board is shown."""
    kept = () if found.is_final else found.snapshots
    return [
        Publication(each, link({PAST: str(each.number)}), f"{PAST}={each.number}", each == found.snapshot)
        for each in kept
    ]


@dataclass(frozen=True, slots=True)
class Sorting:
    key: str
    direction: Direction


def view_of(query: Mapping[str, str]) -> View:
    """What ``query`` asks for. Scores start from the best, counts from the highest, rank and time from the first."""
    key, page = query.get("sort", RANK), query.get("page", "")
    return View.of_page(page, key, {"asc": False, "desc": True}.get(query.get("order", "")))


def on_last_page(found: Board) -> int | None:
    """The number of the last page where the one asked for is beyond it."""
    last = max(found.row_count - 1, 0) // PAGE_ROWS
    return last + 1 if found.view.offset > last * PAGE_ROWS else None


def board_table(found: Board, query: Mapping[str, str], link: Link) -> dict[str, Any]:
    """The context of the board's table, narrowed as ``query`` asks; ``link`` gives the page's address."""
    shows_all = query.get("metrics") == ALL
    view_query = _view_query(query, found)
    if found.components:
        found = replace(found, columns=composites.board_columns(found.recipe, found.components))
    every_column = found.columns
    found = replace(found, columns=_shown_columns(found, shows_all))
    sorting = _sorting(found)
    targets = [] if found.components else board_targets_of(found.phase.track)  # lines of the final score
    baseline, marks = scores.baseline_of(targets), scores.marks_of(found.phase.track, targets)
    page = Paginator(range(found.row_count), PAGE_ROWS).get_page(found.view.offset // PAGE_ROWS + 1)
    drawn_marks = marks if sorting.key == RANK else []
    own_row = found.own_row
    on_phone = {column.key for column in found.columns} if shows_all else _second_line(found, sorting)
    labelled = [(column, column.label(scores.language())) for column in found.columns]
    line = partial(
        _line,
        labelled=labelled,
        of_models=_of_models(found),
        track=found.phase.track,
        sorting=sorting,
        on_phone=on_phone,
        baseline=baseline,
        ranked_by=sureness.ranked_by(found),
        ties=found.phase.ties,
    )
    columns_across = len(found.columns) + 4  # rank, team, scores, submissions, time
    track, before = found.phase.track, found.row_before
    shared = (labelled, sorting, sorted(on_phone), baseline, track.score_scale, track.score_decimals, found.phase.ties)
    shared_hash = sha256(repr(shared).encode()).hexdigest()

    def line_html(row: BoardRow, marks: tuple[scores.Mark, ...]) -> SafeString:
        return fragments.remembered(
            "pages/board_line.html",
            (shared_hash, marks, _content(row)),
            lambda: {"line": line(row, marks=marks), "columns_across": columns_across},
            kind="lines",
        )

    def rows() -> dict[str, Any]:
        drawn, below = _marks_between(found, drawn_marks)
        return {
            "lines": list(map(line_html, found.rows, drawn)),
            "marks_below": () if page.has_next() else below,
            "columns_across": columns_across,
        }

    content = (
        *(shared_hash, drawn_marks, page.has_next(), before and before.final_score),
        [_content(row) for row in found.rows],
    )
    return {
        "board": found,
        "has_baseline": any(row.is_baseline for row in (*found.rows, *([own_row] if own_row else []))),
        "columns_across": columns_across,
        "compared_column": _main_label(found) if baseline else None,
        "noted_marks": [mark for mark in marks if mark.note],
        "page": page,
        "metrics_href": _metrics_href(link, every_column, shows_all, view_query),
        "shows_all_metrics": shows_all,
        "lacks_clip": _lacks_clip(found),
        "headings": _headings(link, found, sorting, {"metrics": ALL, **view_query} if shows_all else view_query),
        "rows_html": fragments.remembered("pages/board_rows.html", content, rows),
        "own_line": None if own_row is None or any(row.is_own for row in found.rows) else line(own_row, marks=()),
        "own_page": _own_page(found, page.number),
        "updated_at": found.updated_at,
    }


def _content(row: BoardRow) -> tuple[Any, ...]:
    """All of a row that its line shows."""
    shown = (row.rank, row.team_name, row.is_own, row.is_baseline, row.is_demo_models, row.public_rank, row.composite)
    counts = (row.submission_count, row.submitted_at, row.final_score, row.scores)
    return *shown, row.sureness, row.is_disqualified, *counts


def _view_query(query: Mapping[str, str], found: Board) -> dict[str, str]:
    """What the links of this board carry on: that it is the public one, where the final one is published, or one of the
    past.
    """
    if found.is_kept and found.snapshot is not None:
        return {PAST: str(found.snapshot.number)}
    if found.snapshot is not None:
        return {SNAPSHOT: str(found.snapshot.number)} if found.is_past else {}
    is_second = found.phase.final_published_at is not None
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


def _own_page(found: Board, current: int) -> int | None:
    """The page with the reader's team where it is another one: of the ranking, as an own place is of the ranking."""
    if found.own_row is None or found.view.sort != RANK:
        return None
    number = (found.own_row.place - 1) // PAGE_ROWS + 1
    return None if number == current else number


def _sorting(found: Board) -> Sorting:
    """How the rows are sorted; by rank where the column is not shown, as no row has it then."""
    if found.view.sort not in {COUNT, TIME, *(column.key for column in found.columns)}:
        return Sorting(RANK, "ascending")
    return Sorting(found.view.sort, "descending" if found.view.is_descending else "ascending")


def _marks_between(
    found: Board, marks: Sequence[scores.Mark]
) -> tuple[list[tuple[scores.Mark, ...]], tuple[scores.Mark, ...]]:
    """For each ranked row the marks drawn above it: those it fails and the row before it reached; then the rest.

    A score equal to a mark has reached it. Marks above the first row stand there: what nobody has reached yet.
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


def _metrics_href(link: Link, columns: Sequence[Column], shows_all: bool, view_query: Mapping[str, str]) -> str | None:
    """Where the other view of the columns is: all metrics, or those that judge; ``None`` where there is only one."""
    if all(column.group == "main" for column in columns):
        return None
    return link(view_query if shows_all else {"metrics": ALL, **view_query})


def _headings(link: Link, found: Board, sorting: Sorting, carried: Mapping[str, str]) -> list[Heading]:
    def heading(key: str, label: str, *, lowest_first: bool = False, **kind: bool) -> Heading:
        aria_sort = sorting.direction if key == sorting.key else None
        href = _sort_href(link, key, aria_sort, carried, lowest_first=lowest_first)
        return Heading(key, label, href, aria_sort, **kind)

    columns = [
        heading(
            column.key,
            column.label(scores.language()),
            lowest_first=not column.higher_is_better,
            is_score=True,
            is_main=column.is_main,
            is_demo=found.is_demo_models and column.key in _of_models(found),
        )
        for column in found.columns
    ]
    return [heading(RANK, _("순위")), *columns, heading(COUNT, _("제출 수")), heading(TIME, _("제출 시각(KST)"))]


def _sort_href(
    link: Link, key: str, current: Direction | None, carried: Mapping[str, str], *, lowest_first: bool = False
) -> str:
    """Where the heading leads: this sorting, the best first, or the other way round when it is the current one."""
    query = dict(carried)
    if key != RANK:
        query["sort"] = key
        if current or lowest_first:
            query["order"] = "desc" if current == "ascending" else "asc"
    return link(query)


def _of_models(found: Board) -> frozenset[str]:
    """The scores that a model takes part in, among them a composite of any of them."""
    of_models = found.recipe.model_scores
    is_composed = any(component.score in of_models for component in found.components)
    return of_models | {COMPOSITE} if is_composed else of_models


def _main_label(found: Board) -> str:
    return next(column.label(scores.language()) for column in found.columns if column.is_main)


def _line(
    row: BoardRow,
    *,
    labelled: Sequence[tuple[Column, str]],
    of_models: frozenset[str],
    track: Track,
    sorting: Sorting,
    on_phone: set[str],
    marks: tuple[scores.Mark, ...],
    baseline: Target | None,
    ranked_by: str,
    ties: str,
) -> Line:
    parts = {} if row.composite is None else {part.score: part for part in row.composite.parts}
    cells = [
        Cell(
            label=label,
            full=scores.score_text(column, _value(row, column), track),
            short=scores.score_text(column, _value(row, column), track, is_short=True),
            is_main=column.is_main,
            is_extra=not column.is_main and column.key not in on_phone,
            is_sorted=column.key == sorting.key,
            is_demo=row.is_demo_models and column.key in of_models,
            part=composites.part_text(parts[column.key]) if column.key in parts else "",
            short_part=composites.rank_text(parts[column.key].rank) if column.key in parts else "",
        )
        for column, label in labelled
    ]
    change = scores.change_text(row.final_score, baseline) if baseline else None
    return Line(
        row,
        cells,
        change,
        marks,
        _moved(row),
        interval=sureness.interval_text(row, ranked_by, track),
        places=sureness.places_text(row),
        tied_rank=None if ties == Phase.Ties.NONE else sureness.tied_rank(row),
        shares_rank=ties == Phase.Ties.SHARED,
    )


def _value(row: BoardRow, column: Column) -> float | None:
    if column.key == COMPOSITE:
        return None if row.composite is None else row.composite.value
    return row.scores.get(column.key)


def _moved(row: BoardRow) -> str:
    """``▲ 3``, ``▼ 2`` or ``–``: against the public board; nothing where the row is not of a final board."""
    if row.rank is None or row.public_rank is None:
        return ""
    moved = row.public_rank - row.rank
    return f"{'▲' if moved > 0 else '▼'} {abs(moved)}" if moved else "–"


def _second_line(found: Board, sorting: Sorting) -> set[str]:
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
