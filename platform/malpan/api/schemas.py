"""The JSON of each object of the API. Scores are 0-1; times are ISO 8601 with their offset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from malpan.api.http import language
from malpan.competitions.models import Competition, Phase, Track
from malpan.competitions.selectors import phase_to_show
from malpan.core.messages import text_of_code
from malpan.leaderboard.boards import Board, BoardRow
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.published import published_rows
from malpan.leaderboard.rules import components_json, composite_json
from malpan.submissions.evaluation.eta import Forecast
from malpan.submissions.intake import DryRun
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.quota.ledger import QuotaStatus
from malpan.submissions.selectors import HistoryEntry, rejection_errors, run_for_team, run_to_show
from malpan.submissions.visibility import ShownRun
from scoring.recipes import ORGANISER_CODES


def competition(found: Competition, tracks: list[Track] | None = None) -> dict[str, Any]:
    body: dict[str, Any] = {
        "slug": found.slug,
        "title": found.title,
        "summary": found.summary,
        "organiser": found.organiser,
        "is_demo": found.is_demo,
        "terms_version": found.terms_version,  # 0: there are no terms to accept
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
        "finals_limit": found.finals_limit,
        "counting": found.counting,  # which submission of a team counts, where a composite ranks
        "counting_score": found.counting_score or None,  # by which it is the best; null: the final score
        "score_step": found.score_step and float(found.score_step),  # of scores 0-1; null: shown as computed
        "is_ladder": found.is_ladder,
        "ties": found.ties,  # how the board shows teams that no test tells apart: band, shared or none
        "final_published_at": found.final_published_at,
    }


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
                "label": column.label(language()),
                "is_scaled": column.is_scaled,
                "group": column.group,
            }
            for column in shown.columns
        ],
        "composite": _composite(shown),
        "row_count": shown.row_count,
        "rows": [_row(row) for row in found.rows] if past is None else _recorded_rows(past),
        "own_row": shown.own_row and _row(shown.own_row),  # of the token's team, whatever its rank
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
        "newest_snapshot": found.snapshots[0].number,
        "snapshots": _listed(found.snapshots),
        "published_at": snapshot.published_at,
        "recipe": snapshot.recipe,
        "signature_hash": snapshot.signature_hash,
        "sha256": snapshot.sha256,
        "note": snapshot.note,
        "components": snapshot.components or None,  # of the composite in the rows, if one ranks
    }


def _published(found: Board) -> dict[str, Any]:
    rows = {row.submission_name: _row_sureness(row) for row in found.rows if row.sureness}
    return {"row_count": found.row_count, "rows": _recorded_rows(found), "sureness": _sureness(found, rows=rows)}


def _recorded_rows(found: Board) -> Sequence[Mapping[str, Any]]:
    """The rows of a page as they were published or kept, as the hash has them."""
    return found.view.cut(published_rows(found.snapshot)) if found.snapshot else []


def _listed(snapshots: Iterable[BoardSnapshot]) -> list[dict[str, Any]]:
    return [
        {"snapshot": each.number, "published_at": each.published_at, "sha256": each.sha256, "note": each.note}
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


def _row(row: BoardRow) -> dict[str, Any]:
    return {
        "rank": row.rank,
        "team": row.team_name,
        "is_baseline": row.is_baseline,
        "is_own": row.is_own,
        "final_score": row.final_score,
        "scores": row.scores,
        **({"composite": composite_json(row.composite)} if row.composite else {}),
        "submission_count": row.submission_count,
        "submitted_at": row.submitted_at,
        "submission": row.submission and row.submission.public_id,  # under which the public chain records the score
        **_row_sureness(row),
    }


def dry_run(checked: DryRun) -> dict[str, Any]:
    """A sound file that was only checked; ``same_as``: the team's newest submission of the same bytes."""
    return {
        "file_name": checked.file_name,
        "file_size": checked.size,
        "format": checked.found.format,
        "item_count": checked.found.item_count,
        "normalized_count": checked.found.normalized_count,
        "warnings": [row for row in checked.found.warnings if row["code"] not in ORGANISER_CODES],
        "same_as": checked.same and checked.same.public_id,
    }


def submission(found: Submission, run: ShownRun | None = None, forecast: Forecast | None = None) -> dict[str, Any]:
    """A submission with the visible fields of its ``run``; the default is what its team may see.

    ``forecast`` is shared if a response has several submissions.
    """
    run = run or run_for_team(found)
    run_forecast = (forecast or Forecast()).of(run_to_show(found))
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
        "refunded_at": found.refunded_at,
        "is_withdrawn": found.withdrawn_at is not None,
        "withdrawn_at": found.withdrawn_at,
        "is_final_choice": found.is_final_choice,
        "run": run and _run(run),
        "estimated_finish_at": run_forecast.finish_at,  # rounded, never a promise; null: over, or not known
    }


def _run(run: ShownRun) -> dict[str, Any]:
    body: dict[str, Any] = {"state": run.state, "progress": run.progress, "stage": run.stage}
    if run.state == ScoringRun.State.FINISHED:
        body |= {
            "finished_at": run.finished_at,
            "is_score_hidden": run.is_score_hidden,
            "withheld": run.withheld or None,
        }
        if not run.is_score_hidden:
            body |= _result(run)
    if run.state == ScoringRun.State.FAILED:
        body["error"] = {"code": run.error_code, "kind": "system", "message": text_of_code(run.error_code)}
    return body


def _result(run: ShownRun) -> dict[str, Any]:
    hidden = run.hidden
    return {
        "covers": run.covers,
        "is_exact": run.is_exact,
        "final_score": run.final_score,
        "scores": run.scores,
        "coverage": run.coverage,
        "warnings": run.warnings,
        "is_demo_models": run.is_demo_models,
        "signature_hash": run.signature_hash,
        "private": hidden and {"final_score": hidden.final_score, "scores": hidden.scores, "coverage": hidden.coverage},
    }


def history_entry(entry: HistoryEntry, forecast: Forecast) -> dict[str, Any]:
    """A submission, or a rejected file with its located errors."""
    if entry.submission is not None:
        return {"kind": "submission", **submission(entry.submission, entry.run, forecast)}
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
        "granted_today": found.granted_today,  # of daily_limit
        "left_today": found.left_today,
        "total_limit": found.total_limit,
        "granted_total": found.granted_total,  # of total_limit
        "left_total": found.left_total,
        "elsewhere_today": found.elsewhere_today.slots,  # used by people of the team in other teams
        "elsewhere_total": found.elsewhere_total.slots,
        "elsewhere_by": list(found.elsewhere_total.people),
        "next_allowed_at": found.next_allowed_at,
        "can_submit": found.can_submit,
    }
