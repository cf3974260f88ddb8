"""The board's table as a whole: the columns it shows, its page, and the publications beside it.

Its headings are in ``board_headings``, the lines of its teams in ``board_lines``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.utils.safestring import SafeString

from malpan.competitions.models import Track
from malpan.competitions.targets import board_targets_of
from malpan.leaderboard.boards import LONGEST_SEARCH, PAGE_ROWS, RANK, Board, BoardRow, View
from malpan.leaderboard.models import BoardSnapshot
from malpan.web import fragments
from malpan.web.presenters import composites, scores, sureness
from malpan.web.presenters.board_digits import DIGITS, EVERY, SHOWN, decimals_of, digits_query
from malpan.web.presenters.board_headings import ALL, Link, headings, metrics_href, of_models, sorting_of
from malpan.web.presenters.board_lines import (
    Line,
    content_of,
    gaps_above,
    line_of,
    marks_between,
    prizes_ending,
    second_line,
)
from scoring.recipes import Column

PUBLIC: Final = "public"  # ?view=public: the public board where the final one is published
SNAPSHOT: Final = "snapshot"  # ?snapshot=1: the final board as it was published first
PAST: Final = "past"  # ?past=1: the public board as it was kept first
DAY: Final = "day"  # ?day=2026-11-20: the public board as that day ended
SEARCH: Final = "q"  # ?q=한글: the teams whose names have it
SEARCHED_FROM: Final = 50  # teams
_KEPT_BY_SEARCH: Final = ("track", "phase", "view", SNAPSHOT, PAST, DAY, "metrics", DIGITS, "sort", "order")


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
    kept = () if found.is_final or found.day is not None else found.snapshots
    return [
        Publication(each, link({PAST: str(each.number)}), f"{PAST}={each.number}", each == found.snapshot)
        for each in kept
    ]


def view_of(query: Mapping[str, str]) -> View:
    """What ``query`` asks for. Scores start from the best, counts from the highest, rank and time from the first."""
    key, page = query.get("sort", RANK), query.get("page", "")
    search = query.get(SEARCH, "").strip()[:LONGEST_SEARCH]
    return View.of_page(page, key, {"asc": False, "desc": True}.get(query.get("order", "")), search)


def on_last_page(found: Board) -> int | None:
    """The number of the last page where the one asked for is beyond it."""
    last = max(found.row_count - 1, 0) // PAGE_ROWS
    return last + 1 if found.view.offset > last * PAGE_ROWS else None


def board_table(
    found: Board, query: Mapping[str, str], link: Link, titles: Mapping[int, tuple[str, ...]]
) -> dict[str, Any]:
    """The context of the board's table, narrowed as ``query`` asks; ``link`` gives the page's address. ``titles``: of
    the awards of each team, by its number.
    """
    shows_all = query.get("metrics") == ALL
    digits, place = digits_query(query), _view_query(query, found)
    carried = {**digits, **place}
    view_query = {**carried, SEARCH: found.view.search} if found.view.search else carried
    if found.components:
        found = replace(found, columns=composites.board_columns(found.recipe, found.components))
    every_column = found.columns
    found = replace(found, columns=_shown_columns(found, shows_all))
    sorting = sorting_of(found)
    targets = [] if found.components else board_targets_of(found.phase.track)  # lines of the final score
    baseline, marks = scores.baseline_of(targets), scores.marks_of(found.phase.track, targets)
    page = Paginator(range(found.row_count), PAGE_ROWS).get_page(found.view.offset // PAGE_ROWS + 1)
    drawn_marks = marks if sorting.key == RANK and not found.view.search else []
    prizes = tuple(found.phase.track.competition.prize_places)
    own_row, decimals = found.own_row, decimals_of(found, shows_all=bool(digits))
    has_more_digits = found.step is None or bool(found.components)  # a composite of rounded scores has all its digits
    on_phone = {column.key for column in found.columns} if shows_all else second_line(found, sorting)
    labelled = [(column, column.label(scores.language())) for column in found.columns]
    line_with = partial(
        line_of,
        labelled=labelled,
        decimals=decimals,
        step=found.step,
        track=found.phase.track,
        sorting=sorting,
        on_phone=on_phone,
        baseline=baseline,
        ranked_by=sureness.ranked_by(found),
        ties=found.phase.ties,
    )
    columns_across = len(found.columns) + 4  # rank, team, scores, submissions, time
    track = found.phase.track
    written = (track.score_scale, track.score_decimals, decimals, found.step)
    shared = (labelled, sorting, sorted(on_phone), baseline, written, found.phase.ties)
    shared_hash = sha256(repr(shared).encode()).hexdigest()

    def awards(row: BoardRow) -> tuple[str, ...]:
        return () if row.team_number is None else titles.get(row.team_number, ())

    def line(
        row: BoardRow, marks: tuple[scores.Mark, ...] = (), gap: float | None = None, prize: int | None = None
    ) -> Line:
        return line_with(row, marks=marks, gap=gap, awards=awards(row), ends_prize=prize)

    def line_html(row: BoardRow, marks: tuple[scores.Mark, ...], gap: float | None, prize: int | None) -> SafeString:
        return fragments.remembered(
            "pages/board_line.html",
            (shared_hash, marks, gap, prize, content_of(row), awards(row)),
            lambda: {"line": line(row, marks, gap, prize), "columns_across": columns_across},
            kind="lines",
        )

    def rows() -> dict[str, Any]:
        drawn, below = marks_between(found, drawn_marks)
        return {
            "lines": list(map(line_html, found.rows, drawn, gaps_above(found), prizes_ending(found, prizes))),
            "marks_below": () if page.has_next() else below,
            "columns_across": columns_across,
        }

    before = found.row_before and found.row_before.final_score
    shown = found.rows_name or [(content_of(row), awards(row)) for row in found.rows]
    neighbours = found.view.is_of_neighbours
    drawn_from = (drawn_marks, page.has_next(), before, neighbours, gaps_above(found, 1), titles, prizes)
    return {
        "board": found,
        "has_baseline": any(row.is_baseline for row in (*found.rows, *([own_row] if own_row else []))),
        "columns_across": columns_across,
        "compared_column": _main_label(found) if baseline else None,
        "is_comparable": baseline is not None and baseline.is_comparable,
        "noted_marks": [mark for mark in marks if mark.note],
        "page": page,
        "metrics_href": metrics_href(link, every_column, shows_all, view_query),
        "shows_all_metrics": shows_all,
        "digits_href": _digits_href(link, track, view_query, digits, shows_all=shows_all) if has_more_digits else None,
        "shows_all_digits": bool(digits),
        "shown_decimals": SHOWN,
        "lacks_clip": _lacks_clip(found),
        "demo_scores": ", ".join(label for column, label in labelled if column.key in of_models(found))
        if found.is_demo_models
        else "",
        "headings": headings(link, found, sorting, {"metrics": ALL, **view_query} if shows_all else view_query),
        "json_query": _json_query(found, view_query),
        "rows_html": fragments.remembered("pages/board_rows.html", (shared_hash, shown, drawn_from), rows),
        "own_line": None if own_row is None or any(row.is_own for row in found.rows) else line(own_row),
        "own_page": _own_page(found, page.number),
        "updated_at": found.updated_at,
        "offers_search": found.total >= SEARCHED_FROM or bool(found.view.search),
        "kept_by_search": [(name, query[name]) for name in _KEPT_BY_SEARCH if name in query],
        "whole_href": link({"metrics": ALL, **carried} if shows_all else carried),
        "prize_places": [place for place in prizes_ending(found, prizes) if place is not None],
        "shows_days": any(row.rank_before is not None or row.is_new for row in found.rows),
    }


def _view_query(query: Mapping[str, str], found: Board) -> dict[str, str]:
    """What the links of this board carry on: that it is the public one, where the final one is published, or one of the
    past.
    """
    if found.is_kept and found.snapshot is not None:
        day = found.snapshot.day
        return {PAST: str(found.snapshot.number)} if day is None else {DAY: day.isoformat()}
    if found.snapshot is not None:
        return {SNAPSHOT: str(found.snapshot.number)} if found.is_past else {}
    is_second = found.phase.final_published_at is not None
    return {"view": PUBLIC} if is_second and query.get("view") == PUBLIC else {}


def _json_query(found: Board, view_query: Mapping[str, str]) -> str:
    """What asks the API for this board."""
    asked = {name: view_query[name] for name in (SNAPSHOT, PAST, DAY, SEARCH) if name in view_query}
    return urlencode({"phase": found.phase.slug, **asked})


def _digits_href(
    link: Link, track: Track, view_query: Mapping[str, str], digits: Mapping[str, str], *, shows_all: bool
) -> str | None:
    """Where the scores are written in all decimals, or again in few; ``None`` where there are no more."""
    if track.score_decimals <= SHOWN:
        return None
    query = {key: value for key, value in view_query.items() if key not in digits}
    return link({**({"metrics": ALL} if shows_all else {}), **query, **({} if digits else {DIGITS: EVERY})})


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
    return None if number == current and not found.view.search else number


def _main_label(found: Board) -> str:
    return next(column.label(scores.language()) for column in found.columns if column.is_main)
