"""The headings of the board's table: what it is sorted by, and where each leads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from django.utils.translation import gettext as _

from malpan.leaderboard.boards import COMPOSITE, COUNT, RANK, TIME, Board
from malpan.web.presenters import scores
from scoring.recipes import Column

Direction = Literal["ascending", "descending"]
Link = Callable[[Mapping[str, str]], str]  # this board's address with a query
FINAL: Final = "final_score"
ALL: Final = "all"  # ?metrics=all: every column


@dataclass(frozen=True, slots=True)
class Heading:
    key: str
    label: str
    href: str
    aria_sort: Direction | None
    is_score: bool = False
    is_main: bool = False


@dataclass(frozen=True, slots=True)
class Sorting:
    key: str
    direction: Direction


def sorting_of(found: Board) -> Sorting:
    """How the rows are sorted; by rank where the column is not shown, as no row has it then."""
    if found.view.sort not in {COUNT, TIME, *(column.key for column in found.columns)}:
        return Sorting(RANK, "ascending")
    return Sorting(found.view.sort, "descending" if found.view.is_descending else "ascending")


def headings(link: Link, found: Board, sorting: Sorting, carried: Mapping[str, str]) -> list[Heading]:
    """Rank, scores, number and time of submissions; ``carried`` is the query that every link keeps."""

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


def metrics_href(link: Link, columns: Sequence[Column], shows_all: bool, view_query: Mapping[str, str]) -> str | None:
    """Where the other view of the columns is: all metrics, or those that judge; ``None`` where there is only one."""
    if all(column.group == "main" for column in columns):
        return None
    return link(view_query if shows_all else {"metrics": ALL, **view_query})


def of_models(found: Board) -> frozenset[str]:
    """The scores on the board that a model takes part in, among them a composite of any of them: where it had nothing
    to score, as where all answers are short, there are none.
    """
    names = found.recipe.model_scores
    given = {name for row in found.rows for name, value in row.scores.items() if value is not None}
    if not (names - {FINAL}) & given:
        return frozenset()
    is_composed = any(component.score in names for component in found.components)
    return names | {COMPOSITE} if is_composed else names
