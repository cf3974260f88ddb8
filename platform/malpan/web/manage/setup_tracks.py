"""Step 2 of the set-up: tracks."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.competitions.errors import CompositeInUse, CompositeInvalid
from malpan.competitions.models import Track
from malpan.competitions.permissions import Permission
from malpan.competitions.selectors import get_track, tracks_of
from malpan.competitions.services import create_track
from malpan.competitions.setup import remove_track
from malpan.competitions.targets import targets_of
from malpan.core.errors import DomainError
from malpan.submissions.scoring_changes import update_track
from malpan.web.acting import act, posted
from malpan.web.forms.composites import names_of_scores
from malpan.web.forms.fields import ConfirmForm
from malpan.web.forms.setup import TrackForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.wizard import steps_of
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters.scores import language, marks_of
from scoring.recipes import RECIPES


@require_safe
@manage_page(Permission.MANAGE)
def tracks_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """The existing tracks, and the rules to choose from."""
    context = access.context("manage_setup") | {
        "steps": steps_of(access, "tracks"),
        "tracks": tracks_of(access.competition),
        "recipes": _recipes(),
    }
    return render(request, "manage/setup_tracks.html", context)


def _recipes() -> list[tuple[str, str, str, str, str]]:
    """(id, title, rule, scores that may rank, components of its composite) of every recipe, for the reader."""
    return [
        (
            *(each.id, each.title(language()), each.rule(language())),
            names_of_scores(each),
            ", ".join(f"{component.score} {component.weight:g}" for component in each.composite),
        )
        for each in RECIPES.values()
    ]


def _field_at_fault(error: DomainError) -> str:
    return "composite" if isinstance(error, CompositeInvalid | CompositeInUse) else "recipe"


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def new_track_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    form = _track_form(request, access)
    if not form.is_bound:
        return _track_page(request, access, form, None)
    return act(
        request,
        lambda values: create_track(actor=request.user, competition=access.competition, **values),
        form=form,
        success=_("트랙을 만들었습니다."),
        to=access.url("manage_setup_tracks"),
        render_again=lambda status: _track_page(request, access, form, None, status=status),
        error_field=_field_at_fault,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def track_page(request: MemberRequest, access: ManageAccess, track_slug: str) -> HttpResponse:
    """Change a track. Raises ``TrackNotFound``."""
    track = get_track(access.competition, track_slug)
    form = _track_form(request, access, Track.objects.get(pk=track.pk))
    if not form.is_bound:
        return _track_page(request, access, form, track)
    return act(
        request,
        lambda values: update_track(track=track, actor=request.user, **values),
        form=form,
        success=_("저장했습니다."),
        to=access.url("manage_setup_tracks"),
        render_again=lambda status: _track_page(request, access, form, track, status=status),
        error_field=_field_at_fault,
    )


@require_POST
@manage_page(Permission.MANAGE)
def remove_track_action(request: MemberRequest, access: ManageAccess, track_slug: str) -> HttpResponse:
    """Delete a track without phases. Raises ``TrackNotFound``."""
    track, removal = get_track(access.competition, track_slug), _removal_form(request.POST)
    form = TrackForm(competition=access.competition, instance=track)
    return act(
        request,
        lambda _values: remove_track(track=track, actor=request.user),
        form=removal,
        success=_("트랙을 지웠습니다."),
        to=access.url("manage_setup_tracks"),
        render_again=lambda status: _track_page(request, access, form, track, removal=removal, status=status),
    )


def _track_form(request: MemberRequest, access: ManageAccess, track: Track | None = None) -> TrackForm:
    is_administrator = request.user.is_superuser
    return TrackForm(posted(request), competition=access.competition, instance=track, may_name_path=is_administrator)


def _removal_form(data: Any = None) -> ConfirmForm:
    sentence = _("이 트랙과 그 공개 자료를 지웁니다. 단계가 없는 트랙만 지울 수 있고, 되돌릴 수 없습니다.")
    return ConfirmForm(data, sentence=sentence, key="remove")


def _track_page(
    request: MemberRequest,
    access: ManageAccess,
    form: TrackForm,
    track: Track | None,
    *,
    removal: ConfirmForm | None = None,
    status: int = 200,
) -> HttpResponse:
    context = access.context("manage_setup") | {
        "steps": steps_of(access, "tracks"),
        "form": form,
        "edited": track,
        "marks": marks_of(track, targets_of(track)) if track else [],
        "recipes": _recipes(),
        "removal": removal or _removal_form(),
    }
    return render(request, "manage/setup_track.html", context, status=status)


urlpatterns = [
    path("setup/tracks/", tracks_page, name="manage_setup_tracks"),
    path("setup/new-track/", new_track_page, name="manage_setup_new_track"),
    path("setup/tracks/<slug:track_slug>/", track_page, name="manage_setup_track"),
    path("setup/tracks/<slug:track_slug>/remove/", remove_track_action, name="manage_setup_remove_track"),
]
