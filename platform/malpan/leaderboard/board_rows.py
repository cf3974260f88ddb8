"""The rows of a board, as its readers ask for them: a page in some order, all, those of a search, the reader's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Any, Final
from uuid import UUID, uuid4

from django.db.models import F, FloatField, OrderBy
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from malpan.competitions.models import Phase
from malpan.leaderboard import kept, standings
from malpan.leaderboard.boards import (
    BASELINES,
    COMPOSITE,
    COUNT,
    RANK,
    TIME,
    BoardRow,
    Reader,
    View,
    comparable,
    last_ranked,
)
from malpan.leaderboard.models import Standing
from malpan.leaderboard.rules import composite_of
from malpan.leaderboard.sureness.selectors import of_phase, with_sureness

READERS: Final = 128  # pages of a board by what their readers see, of a hundred rows, about 60 KB each
KEPT_ROWS: Final = 1000  # of a whole board


@dataclass(frozen=True, slots=True)
class Asked:
    """Which rows of a board are asked for, by whom, and all that what they show depends on: the ``version`` of the
    standings, the ``stamp`` of the sureness, and the ``day`` with whose first ranks they are compared.
    """

    phase: Phase
    version: UUID
    scope: str
    signature_hash: str | None
    team_count: int
    view: View
    reader: Reader
    stamp: UUID | None
    day: date | None

    def shown(self, found: Iterable[Standing]) -> list[BoardRow]:
        """``found`` as the reader sees them."""
        rows = with_sureness((_row(each, self.reader) for each in found), of_phase(self.stamp, self.version))
        return rows if self.day is None else _with_days(rows, kept.day_ranks(self.phase.pk, self.day))


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a view, the last team's row before them, the number of all, and their ``Board.rows_name``."""

    rows: tuple[BoardRow, ...] = ()
    before: BoardRow | None = None
    row_count: int = 0
    name: str = ""


def rows_of(asked: Asked) -> Rows:
    """The rows that are asked for."""
    if not asked.team_count:
        return Rows()
    if asked.view.search:
        return _searched(asked)
    return _all(asked) if asked.view.limit is None and asked.team_count > KEPT_ROWS else _kept(asked)


def own_row(asked: Asked, found: Rows) -> BoardRow | None:
    """The row of the reader's team, if it has one, which may be among those ``found``."""
    own = next((row for row in found.rows if row.is_own), None)
    team = asked.reader.team
    if own is not None or team is None or len(found.rows) == asked.team_count:
        return own
    standing = kept.of_team(asked.version, asked.phase, asked.scope, asked.signature_hash, team)
    return None if standing is None else asked.shown([standing])[0]


@lru_cache(READERS)
def _kept(asked: Asked) -> Rows:
    """The rows of a view, kept for everybody who asks the same."""
    view = asked.view
    if view.limit is None:
        return replace(_all(asked), name=uuid4().hex)
    start, end = _start(view), view.offset + view.limit
    found = kept.page(asked.version, asked.phase, asked.scope, asked.signature_hash, start, end, _order(view))
    return _cut(asked, found, uuid4().hex)


def _all(asked: Asked) -> Rows:
    """All rows from the offset of the view on."""
    view = asked.view
    return _cut(asked, standings.page(asked.phase, asked.scope, asked.signature_hash, _start(view), None, _order(view)))


def _start(view: View) -> int:
    """Where to read from, so that the last team before the view is among the rows."""
    return max(view.offset - BASELINES, 0)


def _cut(asked: Asked, found: Sequence[Standing], name: str = "") -> Rows:
    rows, before = asked.shown(found), asked.view.offset - _start(asked.view)
    return Rows(tuple(rows[before:]), last_ranked(rows[:before]), asked.team_count, name)


def _searched(asked: Asked) -> Rows:
    """The rows of the teams whose names, as the reader sees them, are searched for: a blind name hides its own."""
    view, reader = asked.view, asked.reader
    known = asked.version, asked.phase, asked.scope, asked.signature_hash, _order(view)
    places, wanted = kept.places(*known), comparable(view.search)
    if reader.knows_all_names:
        found = [each for each, name in zip(places, kept.names(*known), strict=True) if wanted in name]
    else:
        found = [each for each in places if wanted in comparable(reader.name_of(each.team))]
    rows = asked.shown(standings.at_places(asked.phase, asked.scope, asked.signature_hash, view.cut(found)))
    return Rows(tuple(rows), None, len(found))


def _order(view: View) -> OrderBy | None:
    """The order asked for where it is not the ranking: rows without the value are last."""
    if view.sort == RANK:
        return None
    composed = Cast(KeyTextTransform("value", COMPOSITE), FloatField())
    expressions: dict[str, Any] = {COUNT: F("submission_count"), TIME: F("submitted_at"), COMPOSITE: composed}
    value = expressions.get(view.sort) or Cast(KeyTextTransform(view.sort, "scores"), FloatField())
    return OrderBy(value, descending=bool(view.is_descending), nulls_last=True)


def _with_days(rows: Iterable[BoardRow], before: Mapping[str, int]) -> list[BoardRow]:
    if not before:
        return list(rows)
    return [
        row
        if row.rank is None
        else replace(row, rank_before=before.get(str(row.team_id)), is_new=str(row.team_id) not in before)
        for row in rows
    ]


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
        coverage=standing.coverage,
        model=reader.model_of(standing.team),
        is_program=standing.team.is_program,
        submission=standing.submission,
        composite=composite_of(standing.composite),
        submission_name=str(standing.submission.public_id),
    )
