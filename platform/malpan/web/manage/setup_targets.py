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
from malpan.web.presenters.scores import language, marks_of
from scoring.recipes.targets import FINAL_SCORE, published_sets


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def targets_page(request: MemberRequest, access: ManageAccess, track_slug: str) -> HttpResponse:
    """Set the baseline and milestones on the board of a track. Raises ``TrackNotFound``."""
    track = get_track(access.competition, track_slug)
    rows = target_rows(track, _scores(track), posted(request))
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
    """Add the figures that are known for such a task and the score that was sent. Raises ``TrackNotFound``."""
    track = get_track(access.competition, track_slug)
    try:
        add_published_targets(track=track, actor=request.user, score=request.POST.get("score", FINAL_SCORE))
    except DomainError as error:
        return _page(request, access, track, target_rows(track, _scores(track)), text_of(error))
    messages.success(request, _("기준선과 이정표를 넣었습니다."))
    return redirect("manage_setup_targets", access.competition.slug, track.slug)


def _page(request: MemberRequest, access: ManageAccess, track: Track, rows: Any, refusal: str = "") -> HttpResponse:
    sets, names = published_sets(recipe_of(track)), dict(_scores(track)) | {FINAL_SCORE: ""}
    context = access.context("manage_setup") | {
        "steps": steps_of(access, "tracks"),
        "track": track,
        "rows": rows,
        "published": [(score, names[score], marks_of(track, targets)) for score, targets in sets.items()],
        "refusal": refusal,
    }
    return render(request, "manage/setup_targets.html", context, status=422 if rows.is_bound or refusal else 200)


def _scores(track: Track) -> list[tuple[str, str]]:
    """The columns of the track's board: key and name."""
    return [(column.key, column.label(language())) for column in recipe_of(track).columns]


urlpatterns = [
    path("setup/tracks/<slug:track_slug>/targets/", targets_page, name="manage_setup_targets"),
    path(
        "setup/tracks/<slug:track_slug>/targets/published/",
        published_targets_action,
        name="manage_setup_published_targets",
    ),
]
