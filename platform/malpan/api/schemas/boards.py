"""Boards: the public one, the final one, and those of the past."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import Any

from ninja import Schema

from malpan.api.schemas.competitions import Phase, phase
from malpan.competitions.shown_scores import score_text
from malpan.core.language import reader_language
from malpan.leaderboard.boards import Board, BoardRow
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.published import published_rows
from malpan.leaderboard.rules import components_json, composite_json


class BoardColumn(Schema):
    key: str
    label: str
    is_scaled: bool
    group: str


class Snapshot(Schema):
    snapshot: int
    published_at: datetime
    sha256: str
    note: str
    day: date | None


class Publication(Schema):
    """What was published or kept when, and every publication or kept board, the newest first.

    ``sha256`` is that of the canonical JSON of all rows, and is in the public chain.
    """

    snapshot: int
    day: date | None  # with whose end it was public, if it was kept for that
    newest_snapshot: int
    snapshots: list[Snapshot]
    published_at: datetime
    recipe: str
    signature_hash: str | None
    sha256: str
    note: str
    components: list[dict[str, Any]] | None  # of the composite in the rows, if one ranks
    programs: list[str]  # the teams in these rows that are programs, which the hash does not have
    models: dict[str, dict[str, Any]]  # what the teams in these rows say of their models, by name; likewise


class FinalBoard(Publication):
    row_count: int
    rows: list[dict[str, Any]]  # as the hash has them
    sureness: dict[str, Any] | None


class ShownBoard(Schema):
    track: str
    phase: Phase
    recipe: str
    columns: list[BoardColumn]
    composite: dict[str, Any] | None
    row_count: int
    rows: list[dict[str, Any]]
    own_row: dict[str, Any] | None
    is_hidden: bool
    frozen_at: datetime | None
    is_demo_models: bool
    signature_hash: str | None
    excluded_count: int
    sureness: dict[str, Any] | None
    covers: str
    disqualified: list[dict[str, Any]]
    final: FinalBoard | None
    past_boards: list[Snapshot]
    past: Publication | None
    days: list[date]
    next: str | None


def board(found: Board, final: Board | None = None, past: Board | None = None) -> dict[str, Any]:
    """A page of the public board, and under ``final`` of the final one once it is published. Where a kept public board
    was asked for, it is the page of that one, with its rows as they were recorded, and ``past`` says which it is.
    """
    shown = past or found
    return {
        "track": found.phase.track.slug,  # a phase's slug is unique within its track only
        "phase": phase(found.phase),
        "recipe": shown.recipe.id,
        "columns": [
            {
                "key": column.key,
                "label": column.label(reader_language()),
                "is_scaled": column.is_scaled,
                "group": column.group,
            }
            for column in shown.columns
        ],
        "composite": _composite(shown),
        "row_count": shown.row_count,
        "rows": [_row(row, found) for row in found.rows] if past is None else _recorded_rows(past),
        "own_row": shown.own_row and _row(shown.own_row, shown),  # of the token's team, whatever its rank
        "is_hidden": found.is_hidden,
        "frozen_at": shown.frozen_at,
        "is_demo_models": shown.is_demo_models,
        "signature_hash": shown.signature_hash,
        "excluded_count": shown.excluded_count,
        "sureness": _sureness(shown),
        "covers": "public" if found.covers_split else "all",
        "disqualified": [{"team": each.team_name, "note": each.note} for each in shown.disqualified],
        "final": {**_publication(final, final.snapshot), **_published(final)} if final and final.snapshot else None,
        "past_boards": [] if found.is_hidden else _listed(found.snapshots),  # for ?past=, the newest first
        "days": [] if found.is_hidden else list(found.days),  # for ?day=, the newest first
        "past": _publication(past, past.snapshot) if past and past.snapshot else None,
    }


def _composite(found: Board) -> dict[str, Any] | None:
    """What the board ranks by where that is a composite; ``null`` where the final score ranks."""
    if not found.components:
        return None
    formula = (
        "sum of weight * (n - rank) / (n - 1), by the sum of the weights; n ranked teams, average ranks, 1 for one"
    )
    return {"components": components_json(found.components), "formula": formula}


def _publication(found: Board, snapshot: BoardSnapshot) -> dict[str, Any]:
    """What was published or kept when, and every publication or kept board, the newest first.

    ``sha256`` is that of the canonical JSON of all rows, and is in the public chain.
    """
    return {
        "snapshot": snapshot.number,
        "day": snapshot.day,
        "newest_snapshot": found.snapshots[0].number,
        "snapshots": _listed(found.snapshots),
        "published_at": snapshot.published_at,
        "recipe": snapshot.recipe,
        "signature_hash": snapshot.signature_hash,
        "sha256": snapshot.sha256,
        "note": snapshot.note,
        "components": snapshot.components or None,  # of the composite in the rows, if one ranks
        "programs": [row.team_name for row in found.rows if row.is_program],
        "models": {row.team_name: asdict(row.model) for row in found.rows if row.model},
    }


def _published(found: Board) -> dict[str, Any]:
    rows = {row.submission_name: _row_sureness(row) for row in found.rows if row.sureness}
    return {"row_count": found.row_count, "rows": _recorded_rows(found), "sureness": _sureness(found, rows=rows)}


def _recorded_rows(found: Board) -> Sequence[Mapping[str, Any]]:
    """The rows of a page as they were published or kept, as the hash has them."""
    return found.view.cut(published_rows(found.snapshot)) if found.snapshot else []


def _listed(snapshots: Iterable[BoardSnapshot]) -> list[dict[str, Any]]:
    return [
        {
            "snapshot": each.number,
            "published_at": each.published_at,
            "sha256": each.sha256,
            "note": each.note,
            "day": each.day,  # with whose end it was public, if it was kept for that
        }
        for each in snapshots
    ]


def _sureness(found: Board, **more: Any) -> dict[str, Any] | None:
    """How intervals and bands were computed; ``null`` until they are. ``reason``: why there are none."""
    sure = found.sureness
    if sure is None:
        return None
    return {
        "computed_at": sure.computed_at,
        "is_current": sure.is_current,  # or a row moved since
        "seed": sure.seed,
        "trials": sure.trials,
        "level": sure.level,
        "items": sure.items,
        "pairs": sure.tests,
        "signature_hash": sure.signature_hash,
        "reason": sure.reason or None,
        **more,
    }


def _row_sureness(row: BoardRow) -> dict[str, Any]:
    sure = row.sureness
    return {
        "intervals": sure and {name: list(ends) for name, ends in sure.scores.items()},
        "rank_interval": sure and sure.places,
        "tie_band": sure and sure.band,
        "tied_rank": sure and sure.shared_rank,  # that of the first of the band
        "above_p": sure and sure.above_p,
    }


def _row(row: BoardRow, found: Board) -> dict[str, Any]:
    return {
        "rank": row.rank,
        "team": row.team_name,
        "is_baseline": row.is_baseline,
        "is_program": row.is_program,  # who takes part is one
        "is_own": row.is_own,
        "final_score": row.final_score,
        "scores": row.scores,
        "shown": _shown(row, found),
        **({"composite": composite_json(row.composite)} if row.composite else {}),
        "submission_count": row.submission_count,
        "submitted_at": row.submitted_at,
        "rank_yesterday": row.rank_before,  # as the day began in Korea, where it was noted
        "reason_coverage": row.coverage,  # the share of reasons given, where the recipe counts them
        "model": row.model and asdict(row.model),  # what the team says of it
        "submission": row.submission and row.submission.public_id,  # under which the public chain records the score
        **_row_sureness(row),
    }


def _shown(row: BoardRow, found: Board) -> dict[str, str]:
    """The scores as the page writes them, in all decimals."""
    track, step = found.phase.track, found.step
    return {
        column.key: score_text(column, row.final_score if column.is_main else row.scores[column.key], track, step)
        for column in found.columns
        if column.is_main or column.key in row.scores
    }
