"""Steps 2 and 3 of the set-up: tracks and their phases."""

from __future__ import annotations

from typing import Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.competitions.models import Phase, Track
from malpan.competitions.permissions import Permission
from malpan.competitions.phases import update_phase
from malpan.competitions.selectors import get_track, tracks_of
from malpan.competitions.services import create_phase, create_track
from malpan.competitions.setup import remove_phase, remove_track
from malpan.competitions.targets import targets_of
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.submissions.scoring_changes import update_track
from malpan.web.forms.manage import ConfirmForm, PhaseForm, TrackForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.wizard import posted, steps_of
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters.scores import language, marks_of
from scoring.recipes import RECIPES

form_page: Final = require_http_methods(["GET", "HEAD", "POST"])


# --- tracks -----------------------------------------------------------------------------------------------------------
@require_safe
@manage_page(Permission.MANAGE)
def tracks_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Step 2: the tracks there are, and the rules to choose from."""
    context = access.context("manage_setup") | {
        "steps": steps_of(access, "tracks"),
        "tracks": tracks_of(access.competition),
        "recipes": _recipes(),
    }
    return render(request, "manage/setup_tracks.html", context)


def _recipes() -> list[tuple[str, str, str]]:
    """(id, title, rule) of every recipe, in the reader's language."""
    return [(each.id, each.title(language()), each.rule(language())) for each in RECIPES.values()]


@form_page
@manage_page(Permission.MANAGE)
def new_track_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    form = TrackForm(posted(request), competition=access.competition)
    if request.method == "POST" and form.is_valid():
        create_track(actor=request.user, competition=access.competition, **form.cleaned_data)
        messages.success(request, _("트랙을 만들었습니다."))
        return redirect("manage_setup_tracks", access.competition.slug)
    return _track_page(request, access, form, None)


@form_page
@manage_page(Permission.MANAGE)
def track_page(request: MemberRequest, access: ManageAccess, track_slug: str) -> HttpResponse:
    """Change a track. Raises ``TrackNotFound``."""
    track = get_track(access.competition, track_slug)
    form = TrackForm(posted(request), competition=access.competition, instance=Track.objects.get(pk=track.pk))
    if request.method == "POST" and form.is_valid():
        try:
            update_track(track=track, actor=request.user, **form.cleaned_data)
        except DomainError as error:
            form.add_error("recipe", text_of(error))
        else:
            messages.success(request, _("저장했습니다."))
            return redirect("manage_setup_tracks", access.competition.slug)
    return _track_page(request, access, form, track)


def _track_page(
    request: MemberRequest, access: ManageAccess, form: TrackForm, track: Track | None, refusal: str = ""
) -> HttpResponse:
    context = access.context("manage_setup") | {
        "steps": steps_of(access, "tracks"),
        "form": form,
        "edited": track,
        "marks": marks_of(track, targets_of(track)) if track else [],
        "recipes": _recipes(),
        "removal": ConfirmForm(words=_("이 트랙과 그 공개 자료를 지웁니다. 되돌릴 수 없습니다."), auto_id="remove_%s"),
        "refusal": refusal,
    }
    return render(request, "manage/setup_track.html", context, status=422 if form.is_bound or refusal else 200)


@require_POST
@manage_page(Permission.MANAGE)
def remove_track_action(request: MemberRequest, access: ManageAccess, track_slug: str) -> HttpResponse:
    """Take a track without phases out. Raises ``TrackNotFound``."""
    track = get_track(access.competition, track_slug)
    refusal = "" if "confirmed" in request.POST else _("확인란에 표시해 주십시오.")
    if not refusal:
        try:
            remove_track(track=track, actor=request.user)
        except DomainError as error:
            refusal = text_of(error)
    if refusal:
        return _track_page(request, access, TrackForm(competition=access.competition, instance=track), track, refusal)
    messages.success(request, _("트랙을 지웠습니다."))
    return redirect("manage_setup_tracks", access.competition.slug)


# --- phases -----------------------------------------------------------------------------------------------------------
@require_safe
@manage_page(Permission.MANAGE)
def phases_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Step 3: the phases of every track."""
    context = access.context("manage_setup") | {
        "steps": steps_of(access, "phases"),
        "tracks": tracks_of(access.competition),
    }
    return render(request, "manage/setup_phases.html", context)


@form_page
@manage_page(Permission.MANAGE)
def new_phase_page(request: MemberRequest, access: ManageAccess, track_slug: str) -> HttpResponse:
    """Add a phase to a track. Raises ``TrackNotFound``."""
    track = get_track(access.competition, track_slug)
    form = PhaseForm(posted(request), track=track)
    if request.method == "POST" and form.is_valid():
        create_phase(actor=request.user, track=track, **form.values())
        messages.success(request, _("단계를 만들었습니다."))
        return redirect("manage_setup_phases", access.competition.slug)
    return _phase_page(request, access, form, track, None)


@form_page
@manage_page(Permission.MANAGE)
def phase_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Change a phase of this competition; 404 for any other. What the service refuses stands over the form."""
    phase = _phase_of(access, pk)
    form = PhaseForm(posted(request), track=phase.track, instance=_phase_of(access, pk))
    if request.method == "POST" and form.is_valid():
        try:
            update_phase(phase=phase, actor=request.user, **form.values())
        except DomainError as error:
            return _phase_page(request, access, form, phase.track, phase, text_of(error))
        messages.success(request, _("저장했습니다."))
        return redirect("manage_setup_phases", access.competition.slug)
    return _phase_page(request, access, form, phase.track, phase)


def _phase_of(access: ManageAccess, pk: int) -> Phase:
    return get_object_or_404(Phase.objects.select_related("track"), pk=pk, track__competition=access.competition)


def _phase_page(
    request: MemberRequest, access: ManageAccess, form: PhaseForm, track: Track, phase: Phase | None, refusal: str = ""
) -> HttpResponse:
    context = access.context("manage_setup") | {
        "steps": steps_of(access, "phases"),
        "form": form,
        "track": track,
        "edited": phase,
        "removal": ConfirmForm(words=_("이 단계를 지웁니다. 되돌릴 수 없습니다."), auto_id="remove_%s"),
        "refusal": refusal,
    }
    return render(request, "manage/setup_phase.html", context, status=422 if form.is_bound or refusal else 200)


@require_POST
@manage_page(Permission.MANAGE)
def remove_phase_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Take a phase out in which nothing was made yet."""
    phase = _phase_of(access, pk)
    refusal = "" if "confirmed" in request.POST else _("확인란에 표시해 주십시오.")
    if not refusal:
        try:
            remove_phase(phase=phase, actor=request.user)
        except DomainError as error:
            refusal = text_of(error)
    if refusal:
        return _phase_page(request, access, PhaseForm(track=phase.track, instance=phase), phase.track, phase, refusal)
    messages.success(request, _("단계를 지웠습니다."))
    return redirect("manage_setup_phases", access.competition.slug)


urlpatterns = [
    path("setup/tracks/", tracks_page, name="manage_setup_tracks"),
    path("setup/new-track/", new_track_page, name="manage_setup_new_track"),
    path("setup/tracks/<slug:track_slug>/", track_page, name="manage_setup_track"),
    path("setup/tracks/<slug:track_slug>/remove/", remove_track_action, name="manage_setup_remove_track"),
    path("setup/tracks/<slug:track_slug>/new-phase/", new_phase_page, name="manage_setup_new_phase"),
    path("setup/phases/", phases_page, name="manage_setup_phases"),
    path("setup/phases/<int:pk>/", phase_page, name="manage_setup_phase"),
    path("setup/phases/<int:pk>/remove/", remove_phase_action, name="manage_setup_remove_phase"),
]
