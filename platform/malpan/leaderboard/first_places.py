"""How the first places of public boards changed from day to day, of the boards that were kept (``day_boards``)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from typing import Any, Final

from malpan.competitions.models import Phase
from malpan.core.times import kst_day
from malpan.leaderboard.models import BoardSnapshot
from malpan.submissions.visibility import is_frozen, is_hidden

PLACES: Final = 3
ROWS: Final = 12  # read of each board: the first places among as many baselines
DAYS: Final = 60  # of a phase, the newest

Row = Mapping[str, Any]  # of a snapshot


@dataclass(frozen=True, slots=True)
class FirstPlaces:
    """The teams in the first places of ``phase`` as ``day`` ended, by their names then, otherwise than the day before.

    ``has_new_leader``: another team is first.
    """

    phase: Phase
    day: date
    kept_at: datetime
    teams: Sequence[str]
    has_new_leader: bool


def first_places_of(phases: Collection[Phase]) -> list[FirstPlaces]:
    """Every change of the first places in ``phases`` that their boards tell now, the newest first. One query.

    Of a hidden board nothing is told, and of a frozen one nothing since the day on which it was frozen.
    """
    told = {phase.pk: phase for phase in phases if not is_hidden(phase)}
    boards = BoardSnapshot.objects.filter(phase__in=told, kind=BoardSnapshot.Kind.DAY).order_by("phase", "day")
    values = boards.values_list("phase", "day", "published_at", *(f"rows__{place}" for place in range(ROWS)))
    found: list[FirstPlaces] = []
    for pk, kept in groupby(values, key=lambda row: row[0]):
        phase = told[pk]
        found += _changes(phase, [each for each in list(kept)[-DAYS:] if _is_told(phase, each[1])])
    return sorted(found, key=lambda each: each.kept_at, reverse=True)


@dataclass(frozen=True, slots=True)
class Publication:
    """A final board of ``phase`` as it was published, with the teams in its first places by their names then."""

    phase: Phase
    number: int
    published_at: datetime
    teams: Sequence[str]


def publications_of(phases: Collection[Phase]) -> list[Publication]:
    """Every publication of a final board in ``phases``, the newest first. One query."""
    told = {phase.pk: phase for phase in phases if phase.final_published_at is not None}
    boards = BoardSnapshot.objects.filter(phase__in=told, kind=BoardSnapshot.Kind.FINAL)
    values = boards.values_list("phase", "number", "published_at", *(f"rows__{place}" for place in range(ROWS)))
    found = [
        Publication(told[pk], number, published_at, [str(row["team"]) for row in _first(rows)])
        for pk, number, published_at, *rows in values
    ]
    return sorted(found, key=lambda each: each.published_at, reverse=True)


def _is_told(phase: Phase, day: date) -> bool:
    return not is_frozen(phase) or phase.frozen_at is None or day < kst_day(phase.frozen_at)


def _changes(phase: Phase, kept: Sequence[Any]) -> Iterator[FirstPlaces]:
    before: list[int] = []
    for _pk, day, kept_at, *rows in kept:
        first = _first(rows)
        numbers = [row["team_number"] for row in first]
        if numbers and numbers != before:
            yield FirstPlaces(phase, day, kept_at, [row["team"] for row in first], numbers[:1] != before[:1])
        before = numbers


def _first(rows: Sequence[Row | None]) -> list[Row]:
    ranked = (row for row in rows if row is not None and row["rank"] is not None)
    return [row for row in ranked if row["rank"] <= PLACES]
