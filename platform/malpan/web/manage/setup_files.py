"""Step 4 of the set-up: reference answers, which go in and never come out, and files for participants."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.competitions.errors import MediaTooLarge, ReferencesRejected
from malpan.competitions.models import DataFile, Phase, Track
from malpan.competitions.permissions import Permission
from malpan.competitions.selectors import get_track
from malpan.competitions.services import add_data_file
from malpan.competitions.setup import remove_data_file
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.core.uploads import body_size, was_too_large
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.web.forms.manage import ConfirmForm, DataFileForm, ReferencesForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.wizard import posted, steps_of
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters.scores import located_errors

form_page: Final = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
@manage_page(Permission.MANAGE)
def files_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Step 4: what is there of each phase and track."""
    tracks = access.competition.tracks.prefetch_related("phases__reference_versions", "data_files")
    context = access.context("manage_setup") | {
        "steps": steps_of(access, "files"),
        "sections": [(track, [(phase, _current(phase)) for phase in track.phases.all()]) for track in tracks],
    }
    return render(request, "manage/setup_files.html", context)


def _current(phase: Phase) -> Any:
    return next((version for version in phase.reference_versions.all() if version.is_current), None)


# --- references -------------------------------------------------------------------------------------------------------
@form_page
@manage_page(Permission.MANAGE)
def references_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Upload the reference answers of a phase of this competition. A defective file is answered by where it fails."""
    phase = get_object_or_404(Phase.objects.select_related("track"), pk=pk, track__competition=access.competition)
    form = ReferencesForm(posted(request), request.FILES)
    if request.method != "POST":
        return _references_page(request, access, phase, form)
    if was_too_large(request):
        return _references_page(request, access, phase, form, _too_large(request), 413)
    if not form.is_valid():
        return _references_page(request, access, phase, form, status=422)
    try:
        version = publish_reference_version(
            phase=phase,
            data=form.cleaned_data["file"].read(),
            media=form.cleaned_data["frames"],
            note=form.cleaned_data["note"],
            actor=request.user,
        )
    except DomainError as error:
        return _references_page(request, access, phase, form, error, error.http_status)
    messages.success(request, _("정답 %(count)d문항을 등록했습니다.") % {"count": version.item_count})
    return redirect("manage_setup_files", access.competition.slug)


def _references_page(
    request: MemberRequest,
    access: ManageAccess,
    phase: Phase,
    form: ReferencesForm,
    error: DomainError | None = None,
    status: int = 200,
) -> HttpResponse:
    is_located = isinstance(error, ReferencesRejected)
    context = access.context("manage_setup") | {
        "steps": steps_of(access, "files"),
        "phase": phase,
        "form": form,
        "refusal": text_of(error) if error else "",
        "errors": located_errors(error.errors) if isinstance(error, ReferencesRejected) else [],
        "total": error.params["total"] if error and is_located else 0,
    }
    return render(request, "manage/setup_references.html", context, status=status)


def _too_large(request: MemberRequest) -> MediaTooLarge:
    return MediaTooLarge(size_bytes=body_size(request), limit_bytes=settings.UPLOAD_MAX_BYTES)


# --- files for participants -------------------------------------------------------------------------------------------
@form_page
@manage_page(Permission.MANAGE)
def data_file_page(request: MemberRequest, access: ManageAccess, track_slug: str) -> HttpResponse:
    """Offer a file of a track for download. Raises ``TrackNotFound``."""
    track = get_track(access.competition, track_slug)
    form = DataFileForm(posted(request), request.FILES)
    if request.method != "POST":
        return _data_file_page(request, access, track, form)
    if was_too_large(request):
        return _data_file_page(request, access, track, form, _too_large(request), 413)
    if not form.is_valid():
        return _data_file_page(request, access, track, form, status=422)
    fields = dict(form.cleaned_data)
    upload = fields.pop("file")
    try:
        add_data_file(track=track, actor=request.user, file_name=upload.name, data=upload, **fields)
    except DomainError as error:
        return _data_file_page(request, access, track, form, error, error.http_status)
    messages.success(request, _("‘%(name)s’을(를) 올렸습니다.") % {"name": upload.name})
    return redirect("manage_setup_files", access.competition.slug)


def _data_file_page(
    request: MemberRequest,
    access: ManageAccess,
    track: Track,
    form: DataFileForm,
    error: DomainError | None = None,
    status: int = 200,
) -> HttpResponse:
    context = access.context("manage_setup") | {
        "steps": steps_of(access, "files"),
        "track": track,
        "form": form,
        "refusal": text_of(error) if error else "",
    }
    return render(request, "manage/setup_file.html", context, status=status)


@require_safe
@manage_page(Permission.MANAGE)
def removal_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Ask before a file is taken out."""
    return _removal_page(request, access, _file_of(access, pk), ConfirmForm(words=_removal_words()))


@require_POST
@manage_page(Permission.MANAGE)
def remove_file_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    file = _file_of(access, pk)
    form = ConfirmForm(request.POST, words=_removal_words())
    if not form.is_valid():
        return _removal_page(request, access, file, form, 422)
    remove_data_file(file=file, actor=request.user)
    messages.success(request, _("‘%(name)s’을(를) 내렸습니다.") % {"name": file.file_name})
    return redirect("manage_setup_files", access.competition.slug)


def _removal_words() -> str:
    return _("이 자료를 데이터 탭에서 내립니다. 이미 내려받은 사람에게는 남아 있습니다.")


def _file_of(access: ManageAccess, pk: int) -> DataFile:
    return get_object_or_404(DataFile.objects.select_related("track"), pk=pk, track__competition=access.competition)


def _removal_page(
    request: MemberRequest, access: ManageAccess, file: DataFile, form: ConfirmForm, status: int = 200
) -> HttpResponse:
    context = access.context("manage_setup") | {"steps": steps_of(access, "files"), "file": file, "form": form}
    return render(request, "manage/setup_file_removal.html", context, status=status)


urlpatterns = [
    path("setup/files/", files_page, name="manage_setup_files"),
    path("setup/phases/<int:pk>/references/", references_page, name="manage_setup_references"),
    path("setup/tracks/<slug:track_slug>/new-file/", data_file_page, name="manage_setup_new_file"),
    path("setup/files/<int:pk>/", removal_page, name="manage_setup_file"),
    path("setup/files/<int:pk>/remove/", remove_file_action, name="manage_setup_remove_file"),
]
