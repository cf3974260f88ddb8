"""What boards read from one version of the standings, kept in the memory of the process.

A board is read far more often than it changes. A version (``StandingsVersion``) names all that is read here, so nothing
has to be declared old: what changed has another one. Rows are shared by all readers: change none.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from django.db.models.expressions import OrderBy

from malpan.competitions.models import Phase
from malpan.leaderboard import field, leading, standings
from malpan.leaderboard.boards import comparable
from malpan.leaderboard.models import BoardSnapshot, DayRanks, Standing
from malpan.teams.models import Team

SUMMARIES: Final = 64
PAGES: Final = 32  # of a hundred rows, about 300 KB each
PLACES: Final = 4  # of all teams, about 10 MB for 10,000
TEAMS: Final = 1024
FIELDS: Final = 16  # of 300 rows, about 60 KB each


@lru_cache(SUMMARIES)
def summary(_version: UUID, phase: Phase, scope: str) -> standings.Summary:
    """As ``standings.summary``."""
    return standings.summary(phase, scope)


@lru_cache(PAGES)
def page(
    _version: UUID, phase: Phase, scope: str, signature_hash: str | None, start: int, end: int, by: OrderBy | None
) -> list[Any]:
    """As ``standings.page``."""
    return standings.page(phase, scope, signature_hash, start, end, by)


@lru_cache(PLACES)
def places(
    _version: UUID, phase: Phase, scope: str, signature_hash: str | None, by: OrderBy | None
) -> tuple[standings.Place, ...]:
    """As ``standings.places``."""
    return standings.places(phase, scope, signature_hash, by)


@lru_cache(PLACES)
def names(version: UUID, phase: Phase, scope: str, signature_hash: str | None, by: OrderBy | None) -> tuple[str, ...]:
    """The names of the teams of ``places``, as a search compares them."""
    return tuple(comparable(each.team.name) for each in places(version, phase, scope, signature_hash, by))


@lru_cache(TEAMS)
def of_team(_version: UUID, phase: Phase, scope: str, signature_hash: str | None, team: Team) -> Standing | None:
    """As ``standings.of_team``."""
    return standings.of_team(phase, scope, signature_hash, team)


@lru_cache(SUMMARIES)
def day_ranks(phase_id: int, day: date) -> Mapping[str, int]:
    """The ranks with which ``day`` began, as they were noted."""
    return dict(DayRanks.objects.values_list("ranks", flat=True).get(phase=phase_id, day=day))


@lru_cache(SUMMARIES)
def days(phase_id: int, _last: int) -> tuple[date, ...]:
    """The days whose boards were kept, the newest first; ``_last`` is the number of the last, as none is ever taken
    away.
    """
    boards = BoardSnapshot.objects.filter(phase=phase_id, kind=BoardSnapshot.Kind.DAY).order_by("-number")
    return tuple(day for day in boards.values_list("day", flat=True) if day is not None)


@lru_cache(FIELDS)
def field_of(_version: UUID, phase: Phase, scope: str, signature_hash: str | None) -> field.Field:
    """As ``field.field_of``."""
    return field.field_of(phase, scope, signature_hash)


@lru_cache(FIELDS)
def leads_of(_version: UUID, phase: Phase, scope: str, signature_hash: str | None) -> tuple[leading.Lead, ...]:
    """As ``leading.leads_of``."""
    return leading.leads_of(phase, scope, signature_hash)
