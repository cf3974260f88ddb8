"""Reference versions: upload, compare with the current one, publish with an erratum."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.competitions import drafts
from malpan.competitions.errors import ReferencesRejected
from malpan.competitions.models import Phase, ReferenceVersion
from malpan.competitions.permissions import Permission, require
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.core.uploads import was_too_large
from malpan.submissions.models import Submission
from malpan.submissions.scoring_changes import publish_draft
from malpan.web.forms.rescoring import ConfirmedForm, DraftForm, ErratumForm
from malpan.web.manage.access import ManageAccess, ManageTab, manage_page
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters.scores import located_errors

TAB: Final = ManageTab("manage_references", gettext_lazy("정답 판"))
DISCARD: Final = gettext_lazy("이 초안을 지웁니다. 되돌릴 수 없습니다.")
PUBLISH: Final = gettext_lazy("이 초안을 현재 정답으로 반영하고, 정오 안내가 있으면 공지로 올립니다.")


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.VIEW)
def references_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Every version of every phase, without any answer. POST stores a draft."""
    if request.method != "POST":
        return _list_page(request, access, DraftForm(phases=_phases(access)))
    require(request.user, access.competition, Permission.MANAGE)
    form = DraftForm(request.POST, request.FILES, phases=_phases(access))
    if was_too_large(request):
        form.add_error("file", _("파일이 너무 큽니다."))
        return _list_page(request, access, form, status=413)
    if not form.is_valid():
        return _list_page(request, access, form, status=422)
    values = form.cleaned_data
    try:
        version = drafts.create_draft(
            phase=values["phase"],
            data=values["file"].read(),
            actor=request.user,
            note=values["note"],
            erratum_ko=values["erratum_ko"],
            erratum_en=values["erratum_en"],
        )
    except DomainError as error:
        form.add_error("file", text_of(error))
        return _list_page(request, access, form, error=error, status=error.http_status)
    text = _("정답 %(number)d판을 초안으로 저장했습니다. 무엇이 바뀌는지 확인해 주십시오.")
    messages.success(request, text % {"number": version.number})
    return redirect("manage_reference", access.competition.slug, version.pk)


@require_safe
@never_cache
@manage_page(Permission.VIEW_ANSWERS)
def reference_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """One version beside the current one: old and new answers, and what can be done with a draft."""
    version = _version_of(access, pk)
    return _one_page(request, access, version, {})


@require_POST
@manage_page(Permission.MANAGE)
def erratum_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    version = _version_of(access, pk)
    form = ErratumForm(request.POST)
    if not form.is_valid():
        return _one_page(request, access, version, {"erratum_form": form}, status=422)
    try:
        drafts.edit_erratum(version=version, actor=request.user, **form.cleaned_data)
        messages.success(request, _("정오 안내를 저장했습니다."))
    except DomainError as error:
        messages.error(request, text_of(error))
    return redirect("manage_reference", access.competition.slug, pk)


@require_POST
@manage_page(Permission.MANAGE)
def publish_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Publish a draft of a phase without submissions."""
    version = _version_of(access, pk)
    form = ConfirmedForm(request.POST, label=PUBLISH, prefix="publish")
    if not form.is_valid():
        return _one_page(request, access, version, {"publish_form": form}, status=422)
    try:
        publish_draft(version=version, actor=request.user)
        messages.success(request, _("정답 %(number)d판을 반영했습니다.") % {"number": version.number})
    except DomainError as error:
        messages.error(request, text_of(error))
    return redirect("manage_reference", access.competition.slug, pk)


@require_POST
@manage_page(Permission.MANAGE)
def discard_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    version = _version_of(access, pk)
    form = ConfirmedForm(request.POST, label=DISCARD, prefix="discard")
    if not form.is_valid():
        return _one_page(request, access, version, {"discard_form": form}, status=422)
    try:
        drafts.discard_draft(version=version, actor=request.user)
    except DomainError as error:
        messages.error(request, text_of(error))
        return redirect("manage_reference", access.competition.slug, pk)
    messages.success(request, _("초안을 지웠습니다."))
    return redirect("manage_references", access.competition.slug)


def _phases(access: ManageAccess) -> Any:
    phases = Phase.objects.filter(track__competition=access.competition).select_related("track__competition")
    return phases.order_by("track__position", "track_id", "position", "starts_at", "pk")


def _version_of(access: ManageAccess, pk: int) -> ReferenceVersion:
    versions = ReferenceVersion.objects.select_related("phase__track__competition", "created_by")
    return get_object_or_404(versions, pk=pk, phase__track__competition=access.competition)


def _list_page(
    request: MemberRequest,
    access: ManageAccess,
    form: DraftForm,
    *,
    error: DomainError | None = None,
    status: int = 200,
) -> HttpResponse:
    phases = _phases(access).prefetch_related("reference_versions__created_by")
    context = access.context(TAB.url_name) | {
        "form": form,
        "sections": [(phase, list(phase.reference_versions.all())) for phase in phases],
        "errors": located_errors(error.errors) if isinstance(error, ReferencesRejected) else [],
        "total": error.params["total"] if isinstance(error, ReferencesRejected) else 0,
        "sees_answers": access.may(Permission.VIEW_ANSWERS),
    }
    return render(request, "manage/references.html", context, status=status)


def _one_page(
    request: MemberRequest, access: ManageAccess, version: ReferenceVersion, forms: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    is_draft = version.published_at is None and not version.is_current
    context = access.context(TAB.url_name) | {
        "version": version,
        "is_draft": is_draft,
        "diff": drafts.diff_to_current(version) if access.may(Permission.VIEW_ANSWERS) else None,
        "counts": Submission.objects.counting().filter(phase=version.phase).count(),
        "erratum_form": ErratumForm(initial={"erratum_ko": version.erratum_ko, "erratum_en": version.erratum_en}),
        "publish_form": ConfirmedForm(label=PUBLISH, prefix="publish"),
        "discard_form": ConfirmedForm(label=DISCARD, prefix="discard"),
    }
    response = render(request, "manage/references_one.html", context | forms, status=status)
    response["Cache-Control"] = "no-store"
    return response


urlpatterns = [
    path("references/", references_page, name="manage_references"),
    path("references/<int:pk>/", reference_page, name="manage_reference"),
    path("references/<int:pk>/erratum/", erratum_action, name="manage_reference_erratum"),
    path("references/<int:pk>/publish/", publish_action, name="manage_reference_publish"),
    path("references/<int:pk>/discard/", discard_action, name="manage_reference_discard"),
]
