"""Step 4 of the set-up: reference answers, which are never served again, and files for participants."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.forms import BaseForm
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.competitions.errors import FilesTooLarge
from malpan.competitions.models import DataFile, Phase, ReferenceVersion
from malpan.competitions.permissions import Permission
from malpan.competitions.selectors import get_track, phase_of
from malpan.competitions.services import add_data_file, update_data_file
from malpan.competitions.setup import remove_data_file
from malpan.core.uploads import body_size, was_too_large
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.web.acting import act, posted, refusal_of, refuse
from malpan.web.forms.fields import ConfirmForm
from malpan.web.forms.references import ReferencesForm
from malpan.web.forms.setup import DataFileForm, NewDataFileForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.references import reference_helps, warn_of
from malpan.web.manage.wizard import steps_of
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters.scores import rejected_file
from scoring.particles import fitted


@require_safe
@manage_page(Permission.MANAGE)
def files_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """The files of each phase and track."""
    tracks = access.competition.tracks.prefetch_related("phases__reference_versions", "data_files")
    context = access.context("manage_setup") | {
        "steps": steps_of(access, "files"),
        "sections": [(track, [(phase, _current(phase)) for phase in track.phases.all()]) for track in tracks],
    }
    return render(request, "manage/setup_files.html", context)


def _current(phase: Phase) -> ReferenceVersion | None:
    return next((version for version in phase.reference_versions.all() if version.is_current), None)


def _form_page(
    request: MemberRequest, access: ManageAccess, name: str, form: BaseForm, status: int = 200, **more: Any
) -> HttpResponse:
    context = access.context("manage_setup") | {"steps": steps_of(access, "files"), "form": form, **more}
    return render(request, f"manage/setup_{name}.html", context | rejected_file(refusal_of(form)), status=status)


def _is_too_large(request: MemberRequest, form: BaseForm) -> bool:
    """Whether a file was dropped during the upload; then ``form`` gets an error."""
    if was_too_large(request):
        refuse(form, FilesTooLarge(size_bytes=body_size(request), limit_bytes=settings.UPLOAD_MAX_BYTES))
        return True
    return False


# --- references -------------------------------------------------------------------------------------------------------
@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def references_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Upload the reference answers of a phase of this competition. For a defective file the page lists errors."""
    phase = phase_of(access.competition, pk)
    form = ReferencesForm(posted(request), request.FILES or None, phase=phase)
    if not form.is_bound or _is_too_large(request, form):
        return _references_form(request, access, phase, form, 413 if form.is_bound else 200)
    text = _("정답 %(count)d문항을 등록했습니다.")
    return act(
        request,
        lambda values: warn_of(
            request,
            publish_reference_version(
                phase=phase,
                data=values["file"].read(),
                media=values.get("frames"),
                synonyms=values["synonyms"],
                note=values["note"],
                actor=request.user,
            ),
        ),
        form=form,
        success=lambda version: text % {"count": version.item_count},
        to=access.url("manage_setup_files"),
        render_again=lambda status: _references_form(request, access, phase, form, status),
    )


def _references_form(
    request: MemberRequest, access: ManageAccess, phase: Phase, form: ReferencesForm, status: int
) -> HttpResponse:
    return _form_page(request, access, "references", form, status, phase=phase, helps=reference_helps([phase.track]))


# --- files for participants -------------------------------------------------------------------------------------------
@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def new_file_page(request: MemberRequest, access: ManageAccess, track_slug: str) -> HttpResponse:
    """Offer a file of a track for download. Raises ``TrackNotFound``."""
    track = get_track(access.competition, track_slug)
    form = NewDataFileForm(posted(request), request.FILES or None)
    if not form.is_bound or _is_too_large(request, form):
        return _form_page(request, access, "file", form, 413 if form.is_bound else 200, track=track)
    text = _("‘%(name)s’을(를) 올렸습니다.")
    return act(
        request,
        lambda values: _add_file(track=track, actor=request.user, **values),
        form=form,
        success=lambda file: fitted(text % {"name": file.file_name}),
        to=access.url("manage_setup_files"),
        render_again=lambda status: _form_page(request, access, "file", form, status, track=track),
    )


def _add_file(*, file: Any, **fields: Any) -> DataFile:
    return add_data_file(file_name=file.name, data=file, **fields)


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def file_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Change how a file is offered, or delete it."""
    file = _file_of(access, pk)
    form = DataFileForm(posted(request), instance=_file_of(access, pk))
    if not form.is_bound:
        return _file_page(request, access, file, form)
    return act(
        request,
        lambda values: update_data_file(file=file, actor=request.user, **values),
        form=form,
        success=_("저장했습니다."),
        to=access.url("manage_setup_files"),
        render_again=lambda status: _file_page(request, access, file, form, status=status),
    )


@require_POST
@manage_page(Permission.MANAGE)
def remove_file_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    file, removal = _file_of(access, pk), _removal_form(request.POST)
    return act(
        request,
        lambda _values: remove_data_file(file=file, actor=request.user),
        form=removal,
        success=fitted(_("‘%(name)s’을(를) 내렸습니다.") % {"name": file.file_name}),
        to=access.url("manage_setup_files"),
        render_again=lambda status: _file_page(
            request, access, file, DataFileForm(instance=file), removal=removal, status=status
        ),
    )


def _removal_form(data: Any = None) -> ConfirmForm:
    sentence = _("이 자료를 데이터 탭에서 내립니다. 이미 내려받은 사람에게는 남아 있습니다.")
    return ConfirmForm(data, sentence=sentence, key="remove")


def _file_page(
    request: MemberRequest,
    access: ManageAccess,
    file: DataFile,
    form: DataFileForm,
    *,
    removal: ConfirmForm | None = None,
    status: int = 200,
) -> HttpResponse:
    more = {"file": file, "track": file.track, "removal": removal or _removal_form()}
    return _form_page(request, access, "file", form, status, **more)


def _file_of(access: ManageAccess, pk: int) -> DataFile:
    return get_object_or_404(DataFile.objects.select_related("track"), pk=pk, track__competition=access.competition)


urlpatterns = [
    path("setup/files/", files_page, name="manage_setup_files"),
    path("setup/phases/<int:pk>/references/", references_page, name="manage_setup_references"),
    path("setup/tracks/<slug:track_slug>/new-file/", new_file_page, name="manage_setup_new_file"),
    path("setup/files/<int:pk>/", file_page, name="manage_setup_file"),
    path("setup/files/<int:pk>/remove/", remove_file_action, name="manage_setup_remove_file"),
]
