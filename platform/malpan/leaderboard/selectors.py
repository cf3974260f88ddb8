"""The boards of a phase, each in a constant number of queries: the public one from the standings, the final one as it
was published, and, for organisers, the final one as it would be published now (``leaderboard.finals``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, TypeVar

from django.db import connection
from django.db.models import Exists, F, FloatField, OrderBy, OuterRef
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from malpan.competitions.models import Phase, ReferenceVersion
from malpan.competitions.references import recipe_named, recipe_of
from malpan.competitions.selectors import is_blind
from malpan.core.locks import repeatable_read
from malpan.leaderboard import kept, standings
from malpan.leaderboard.models import BoardSnapshot, Standing
from malpan.submissions import visibility
from malpan.submissions.models import Submission
from malpan.teams.models import Team
from malpan.teams.naming import public_note, shown_name
from malpan.teams.selectors import DISQUALIFIED, disqualified_teams
from scoring.recipes import Column, Recipe

PAGE_ROWS: Final = 100
RANK: Final = "rank"
COUNT: Final = "submissions"
TIME: Final = "submitted"
BASELINES: Final = 10  # in a row at most, before the rows of a view
REFRESHES: Final = 3  # attempts to meet a moment without changes; the last reads what is there
SNAPSHOTS_KEPT: Final = 4  # in the memory of a process: reading one of 10,000 rows takes ten times as long as its page

Found = TypeVar("Found")
Placed = tuple[int, Mapping[str, Any]]  # a row of a published final board, after its place


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One team. ``rank`` is ``None`` for a baseline; scores are 0-1; ``submission_count`` counts charged submissions.

    ``place`` counts from 1, baselines included. ``submission`` is set on a public board; a published final board has
    none. ``public_rank`` and ``public_score`` are set on a final board: the team's rank and score on the public one.
    """

    rank: int | None
    place: int
    team_id: int | None  # None on a published final board: a snapshot has only team numbers
    team_name: str
    is_baseline: bool
    is_own: bool
    scores: Mapping[str, float]
    final_score: float
    submission_count: int
    submitted_at: datetime
    is_demo_models: bool
    submission: Submission | None = None
    public_rank: int | None = None
    public_score: float | None = None


@dataclass(frozen=True, slots=True)
class View:
    """Which rows of a board to read, and in which order: ``sort`` is a column's key or one of the three below."""

    sort: str = RANK
    is_descending: bool = False
    offset: int = 0
    limit: int | None = None

    @classmethod
    def of_page(cls, number: str, sort: str = RANK, is_descending: bool = False) -> View:
        """The page ``number`` as a reader writes it, counted from 1; the first where that is no number."""
        page = int(number) if number.isdecimal() and len(number) < 9 else 1
        return cls(sort, is_descending, offset=max(page - 1, 0) * PAGE_ROWS, limit=PAGE_ROWS)

    def cut(self, rows: Sequence[Found]) -> Sequence[Found]:
        """The rows of this view, of all."""
        return rows[self.offset : None if self.limit is None else self.offset + self.limit]


@dataclass(frozen=True, slots=True)
class Disqualified:
    """A team that left the board, with the organiser's public note."""

    team_name: str
    note: str
    disqualified_at: datetime | None


@dataclass(frozen=True, slots=True)
class Board:
    """A board as one reader may see it.

    ``rows`` are those of ``view``, of ``row_count`` in all; ``row_before`` is the last team's before them. The reader's
    ``own_row`` may be another. ``updated_at``: when the newest score on the board was computed.
    ``is_hidden``: the organiser hides it; there are no rows. ``frozen_at``: it counts only submissions before that
    moment. All rows have ``signature_hash``; ``excluded_count`` runs have another one, or were scored by earlier
    references or another recipe, and are excluded until they are scored again. ``covers_split``: its scores are of the
    public split only. ``snapshot``: it is the final board as published.
    """

    phase: Phase
    recipe: Recipe
    columns: tuple[Column, ...]
    rows: tuple[BoardRow, ...]
    own_row: BoardRow | None
    is_demo_models: bool
    signature_hash: str | None
    excluded_count: int
    view: View
    row_count: int
    row_before: BoardRow | None = None
    updated_at: datetime | None = None
    is_hidden: bool = False
    frozen_at: datetime | None = None
    covers_split: bool = False
    disqualified: tuple[Disqualified, ...] = ()
    snapshot: BoardSnapshot | None = None


@dataclass(frozen=True, slots=True)
class Reader:
    """The reader of a board, and whether names are blind for them."""

    team: Team | None
    is_blind: bool
    sees_all: bool

    def name_of(self, team: Team) -> str:
        return shown_name(team, viewer_team=self.team, is_blind=self.is_blind, sees_all=self.sees_all)


def board(
    phase: Phase,
    *,
    viewer_team: Team | None = None,
    for_organiser: bool = False,
    now: datetime | None = None,
    view: View | None = None,
) -> Board:
    """The public board of ``phase`` for a member of ``viewer_team`` or a visitor: the rows of ``view``, default all.

    The board has every team that is not disqualified with a live, finished run whose submission was neither refunded
    nor withdrawn. (Results of a merged team from a phase that was over by then stay under its name.) An organiser
    always sees the live board; everybody else sees a frozen one as it was and nothing of a hidden one, until the final
    board is published. The number of queries is constant; they read the standings, which are brought up to date first.
    """
    return _at_one_moment(phase, lambda fresh: _board(fresh, viewer_team, for_organiser, now, view or View()))


def on_public_board(phase: Phase, submissions: Collection[int]) -> list[Standing]:
    """The rows of ``board`` for a visitor that are of ``submissions``."""
    return _at_one_moment(phase, lambda fresh: _rows_of(fresh, submissions))


def _at_one_moment(phase: Phase, read: Callable[[Any], Found]) -> Found:
    """``read`` with the standings up to date: rule and rows are separate reads, which must see one state.

    If the standings take long to compute, or another process is at it, they are those before the change.
    """
    if connection.in_atomic_block:
        standings.refresh(phase)
        return read(_fresh(phase))
    for _attempt in range(REFRESHES):
        with repeatable_read():
            fresh = _fresh(phase)
            if not fresh.is_due:
                return read(fresh)
        if not standings.freshen(phase):
            break
    with repeatable_read():  # or scores change without a pause: they are those of a moment ago
        return read(_fresh(phase))


def _fresh(phase: Phase) -> Any:
    """``phase`` with its track and competition as they are now. Known of it are ``is_due``, ``covers_split``,
    ``has_disqualified`` and the ``version`` of its standings, ``None`` where there never were any.
    """
    split = ReferenceVersion.objects.filter(phase=OuterRef("pk"), is_current=True, public_ids__isnull=False)
    known = Phase.objects.annotate(
        is_due=standings.is_due(),
        covers_split=Exists(split),
        has_disqualified=Exists(Team.objects.filter(competition=OuterRef("track__competition"), **DISQUALIFIED)),
        version=F("standings_version__value"),
    )
    return known.select_related("track__competition").get(pk=phase.pk)


def _rows_of(phase: Any, submissions: Collection[int]) -> list[Standing]:
    if visibility.is_hidden(phase) or phase.version is None:
        return []
    scope = _scope(phase.frozen_at if visibility.is_frozen(phase) else None)
    signature = kept.summary(phase.version, phase, scope).signature_hash
    return list(standings.with_signature(phase, scope, signature).filter(submission__in=submissions))


def _scope(frozen_at: datetime | None) -> str:
    return standings.Scope.LIVE if frozen_at is None else standings.Scope.FROZEN


def _board(phase: Any, viewer_team: Team | None, for_organiser: bool, now: datetime | None, view: View) -> Board:
    recipe = recipe_of(phase.track)
    is_hidden = visibility.is_hidden(phase) and not for_organiser
    frozen_at = phase.frozen_at if visibility.is_frozen(phase, now) and not for_organiser else None
    scope = _scope(frozen_at)
    view = _known(view, recipe)
    reader = reader_of(phase, viewer_team, sees_all=for_organiser, now=now)
    is_empty = is_hidden or phase.version is None
    found = standings.NOTHING if is_empty else kept.summary(phase.version, phase, scope)
    rows, row_before = _cut(phase, scope, found.signature_hash, view, reader) if found.team_count else ([], None)
    own_row = _own(rows)
    if own_row is None and len(rows) < found.team_count:
        own_row = _own_row(phase, scope, found.signature_hash, reader)
    return Board(
        phase=phase,
        recipe=recipe,
        columns=recipe.columns,
        rows=tuple(rows),
        own_row=own_row,
        is_demo_models=found.is_demo_models,
        signature_hash=found.signature_hash,
        excluded_count=found.excluded_count,
        view=view,
        row_count=found.team_count,
        row_before=row_before,
        updated_at=found.scored_at,
        is_hidden=is_hidden,
        frozen_at=frozen_at,
        covers_split=phase.covers_split,
        disqualified=disqualified(phase, reader) if phase.has_disqualified else (),
    )


def _known(view: View, recipe: Recipe) -> View:
    """``view``; in the order of the ranking where the recipe has no such column."""
    known = {COUNT, TIME, *(column.key for column in recipe.columns)}
    return view if view.sort in known else replace(view, sort=RANK, is_descending=False)


def _cut(
    phase: Any, scope: str, signature_hash: str | None, view: View, reader: Reader
) -> tuple[list[BoardRow], BoardRow | None]:
    """The rows of ``view``, and the last team's row before them."""
    start = max(view.offset - BASELINES, 0)
    end = None if view.limit is None else view.offset + view.limit
    if end is None:
        found = standings.page(phase, scope, signature_hash, start, end, _order(view))
    else:
        found = kept.page(phase.version, phase, scope, signature_hash, start, end, _order(view))
    rows = [_row(each, reader) for each in found]
    return rows[view.offset - start :], _last_ranked(rows[: view.offset - start])


def _last_ranked(rows: list[BoardRow]) -> BoardRow | None:
    return next((row for row in reversed(rows) if not row.is_baseline), None)


def _order(view: View) -> OrderBy | None:
    """The order asked for where it is not the ranking: rows without the value are last."""
    if view.sort == RANK:
        return None
    expressions: dict[str, Any] = {COUNT: F("submission_count"), TIME: F("submitted_at")}
    value = expressions.get(view.sort) or Cast(KeyTextTransform(view.sort, "scores"), FloatField())
    return OrderBy(value, descending=view.is_descending, nulls_last=True)


def _own_row(phase: Any, scope: str, signature_hash: str | None, reader: Reader) -> BoardRow | None:
    """The row of the reader's team where it is not among those read."""
    if reader.team is None:
        return None
    own = kept.of_team(phase.version, phase, scope, signature_hash, reader.team)
    return None if own is None else _row(own, reader)


def published_board(phase: Phase, *, viewer_team: Team | None = None, view: View | None = None) -> Board | None:
    """The last published final board of ``phase``, or ``None`` if there is none: the rows of ``view``, default all.

    Reads only the snapshot, whose ``rows`` are not read with it: ``published_rows`` has them.
    """
    if phase.final_published_at is None:
        return None
    snapshot = phase.snapshots.defer("rows").select_related("published_by").order_by("-number").first()
    if snapshot is None:
        return None
    recipe = recipe_named(snapshot.recipe)
    chosen = _known(view or View(), recipe)
    all_rows = published_rows(snapshot)
    rows = _sorted_here(list(enumerate(all_rows, 1)), chosen)
    number = None if viewer_team is None else viewer_team.number
    own = next((each for each in rows if number is not None and each[1]["team_number"] == number), None)
    return Board(
        phase=phase,
        recipe=recipe,
        columns=recipe.columns,
        rows=tuple(_published_row(*row, number) for row in chosen.cut(rows)),
        own_row=None if own is None else _published_row(*own, number),
        is_demo_models=any(row["is_demo_models"] for row in all_rows),
        signature_hash=snapshot.signature_hash,
        excluded_count=0,
        view=chosen,
        row_count=len(rows),
        row_before=_last_ranked([_published_row(*row, number) for row in rows[: chosen.offset][-BASELINES:]]),
        disqualified=disqualified(phase, Reader(viewer_team, is_blind=False, sees_all=False)),
        snapshot=snapshot,
    )


def published_rows(snapshot: BoardSnapshot) -> Sequence[Mapping[str, Any]]:
    """The rows of a published final board, which never change. They are shared: change none."""
    return _published_rows(snapshot.pk, snapshot.sha256)


@lru_cache(maxsize=SNAPSHOTS_KEPT)
def _published_rows(pk: int, _sha256: str) -> tuple[Mapping[str, Any], ...]:
    return tuple(BoardSnapshot.objects.values_list("rows", flat=True).get(pk=pk))


def reader_of(phase: Phase, team: Team | None, *, sees_all: bool = False, now: datetime | None = None) -> Reader:
    return Reader(team, is_blind=is_blind(phase.track.competition, now), sees_all=sees_all)


def disqualified(phase: Phase, reader: Reader) -> tuple[Disqualified, ...]:
    """The disqualified teams of the competition, by the names that the reader may see."""
    return tuple(
        Disqualified(reader.name_of(team), public_note(team), team.disqualified_at)
        for team in disqualified_teams(phase.track.competition)
    )


def _own(rows: Iterable[BoardRow]) -> BoardRow | None:
    return next((row for row in rows if row.is_own), None)


def _row(standing: Standing, reader: Reader) -> BoardRow:
    """The row of a standing with its ``rank`` and ``place`` (``standings.page``)."""
    place: Any = standing
    return BoardRow(
        rank=None if standing.is_baseline else place.rank,
        place=place.place,
        team_id=standing.team_id,
        team_name=reader.name_of(standing.team),
        is_baseline=standing.is_baseline,
        is_own=reader.team is not None and reader.team.pk == standing.team_id,
        scores=standing.scores,
        final_score=standing.final_score,
        submission_count=standing.submission_count,
        submitted_at=standing.submitted_at,
        is_demo_models=standing.is_demo_models,
        submission=standing.submission,
    )


def _sorted_here(rows: list[Placed], view: View) -> list[Placed]:
    """As ``_order``, of rows that are at hand."""
    if view.sort == RANK:
        return rows
    values: dict[str, Callable[[Mapping[str, Any]], Any]] = {
        COUNT: lambda row: row["submission_count"],
        TIME: lambda row: datetime.fromisoformat(row["submitted_at"]),
    }
    value = values.get(view.sort, lambda row: row["scores"].get(view.sort))
    valued = [(value(row), (place, row)) for place, row in rows]
    with_value = sorted((each for each in valued if each[0] is not None), key=itemgetter(0), reverse=view.is_descending)
    return [placed for _value, placed in with_value] + [placed for found, placed in valued if found is None]


def _published_row(place: int, row: Mapping[str, Any], own_number: int | None) -> BoardRow:
    return BoardRow(
        rank=row["rank"],
        place=place,
        team_id=None,
        team_name=row["team"],
        is_baseline=row["is_baseline"],
        is_own=own_number is not None and row["team_number"] == own_number,
        scores=row["scores"],
        final_score=row["final_score"],
        submission_count=row["submission_count"],
        submitted_at=datetime.fromisoformat(row["submitted_at"]),
        is_demo_models=row["is_demo_models"],
        public_rank=row["public_rank"],
        public_score=row["public_score"],
    )
