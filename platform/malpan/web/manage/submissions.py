"""Submissions with their scores and warnings."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from django.http import FileResponse, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from malpan.competitions.models import Track
from malpan.competitions.permissions import Permission
from malpan.core import audit_selectors
from malpan.submissions import manage_selectors
from malpan.submissions.evaluation import actions
from malpan.submissions.models import ScoringRun, Submission
from malpan.web.csv_export import csv_response
from malpan.web.forms.submissions import STATES, SubmissionFilterForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.tables import filters_only, query_with, sort_link
from malpan.web.pages.context import MemberRequest, page_of
from malpan.web.presenters import scores, submissions

EXPORT_LIMIT: Final = 20_000


def _rows(request: MemberRequest, access: ManageAccess, form: SubmissionFilterForm) -> Any:
    sort = request.GET.get("sort", "time")
    if sort == "hidden" and not access.may(Permission.VIEW_HIDDEN):
        sort = "time"
    return manage_selectors.submissions_of(
        access.competition, form.search(), sort=sort, ascending=request.GET.get("order") == "asc"
    )


@require_safe
@manage_page(Permission.VIEW)
def submissions_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    form = SubmissionFilterForm(access.competition, request.GET)
    page = page_of(request, _rows(request, access, form))
    heads = {
        "time": _("접수 시각"),
        "team": _("팀"),
        "score": _("최종 점수"),
        "warnings": _("알림"),
    }
    if access.may(Permission.VIEW_HIDDEN):
        heads["hidden"] = _("비공개 점수")
    context = access.context("manage_submissions") | {
        "form": form,
        "page": page,
        "is_filtered": bool(form.search()),
        "heads": {
            key: sort_link(request, key, label, default="time", ascending_first=key == "team")
            for key, label in heads.items()
        },
        "states": dict(STATES),
        "export_query": filters_only(request),
    }
    return render(request, "manage/submissions.html", context)


@require_safe
@manage_page(Permission.VIEW)
def submissions_csv(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """The rows that the page shows under the same filters, with every score."""
    rows = list(_rows(request, access, SubmissionFilterForm(access.competition, request.GET))[:EXPORT_LIMIT])
    shows_hidden = access.may(Permission.VIEW_HIDDEN)
    keys = _score_keys(rows)
    header = [
        "public_id", "created_at", "team", "track", "phase", "file_name", "file_sha256", "file_size", "format",
        "item_count", "state", "refunded_at", "withdrawn_at", "is_final_choice", "warnings", "final_score", *keys,
        *(["hidden_final_score"] if shows_hidden else []),
    ]  # fmt: skip
    return csv_response(
        f"{access.competition.slug}-submissions.csv", header, (_csv_row(row, keys, shows_hidden) for row in rows)
    )


def _score_keys(rows: Iterable[Submission]) -> list[str]:
    """The names of every score of ``rows`` but the final one, in the order of their recipes."""
    recipes = dict.fromkeys(row.phase.track.recipe for row in rows)
    known = dict.fromkeys(column.key for recipe in recipes for column in submissions.known_columns(recipe))
    found = {key for row in rows if row.live_run for key in row.live_run.scores}
    return [key for key in [*known, *sorted(found - known.keys())] if key in found and key != "final_score"]


def _csv_row(row: Any, keys: Sequence[str], shows_hidden: bool) -> list[Any]:
    values: Mapping[str, float] = row.live_run.scores if row.live_run else {}
    cells = [
        row.public_id, row.created_at, row.team.name, row.phase.track.slug, row.phase.slug, row.file_name,
        row.file_sha256, row.file_size, row.file_format, row.item_count, row.shown_state, row.refunded_at,
        row.withdrawn_at, row.is_final_choice, row.warning_count, row.shown_score,
    ]  # fmt: skip
    return [*cells, *(values.get(key) for key in keys), *([row.hidden_score] if shows_hidden else [])]


@require_safe
@manage_page(Permission.VIEW)
def submission_page(request: MemberRequest, access: ManageAccess, public_id: uuid.UUID) -> HttpResponse:
    submission = manage_selectors.submission_of(access.competition, public_id)
    run = submission.live_run
    context = access.context("manage_submissions") | {
        "submission": submission,
        "track": submission.phase.track,
        "run": run,
        "runs": list(submission.runs.select_related("batch")),
        "file_format": scores.file_format(submission),
        "entries": audit_selectors.entries_about(submission._meta.label_lower, submission.pk),
        "ledger": list(submission.quota_entries.select_related("actor")),
    }
    if run is not None:
        context |= _result(request, access, run, submission.phase.track)
    return render(request, "manage/submissions_one.html", context)


def _result(request: MemberRequest, access: ManageAccess, run: ScoringRun, track: Track) -> dict[str, Any]:
    shows_hidden = access.may(Permission.VIEW_HIDDEN)
    hidden = manage_selectors.hidden_result_of(run) if shows_hidden else None
    by = request.GET.get("by", "")
    metrics, items = manage_selectors.item_values(run, by=by, with_private=shows_hidden)
    page = page_of(request, items)
    return {
        "scores": list(submissions.score_lines(run, hidden.scores if hidden else {}, track)),
        "hidden": hidden,
        "coverage": scores.coverage_of(run.coverage),
        "warnings": submissions.warnings_of(run.warnings),
        "hidden_warnings": submissions.warnings_of(hidden.warnings) if hidden else [],
        "metrics": [
            (submissions.metric_label(run, name), query_with(request, by=name, page=""), name) for name in metrics
        ],
        "sorted_by": by if by in metrics else (metrics[0] if metrics else ""),
        "page": page,
        "items": [(item, [submissions.value_text(item.values.get(name)) for name in metrics]) for item in page],
        "is_split": run.reference_version.public_ids is not None,
    }


@require_POST  # it writes who took the file
@manage_page(Permission.MANAGE)
def download_action(request: MemberRequest, access: ManageAccess, public_id: uuid.UUID) -> HttpResponse:
    submission = manage_selectors.submission_of(access.competition, public_id)
    file = actions.open_for_download(submission=submission, actor=request.user)
    response = FileResponse(
        file, as_attachment=True, filename=submission.file_name, content_type="application/octet-stream"
    )
    response["X-Content-Type-Options"] = "nosniff"
    return cast("HttpResponse", response)  # a streaming one


urlpatterns: list[URLPattern] = [
    path("submissions/", submissions_page, name="manage_submissions"),
    path("submissions/export.csv", submissions_csv, name="manage_submissions_csv"),
    path("submissions/<uuid:public_id>/", submission_page, name="manage_submission"),
    path("submissions/<uuid:public_id>/file/", download_action, name="manage_submission_file"),
]
