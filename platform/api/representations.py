"""What the API says of each thing. Scores are 0-1; times are ISO 8601 with their offset."""

from __future__ import annotations

from typing import Any

from api.http import language
from competitions.models import Competition, Phase, Track
from competitions.selectors import phase_to_show
from core.messages import text_of_code
from leaderboard.selectors import Board, BoardRow
from submissions.models import ScoringRun, Submission
from submissions.quota import QuotaStatus
from submissions.selectors import HistoryEntry, participant_warnings, rejection_errors, run_to_show


def competition(found: Competition, tracks: list[Track] | None = None) -> dict[str, Any]:
    body: dict[str, Any] = {
        "slug": found.slug,
        "title": found.title,
        "summary": found.summary,
        "organizer": found.organizer,
        "is_demo": found.is_demo,
    }
    if tracks is not None:
        body["tracks"] = [track(each) for each in tracks]
    return body


def track(found: Track) -> dict[str, Any]:
    shown = phase_to_show(found)
    return {
        "slug": found.slug,
        "title": found.title,
        "recipe": found.recipe,
        "phase": shown and phase(shown),
    }


def phase(found: Phase) -> dict[str, Any]:
    return {
        "slug": found.slug,
        "title": found.title,
        "starts_at": found.starts_at,
        "ends_at": found.ends_at,
        "is_open": found.is_open(),
        "daily_limit": found.daily_limit,
        "total_limit": found.total_limit,
        "min_interval_seconds": int(found.min_interval.total_seconds()),
        "board": found.board,
    }


def board(found: Board) -> dict[str, Any]:
    return {
        "phase": phase(found.phase),
        "recipe": found.recipe.id,
        "columns": [
            {
                "key": column.key,
                "label": column.label(language()),
                "is_scaled": column.is_scaled,
                "group": column.group,
            }
            for column in found.columns
        ],
        "rows": [_row(row) for row in found.rows],
        "is_hidden": found.is_hidden,
        "frozen_at": found.frozen_at,
        "is_demo_models": found.is_demo_models,
        "signature_hash": found.signature_hash,
        "excluded_count": found.excluded_count,
    }


def _row(row: BoardRow) -> dict[str, Any]:
    return {
        "rank": row.rank,
        "team": row.team_name,
        "is_baseline": row.is_baseline,
        "is_own": row.is_own,
        "final_score": row.final_score,
        "scores": row.scores,
        "submission_count": row.submission_count,
        "submitted_at": row.submitted_at,
    }


def submission(found: Submission) -> dict[str, Any]:
    run = run_to_show(found)
    return {
        "id": found.public_id,
        "file_name": found.file_name,
        "file_sha256": found.file_sha256,
        "format": found.file_format,
        "item_count": found.item_count,
        "normalized_count": found.normalized_count,
        "memo": found.memo,
        "submitted_at": found.created_at,
        "is_refunded": found.refunded_at is not None,
        "run": run and _run(run),
    }


def _run(run: ScoringRun) -> dict[str, Any]:
    body: dict[str, Any] = {"state": run.state, "progress": run.progress, "stage": run.stage}
    if run.state == ScoringRun.State.FINISHED:
        body |= {
            "finished_at": run.finished_at,
            "final_score": run.final_score,
            "scores": run.scores,
            "coverage": run.coverage,
            "warnings": participant_warnings(run),
            "is_demo_models": run.is_demo_models,
            "signature_hash": run.signature_hash,
        }
    if run.state == ScoringRun.State.FAILED:
        body["error"] = {"code": run.error_code, "kind": "system", "message": text_of_code(run.error_code)}
    return body


def history_entry(entry: HistoryEntry) -> dict[str, Any]:
    """A submission, or a rejected file with its located errors."""
    if entry.submission is not None:
        return {"kind": "submission", **submission(entry.submission)}
    rejection = entry.rejection
    return {
        "kind": "rejection",
        "file_name": rejection and rejection.file_name,
        "submitted_at": entry.created_at,
        "total": rejection and rejection.error_count,
        "errors": [error.as_dict(language()) for error in rejection_errors(rejection)] if rejection else [],
    }


def quota(found: QuotaStatus) -> dict[str, Any]:
    return {
        "daily_limit": found.daily_limit,
        "left_today": found.left_today,
        "total_limit": found.total_limit,
        "left_total": found.left_total,
        "next_allowed_at": found.next_allowed_at,
        "can_submit": found.can_submit,
    }
