"""Submissions and their runs, as organisers see them."""

from __future__ import annotations

import uuid
from typing import Any, Literal

from django.http import FileResponse
from django.utils.translation import gettext_noop as _

from malpan.api.competitions import FILE
from malpan.api.frame import ApiRequest
from malpan.api.manage.access import MANAGE, ManageOperations, managed
from malpan.api.reading import paged
from malpan.api.schemas.kinds import Because, Page, PageNumber, PageSize, Text
from malpan.api.schemas.manage import submissions as shown
from malpan.competitions.permissions import Permission, may
from malpan.core.messages import text_of, text_of_code
from malpan.submissions import manage_selectors, retrying
from malpan.submissions.evaluation import actions
from malpan.submissions.models import ScoringRun

operations = ManageOperations(_("운영: 제출과 채점"))
States = Literal["", "queued", "running", "finished", "failed", "refunded", "withdrawn"]


@operations.get(f"{MANAGE}/submissions/", "listAllSubmissions", _("모든 팀의 제출"), Page[shown.ManagedSubmission])
def submissions(
    request: ApiRequest,
    slug: str,
    track: Text = "",
    phase: Text = "",
    team: Text = "",
    state: States = "",
    page: PageNumber = 1,
    page_size: PageSize = 100,
) -> Any:
    competition = managed(request, slug, Permission.VIEW)
    search = manage_selectors.SubmissionSearch(track=track, phase=phase, team=team, state=state)
    sees_hidden = may(request.auth.user, competition, Permission.VIEW_HIDDEN)
    rows = manage_selectors.submissions_of(competition, search)
    return paged(request, rows, page, page_size, lambda row: _submission(row, sees_hidden))


@operations.post(
    f"{MANAGE}/submissions/{{uuid:public_id}}/file/",
    "downloadSubmission",
    _("제출한 파일 내려받기"),
    None,
    status=200,
    extra=FILE,
    says=_("누가 받았는지 감사 기록에 남습니다."),
    is_once=False,
)
def download(request: ApiRequest, slug: str, public_id: uuid.UUID) -> Any:
    submission = manage_selectors.submission_of(managed(request, slug, Permission.MANAGE), public_id)
    file = actions.open_for_download(submission=submission, actor=request.auth.person)
    return FileResponse(
        file, as_attachment=True, filename=submission.file_name, content_type="application/octet-stream"
    )


@operations.get(f"{MANAGE}/queue/", "getQueue", _("채점 대기열"), shown.Queue)
def queue(request: ApiRequest, slug: str) -> Any:
    found = manage_selectors.queue_status(managed(request, slug, Permission.VIEW))
    names = set(shown.Queue.model_fields) - {"running"}
    return {name: getattr(found, name) for name in names} | {"running": len(found.running)}


@operations.get(f"{MANAGE}/runs/", "listRuns", _("채점 목록"), Page[shown.ManagedRun])
def runs(
    request: ApiRequest,
    slug: str,
    state: Literal["", "queued", "running", "finished", "failed"] = "",
    page: PageNumber = 1,
    page_size: PageSize = 100,
) -> Any:
    rows = manage_selectors.runs_of(managed(request, slug, Permission.VIEW), state=state)
    return paged(request, rows, page, page_size, _run)


@operations.post(f"{MANAGE}/runs/retry/", "retryRuns", _("실패한 채점을 다시 대기열에"), shown.RetriedRuns)
def retry(request: ApiRequest, slug: str, data: shown.RunIds) -> Any:
    competition = managed(request, slug, Permission.OPERATE)
    wanted = manage_selectors.runs_of(competition).filter(pk__in=data.runs).order_by("pk")
    outcome = retrying.retry_runs(runs=wanted, actor=request.auth.person)
    return {
        "runs": [run.pk for run in outcome.runs],
        "refused": [{"run": run.pk, "code": error.code, "message": text_of(error)} for run, error in outcome.refused],
    }


@operations.post(f"{MANAGE}/runs/{{int:pk}}/cancel/", "cancelRun", _("채점 취소와 환불"), shown.ManagedRun)
def cancel(request: ApiRequest, slug: str, pk: int, data: Because) -> Any:
    competition = managed(request, slug, Permission.OPERATE)
    run = manage_selectors.run_of(competition, pk)
    actions.cancel_run(run=run, actor=request.auth.person, reason=data.reason)
    return _run(manage_selectors.run_of(competition, pk))


def _submission(row: Any, sees_hidden: bool) -> dict[str, Any]:
    """``row`` is annotated by ``manage_selectors.submissions_of``."""
    return {
        "id": row.public_id,
        "team": row.team.name,
        "team_number": row.team.number,
        "track": row.phase.track.slug,
        "phase": row.phase.slug,
        "file_name": row.file_name,
        "file_sha256": row.file_sha256,
        "file_size": row.file_size,
        "format": row.file_format,
        "item_count": row.item_count,
        "submitted_at": row.created_at,
        "state": row.shown_state,
        "final_score": row.shown_score,
        "scores": row.live_run.scores if row.live_run else {},
        "hidden_final_score": row.hidden_score if sees_hidden else None,
        "warnings": row.warning_count,
        "refunded_at": row.refunded_at,
        "withdrawn_at": row.withdrawn_at,
        "is_final_choice": row.is_final_choice,
    }


def _run(run: ScoringRun) -> dict[str, Any]:
    return {
        "id": run.pk,
        "submission": run.submission.public_id,
        "team": run.submission.team.name,
        "track": run.submission.phase.track.slug,
        "state": run.state,
        "error": text_of_code(run.error_code) if run.error_code else "",
        "batch": run.batch_id,
        "queued_at": run.queued_at,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "progress": run.job.progress if run.job else float(run.state == ScoringRun.State.FINISHED),
    }
