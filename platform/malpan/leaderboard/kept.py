"""What boards read from one version of the standings, kept in the memory of the process.

A board is read far more often than it changes. A version (``StandingsVersion``) names all that is read here, so nothing
has to be declared old: what changed has another one. Rows are shared by all readers: change none.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from django.db.models.expressions import OrderBy

from malpan.competitions.models import Phase
from malpan.leaderboard import standings
from malpan.leaderboard.models import Standing
from malpan.teams.models import Team

SUMMARIES: Final = 64
PAGES: Final = 32  # of a hundred rows, about 300 KB each
TEAMS: Final = 1024


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


@lru_cache(TEAMS)
def of_team(_version: UUID, phase: Phase, scope: str, signature_hash: str | None, team: Team) -> Standing | None:
    """As ``standings.of_team``."""
    return standings.of_team(phase, scope, signature_hash, team)
