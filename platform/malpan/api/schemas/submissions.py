"""Submissions with their scores, rejected files, dry runs and what is left of the limits."""

from __future__ import annotations

import uuid
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.urls import reverse
from ninja import Schema

from malpan.api.schemas.kinds import seconds
from malpan.api.schemas.result_details import Breakdown, Intervals, breakdowns, intervals
from malpan.competitions.models import Track
from malpan.competitions.shown_scores import score_text
from malpan.core.language import reader_language
from malpan.core.messages import text_of_code
from malpan.submissions.evaluation.eta import Forecast
from malpan.submissions.intake import DryRun
from malpan.submissions.models import ScoringRun
from malpan.submissions.models import Submission as SubmissionRow
from malpan.submissions.quota.ledger import QuotaStatus
from malpan.submissions.selectors import (
    HISTORY_ERRORS_BYTES,
    HistoryEntry,
    rejection_errors,
    run_for_team,
    run_to_show,
)
from malpan.submissions.visibility import ShownRun
from scoring.recipes import ORGANISER_CODES, get_recipe


class Quota(Schema):
    daily_limit: int | None  # with what was granted; null: none
    granted_today: int
    used_today: int
    left_today: int | None
    total_limit: int | None
    granted_total: int
    used_total: int
    left_total: int | None
    min_interval_seconds: int
    elsewhere_today: int  # used by people of the team in other teams
    elsewhere_total: int
    elsewhere_by: list[str]
    next_allowed_at: datetime | None
    can_submit: bool


class ShownScore(Schema):
    """A score as the pages write it. ``value`` is 0-1 where the column is scaled."""

    key: str
    label: str
    value: float
    text: str


class PrivateScores(Schema):
    final_score: float
    scores: dict[str, float]
    coverage: dict[str, Any]
    shown: list[ShownScore]
    intervals: Intervals | None = None


class RunError(Schema):
    code: str
    kind: str
    message: str


class Run(Schema):
    """What is not there yet, or is withheld, is not in the object."""

    state: str  # queued, running, finished or failed
    progress: float
    stage: str
    finished_at: datetime | None = None
    is_score_hidden: bool = False
    withheld: str | None = None  # board or ladder
    covers: str | None = None  # all or public
    is_exact: bool = True
    final_score: float | None = None
    scores: dict[str, float] | None = None
    shown: list[ShownScore] | None = None
    coverage: dict[str, Any] | None = None
    warnings: list[dict[str, Any]] | None = None
    is_demo_models: bool = False
    signature_hash: str | None = None
    private: PrivateScores | None = None
    intervals: Intervals | None = None  # of one submission alone, as is what follows; not there until computed
    breakdown: list[Breakdown] | None = None
    error: RunError | None = None


class Submission(Schema):
    id: uuid.UUID
    file_name: str
    file_sha256: str
    format: str
    item_count: int
    normalized_count: int
    memo: str
    submitted_at: datetime
    is_refunded: bool
    refunded_at: datetime | None
    is_withdrawn: bool
    withdrawn_at: datetime | None
    is_final_choice: bool
    run: Run | None
    waiting_before: int | None  # runs before it in the queue; null: it does not wait
    estimated_finish_at: datetime | None  # rounded, never a promise; null: over, or not known


class SubmissionDetail(Submission):
    competition: str
    track: str
    phase: str
    team: str
    file: str  # the address of the file itself


class Entry(Schema):
    """A submission, or a rejected file with its located errors (``kind``)."""

    kind: str
    file_name: str
    submitted_at: datetime
    id: uuid.UUID | None = None
    file_sha256: str | None = None
    format: str | None = None
    item_count: int | None = None
    normalized_count: int | None = None
    memo: str | None = None
    is_refunded: bool | None = None
    refunded_at: datetime | None = None
    is_withdrawn: bool | None = None
    withdrawn_at: datetime | None = None
    is_final_choice: bool | None = None
    run: Run | None = None
    waiting_before: int | None = None
    estimated_finish_at: datetime | None = None
    total: int | None = None
    errors: list[dict[str, Any]] | None = None


class History(Schema):
    needs_terms: bool  # to be accepted before the next file
    quota: Quota
    count: int
    next: str | None
    history: list[Entry]


class DryRunResult(Schema):
    file_name: str
    file_size: int
    format: str
    item_count: int
    normalized_count: int
    warnings: list[dict[str, Any]]
    same_as: uuid.UUID | None  # the team's newest submission of the same bytes


def dry_run(checked: DryRun) -> dict[str, Any]:
    return {
        "file_name": checked.file_name,
        "file_size": checked.size,
        "format": checked.found.format,
        "item_count": checked.found.item_count,
        "normalized_count": checked.found.normalized_count,
        "warnings": [row for row in checked.found.warnings if row["code"] not in ORGANISER_CODES],
        "same_as": checked.same and checked.same.public_id,
    }


def submission(
    found: SubmissionRow, track: Track, run: ShownRun | None = None, forecast: Forecast | None = None
) -> dict[str, Any]:
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
        "run": run and _run(run, track),
        "waiting_before": run_forecast.waiting_before,
        "estimated_finish_at": run_forecast.finish_at,
    }


def submission_detail(found: SubmissionRow, run: ShownRun | None = None) -> dict[str, Any]:
    """``submission`` with where it belongs, and the intervals and the breakdown of its scores."""
    track = found.phase.track
    run = run or run_for_team(found)
    body = submission(found, track, run)
    if run is not None and run.final_score is not None:
        _add_details(body["run"], run, run_to_show(found))
    return body | {
        "competition": track.competition.slug,
        "track": track.slug,
        "phase": found.phase.slug,
        "team": found.team.name,
        "file": reverse("getSubmissionFile", args=[found.public_id]),
    }


def _add_details(body: dict[str, Any], run: ShownRun, own_run: ScoringRun | None) -> None:
    """What takes queries of its own: left out of lists."""
    public, private = intervals(run)
    if public:
        body["intervals"] = public
    if private and body["private"]:
        body["private"]["intervals"] = private
    if found := breakdowns(own_run, run):
        body["breakdown"] = found


def _run(run: ShownRun, track: Track) -> dict[str, Any]:
    body: dict[str, Any] = {"state": run.state, "progress": run.progress, "stage": run.stage}
    if run.state == ScoringRun.State.FINISHED:
        body |= {
            "finished_at": run.finished_at,
            "is_score_hidden": run.is_score_hidden,
            "withheld": run.withheld or None,
        }
        if not run.is_score_hidden:
            body |= _result(run, track)
    if run.state == ScoringRun.State.FAILED:
        body["error"] = {"code": run.error_code, "kind": "system", "message": text_of_code(run.error_code)}
    return body


def _result(run: ShownRun, track: Track) -> dict[str, Any]:
    hidden = run.hidden
    return {
        "covers": run.covers,
        "is_exact": run.is_exact,
        "final_score": run.final_score,
        "scores": run.scores,
        "shown": _shown(run.recipe, run.scores, run.final_score, track, run.step),
        "coverage": run.coverage,
        "warnings": run.warnings,
        "is_demo_models": run.is_demo_models,
        "signature_hash": run.signature_hash,
        "private": hidden
        and {
            "final_score": hidden.final_score,
            "scores": hidden.scores,
            "coverage": hidden.coverage,
            "shown": _shown(run.recipe, hidden.scores, hidden.final_score, track),
        },
    }


def _shown(
    recipe: str, scores: Any, final_score: float | None, track: Track, step: Decimal | None = None
) -> list[dict[str, Any]]:
    """The scores in the order of the recipe, as the pages write them; ``step``: what they are rounded to."""
    values = {**scores, "final_score": final_score}
    return [
        {
            "key": column.key,
            "label": column.label(reader_language()),
            "value": values[column.key],
            "text": score_text(column, values[column.key], track, step),
        }
        for column in get_recipe(recipe).columns
        if values.get(column.key) is not None
    ]


def history_entry(entry: HistoryEntry, track: Track, forecast: Forecast) -> dict[str, Any]:
    if entry.submission is not None:
        return {"kind": "submission", **submission(entry.submission, track, entry.run, forecast)}
    rejection = entry.rejection
    errors = rejection_errors(rejection, room=HISTORY_ERRORS_BYTES) if rejection else ()
    return {
        "kind": "rejection",
        "file_name": rejection and rejection.file_name,
        "submitted_at": entry.created_at,
        "total": rejection and rejection.error_count,
        "errors": [error.as_dict(reader_language()) for error in errors],
    }


def quota(found: QuotaStatus) -> dict[str, Any]:
    return {
        "daily_limit": found.daily_limit,
        "granted_today": found.granted_today,
        "used_today": found.used_today,
        "left_today": found.left_today,
        "total_limit": found.total_limit,
        "granted_total": found.granted_total,
        "used_total": found.used_total,
        "left_total": found.left_total,
        "min_interval_seconds": seconds(found.min_interval),
        "elsewhere_today": found.elsewhere_today.slots,
        "elsewhere_total": found.elsewhere_total.slots,
        "elsewhere_by": list(found.elsewhere_total.people),
        "next_allowed_at": found.next_allowed_at,
        "can_submit": found.can_submit,
    }
