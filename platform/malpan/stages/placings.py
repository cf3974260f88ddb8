"""Where teams ended: what certificates say and awards rest on, from what was published and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from malpan.competitions.models import Phase, Track
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.published import publications, published_rows
from malpan.stages.models import StageSnapshot
from malpan.stages.selectors import newest_final
from malpan.teams.models import Team


@dataclass(frozen=True, slots=True)
class Placing:
    """The result of a team on a track: ``rank`` of ``ranked`` teams, ``None`` for one that stopped at an earlier stage
    of the final, and when that was published.
    """

    track: Track
    rank: int | None
    ranked: int
    published_at: datetime


@dataclass(frozen=True, slots=True)
class Result:
    """What was published of a track last, and its rows."""

    snapshot: StageSnapshot | BoardSnapshot
    rows: Sequence[Mapping[str, Any]]


def result_of(track: Track) -> Result | None:
    """The newest combined standing of the stages of ``track`` or, without one, the final board of the phase that ended
    last.
    """
    final = newest_final(track)
    if final is not None:
        return Result(final, final.rows)
    phases = Phase.objects.filter(track=track, final_published_at__isnull=False).order_by("-ends_at", "-pk")
    board = next((boards[0] for phase in phases if (boards := publications(phase))), None)
    return None if board is None else Result(board, published_rows(board))


def final_result(track: Track) -> Result | None:
    """The same, where nothing is to follow: with stages, only their combined standing."""
    found = result_of(track)
    is_waited_for = found is not None and isinstance(found.snapshot, BoardSnapshot) and track.stages.exists()
    return None if is_waited_for else found


def placings_of(team: Team) -> list[Placing]:
    """The newest published result of ``team`` on each track that has one with the team in it: the combined standing of
    the stages or, without stages, the final board of the phase that ended last.

    A baseline, a disqualified team and one that was merged into another have none.
    """
    if team.is_baseline or team.disqualified_at is not None or team.merged_into_id is not None:
        return []
    tracks = team.competition.tracks.all()
    return [found for track in tracks if (found := _placing(team, track)) is not None]


def _placing(team: Team, track: Track) -> Placing | None:
    result = result_of(track)
    if result is None:
        return None
    own = next((row for row in result.rows if row["team_number"] == team.number), None)
    if own is None:
        return None
    ranked = sum(row["rank"] is not None for row in result.rows)
    return Placing(track, own["rank"], ranked, result.snapshot.published_at)
