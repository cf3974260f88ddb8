"""The baseline and milestones of a track, on a separate page: they affect no score and may change at any time."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from malpan.competitions.models import Track
from malpan.competitions.permissions import Permission
from malpan.competitions.references import recipe_of
from malpan.competitions.selectors import get_track
from malpan.competitions.targets import add_published_targets, set_targets
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.web.acting import posted
from malpan.web.forms.targets import target_rows
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.wizard import steps_of
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters.scores import marks_of
from scoring.recipes.targets import published_targets


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def targets_page(request: MemberRequest, access: ManageAccess, track_slug: str) -> HttpResponse:
    """Set the baseline and milestones on the board of a track. Raises ``TrackNotFound``."""
    track = get_track(access.competition, track_slug)
    rows = target_rows(track, posted(request))
    if request.method != "POST" or not rows.is_valid():
        return _page(request, access, track, rows)
    try:
        set_targets(track=track, targets=rows.targets(), actor=request.user)
    except DomainError as error:
        return _page(request, access, track, rows, text_of(error))
    messages.success(request, _("저장했습니다."))
    return redirect("manage_setup_targets", access.competition.slug, track.slug)


@require_POST
@manage_page(Permission.MANAGE)
def published_targets_action(request: MemberRequest, access: ManageAccess, track_slug: str) -> HttpResponse:
    """Add the published figures that are known for such a task. Raises ``TrackNotFound``."""
    track = get_track(access.competition, track_slug)
    try:
        add_published_targets(track=track, actor=request.user)
    except DomainError as error:
        return _page(request, access, track, target_rows(track), text_of(error))
    messages.success(request, _("AI 허브 기준선과 이정표를 넣었습니다."))
    return redirect("manage_setup_targets", access.competition.slug, track.slug)


def _page(request: MemberRequest, access: ManageAccess, track: Track, rows: Any, refusal: str = "") -> HttpResponse:
    context = access.context("manage_setup") | {
        "steps": steps_of(access, "tracks"),
        "track": track,
        "rows": rows,
        "published": marks_of(track, published_targets(recipe_of(track))),
        "refusal": refusal,
    }
    return render(request, "manage/setup_targets.html", context, status=422 if rows.is_bound or refusal else 200)


urlpatterns = [
    path("setup/tracks/<slug:track_slug>/targets/", targets_page, name="manage_setup_targets"),
    path(
        "setup/tracks/<slug:track_slug>/targets/published/",
        published_targets_action,
        name="manage_setup_published_targets",
    ),
]
