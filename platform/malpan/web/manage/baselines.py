"""A baseline in one form: an organiser uploads its file, and nobody needs an account for it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from malpan.competitions.permissions import Permission
from malpan.competitions.selectors import phases_of
from malpan.core import uploads
from malpan.core.errors import DomainError
from malpan.core.limits import network_of
from malpan.submissions.baselines import submit_baseline
from malpan.submissions.errors import FileRejected, UploadTooLarge
from malpan.submissions.models import Submission
from malpan.teams.errors import TeamNameInvalid, TeamNameTaken
from malpan.web.acting import act, posted, refusal_of, refuse
from malpan.web.forms.baselines import BaselineForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters import scores


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def new_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    now = timezone.now()
    phases = phases_of(access.competition).filter(starts_at__lte=now, ends_at__gt=now)
    form = BaselineForm(posted(request), request.FILES or None, phases=phases)
    if not form.is_bound:
        return _page(request, access, form)
    if uploads.was_too_large(request):
        limit = UploadTooLarge(size_bytes=uploads.body_size(request), limit_bytes=settings.UPLOAD_MAX_BYTES)
        refuse(form, limit, "file")
        return _page(request, access, form, limit.http_status)
    return act(
        request,
        lambda values: _submitted(request, values),
        form=form,
        success=_("기준 모델의 파일을 제출했습니다. 채점이 끝나면 순위표에 순위 없이 오릅니다."),
        to=lambda submission: access.url("manage_submission", submission.public_id),
        render_again=lambda status: _page(request, access, form, status),
        error_field=_field_of,
    )


def _submitted(request: MemberRequest, values: dict[str, Any]) -> Submission:
    uploads.one_file(request, "file")
    file = values["file"]
    return submit_baseline(
        phase=values["phase"],
        name=values["name"],
        user=request.user,
        file_name=file.name,
        upload=file,
        memo=values["memo"],
        upload_key=values["upload_key"],
        address=network_of(request),
    )


def _field_of(error: DomainError) -> str | None:
    return "name" if isinstance(error, TeamNameInvalid | TeamNameTaken) else "file"


def _page(request: HttpRequest, access: ManageAccess, form: BaselineForm, status: int = 200) -> HttpResponse:
    error = refusal_of(form)
    rejected = error if isinstance(error, FileRejected) else None
    context = access.context("manage_teams") | {
        "form": form,
        "has_open_phase": form.fields["phase"].queryset.exists(),  # type: ignore[attr-defined]
        "errors": scores.located_errors(rejected.errors if rejected else ()),
        "total": rejected.total if rejected else 0,
    }
    return render(request, "manage/baseline_new.html", context, status=status)


urlpatterns = [path("teams/baseline/", new_page, name="manage_baseline_new")]
