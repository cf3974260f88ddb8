"""Steps 2 and 3 of the set-up: tracks and their phases."""

from __future__ import annotations

from typing import Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.permissions import Permission
from competitions.models import Phase, Track
from competitions.phases import update_phase
from competitions.selectors import get_track, tracks_of
from competitions.services import create_phase, create_track, update_track
from competitions.setting_up import remove_phase, remove_track
from core.errors import DomainError
from core.messages import text_of
from scoring.recipes import RECIPES
from web.desk_forms import ConfirmForm, PhaseForm, TrackForm
from web.labels import language
from web.views.desk.frame import Desk, desk_page
from web.views.desk.setup_frame import posted, steps_of
from web.views.shared import MemberRequest

form_page: Final = require_http_methods(["GET", "HEAD", "POST"])


# --- tracks -----------------------------------------------------------------------------------------------------------
@require_safe
@desk_page(Permission.MANAGE)
def tracks_page(request: MemberRequest, desk: Desk) -> HttpResponse:
    """Step 2: the tracks there are, and the rules to choose from."""
    context = desk.context("desk_setup") | {
        "steps": steps_of(desk, "tracks"),
        "tracks": tracks_of(desk.competition),
        "recipes": _recipes(),
    }
    return render(request, "desk/setup_tracks.html", context)


def _recipes() -> list[tuple[str, str, str]]:
    """(id, title, rule) of every recipe, in the reader's language."""
    return [(each.id, each.title(language()), each.rule(language())) for each in RECIPES.values()]


@form_page
@desk_page(Permission.MANAGE)
def new_track_page(request: MemberRequest, desk: Desk) -> HttpResponse:
    form = TrackForm(posted(request), competition=desk.competition)
    if request.method == "POST" and form.is_valid():
        create_track(actor=request.user, competition=desk.competition, **form.cleaned_data)
        messages.success(request, _("트랙을 만들었습니다."))
        return redirect("desk_setup_tracks", desk.competition.slug)
    return _track_page(request, desk, form, None)


@form_page
@desk_page(Permission.MANAGE)
def track_page(request: MemberRequest, desk: Desk, track_slug: str) -> HttpResponse:
    """Change a track. Raises ``TrackNotFound``."""
    track = get_track(desk.competition, track_slug)
    form = TrackForm(posted(request), competition=desk.competition, instance=Track.objects.get(pk=track.pk))
    if request.method == "POST" and form.is_valid():
        try:
            update_track(track=track, actor=request.user, **form.cleaned_data)
        except DomainError as error:
            form.add_error("recipe", text_of(error))
        else:
            messages.success(request, _("저장했습니다."))
            return redirect("desk_setup_tracks", desk.competition.slug)
    return _track_page(request, desk, form, track)


def _track_page(
    request: MemberRequest, desk: Desk, form: TrackForm, track: Track | None, refusal: str = ""
) -> HttpResponse:
    context = desk.context("desk_setup") | {
        "steps": steps_of(desk, "tracks"),
        "form": form,
        "edited": track,
        "recipes": _recipes(),
        "removal": ConfirmForm(words=_("이 트랙과 그 공개 자료를 지웁니다. 되돌릴 수 없습니다."), auto_id="remove_%s"),
        "refusal": refusal,
    }
    return render(request, "desk/setup_track.html", context, status=422 if form.is_bound or refusal else 200)


@require_POST
@desk_page(Permission.MANAGE)
def remove_track_action(request: MemberRequest, desk: Desk, track_slug: str) -> HttpResponse:
    """Take a track without phases out. Raises ``TrackNotFound``."""
    track = get_track(desk.competition, track_slug)
    refusal = "" if "confirmed" in request.POST else _("확인란에 표시해 주십시오.")
    if not refusal:
        try:
            remove_track(track=track, actor=request.user)
        except DomainError as error:
            refusal = text_of(error)
    if refusal:
        return _track_page(request, desk, TrackForm(competition=desk.competition, instance=track), track, refusal)
    messages.success(request, _("트랙을 지웠습니다."))
    return redirect("desk_setup_tracks", desk.competition.slug)


# --- phases -----------------------------------------------------------------------------------------------------------
@require_safe
@desk_page(Permission.MANAGE)
def phases_page(request: MemberRequest, desk: Desk) -> HttpResponse:
    """Step 3: the phases of every track."""
    context = desk.context("desk_setup") | {
        "steps": steps_of(desk, "phases"),
        "tracks": tracks_of(desk.competition),
    }
    return render(request, "desk/setup_phases.html", context)


@form_page
@desk_page(Permission.MANAGE)
def new_phase_page(request: MemberRequest, desk: Desk, track_slug: str) -> HttpResponse:
    """Add a phase to a track. Raises ``TrackNotFound``."""
    track = get_track(desk.competition, track_slug)
    form = PhaseForm(posted(request), track=track)
    if request.method == "POST" and form.is_valid():
        create_phase(actor=request.user, track=track, **form.values())
        messages.success(request, _("단계를 만들었습니다."))
        return redirect("desk_setup_phases", desk.competition.slug)
    return _phase_page(request, desk, form, track, None)


@form_page
@desk_page(Permission.MANAGE)
def phase_page(request: MemberRequest, desk: Desk, pk: int) -> HttpResponse:
    """Change a phase of this competition; 404 for any other. What the service refuses stands over the form."""
    phase = _phase_of(desk, pk)
    form = PhaseForm(posted(request), track=phase.track, instance=_phase_of(desk, pk))
    if request.method == "POST" and form.is_valid():
        try:
            update_phase(phase=phase, actor=request.user, **form.values())
        except DomainError as error:
            return _phase_page(request, desk, form, phase.track, phase, text_of(error))
        messages.success(request, _("저장했습니다."))
        return redirect("desk_setup_phases", desk.competition.slug)
    return _phase_page(request, desk, form, phase.track, phase)


def _phase_of(desk: Desk, pk: int) -> Phase:
    return get_object_or_404(Phase.objects.select_related("track"), pk=pk, track__competition=desk.competition)


def _phase_page(
    request: MemberRequest, desk: Desk, form: PhaseForm, track: Track, phase: Phase | None, refusal: str = ""
) -> HttpResponse:
    context = desk.context("desk_setup") | {
        "steps": steps_of(desk, "phases"),
        "form": form,
        "track": track,
        "edited": phase,
        "removal": ConfirmForm(words=_("이 단계를 지웁니다. 되돌릴 수 없습니다."), auto_id="remove_%s"),
        "refusal": refusal,
    }
    return render(request, "desk/setup_phase.html", context, status=422 if form.is_bound or refusal else 200)


@require_POST
@desk_page(Permission.MANAGE)
def remove_phase_action(request: MemberRequest, desk: Desk, pk: int) -> HttpResponse:
    """Take a phase out in which nothing was made yet."""
    phase = _phase_of(desk, pk)
    refusal = "" if "confirmed" in request.POST else _("확인란에 표시해 주십시오.")
    if not refusal:
        try:
            remove_phase(phase=phase, actor=request.user)
        except DomainError as error:
            refusal = text_of(error)
    if refusal:
        return _phase_page(request, desk, PhaseForm(track=phase.track, instance=phase), phase.track, phase, refusal)
    messages.success(request, _("단계를 지웠습니다."))
    return redirect("desk_setup_phases", desk.competition.slug)


urlpatterns = [
    path("setup/tracks/", tracks_page, name="desk_setup_tracks"),
    path("setup/new-track/", new_track_page, name="desk_setup_new_track"),
    path("setup/tracks/<slug:track_slug>/", track_page, name="desk_setup_track"),
    path("setup/tracks/<slug:track_slug>/remove/", remove_track_action, name="desk_setup_remove_track"),
    path("setup/tracks/<slug:track_slug>/new-phase/", new_phase_page, name="desk_setup_new_phase"),
    path("setup/phases/", phases_page, name="desk_setup_phases"),
    path("setup/phases/<int:pk>/", phase_page, name="desk_setup_phase"),
    path("setup/phases/<int:pk>/remove/", remove_phase_action, name="desk_setup_remove_phase"),
]
