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

from accounts.permissions import Permission, require
from competitions import drafts
from competitions.models import Phase, ReferenceVersion
from core.errors import DomainError, ReferencesRejected
from core.messages import text_of
from core.uploads import was_too_large
from web.labels import located_errors
from web.rescoring_forms import ConfirmedForm, DraftForm, ErratumForm
from web.views.desk.frame import Desk, DeskTab, desk_page
from web.views.shared import MemberRequest

TAB: Final = DeskTab("desk_references", gettext_lazy("정답 판"))
DISCARD: Final = gettext_lazy("이 초안을 지웁니다. 되돌릴 수 없습니다.")
PUBLISH: Final = gettext_lazy("이 초안을 현재 정답으로 반영하고, 정오 안내가 있으면 공지로 올립니다.")


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(Permission.VIEW_DESK)
def references_page(request: MemberRequest, desk: Desk) -> HttpResponse:
    """Every version of every phase, without any answer. POST stores a draft."""
    if request.method != "POST":
        return _list_page(request, desk, DraftForm(phases=_phases(desk)))
    require(request.user, desk.competition, Permission.MANAGE)
    form = DraftForm(request.POST, request.FILES, phases=_phases(desk))
    if was_too_large(request):
        form.add_error("file", _("파일이 너무 큽니다."))
        return _list_page(request, desk, form, status=413)
    if not form.is_valid():
        return _list_page(request, desk, form, status=422)
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
        return _list_page(request, desk, form, error=error, status=error.http_status)
    text = _("정답 %(number)d판을 초안으로 저장했습니다. 무엇이 바뀌는지 확인해 주십시오.")
    messages.success(request, text % {"number": version.number})
    return redirect("desk_reference", desk.competition.slug, version.pk)


@require_safe
@never_cache
@desk_page(Permission.VIEW_ANSWERS)
def reference_page(request: MemberRequest, desk: Desk, pk: int) -> HttpResponse:
    """One version beside the current one: old and new answers, and what can be done with a draft."""
    version = _version_of(desk, pk)
    return _one_page(request, desk, version, {})


@require_POST
@desk_page(Permission.MANAGE)
def erratum_action(request: MemberRequest, desk: Desk, pk: int) -> HttpResponse:
    version = _version_of(desk, pk)
    form = ErratumForm(request.POST)
    if not form.is_valid():
        return _one_page(request, desk, version, {"erratum_form": form}, status=422)
    try:
        drafts.edit_erratum(version=version, actor=request.user, **form.cleaned_data)
        messages.success(request, _("정오 안내를 저장했습니다."))
    except DomainError as error:
        messages.error(request, text_of(error))
    return redirect("desk_reference", desk.competition.slug, pk)


@require_POST
@desk_page(Permission.MANAGE)
def publish_action(request: MemberRequest, desk: Desk, pk: int) -> HttpResponse:
    """Publish a draft of a phase without submissions."""
    version = _version_of(desk, pk)
    form = ConfirmedForm(request.POST, label=PUBLISH, prefix="publish")
    if not form.is_valid():
        return _one_page(request, desk, version, {"publish_form": form}, status=422)
    try:
        drafts.publish_draft(version=version, actor=request.user)
        messages.success(request, _("정답 %(number)d판을 반영했습니다.") % {"number": version.number})
    except DomainError as error:
        messages.error(request, text_of(error))
    return redirect("desk_reference", desk.competition.slug, pk)


@require_POST
@desk_page(Permission.MANAGE)
def discard_action(request: MemberRequest, desk: Desk, pk: int) -> HttpResponse:
    version = _version_of(desk, pk)
    form = ConfirmedForm(request.POST, label=DISCARD, prefix="discard")
    if not form.is_valid():
        return _one_page(request, desk, version, {"discard_form": form}, status=422)
    try:
        drafts.discard_draft(version=version, actor=request.user)
    except DomainError as error:
        messages.error(request, text_of(error))
        return redirect("desk_reference", desk.competition.slug, pk)
    messages.success(request, _("초안을 지웠습니다."))
    return redirect("desk_references", desk.competition.slug)


def _phases(desk: Desk) -> Any:
    phases = Phase.objects.filter(track__competition=desk.competition).select_related("track__competition")
    return phases.order_by("track__position", "track_id", "position", "starts_at", "pk")


def _version_of(desk: Desk, pk: int) -> ReferenceVersion:
    versions = ReferenceVersion.objects.select_related("phase__track__competition", "created_by")
    return get_object_or_404(versions, pk=pk, phase__track__competition=desk.competition)


def _list_page(
    request: MemberRequest, desk: Desk, form: DraftForm, *, error: DomainError | None = None, status: int = 200
) -> HttpResponse:
    phases = _phases(desk).prefetch_related("reference_versions__created_by")
    context = desk.context(TAB.url_name) | {
        "form": form,
        "sections": [(phase, list(phase.reference_versions.all())) for phase in phases],
        "errors": located_errors(error.errors) if isinstance(error, ReferencesRejected) else [],
        "total": error.params["total"] if isinstance(error, ReferencesRejected) else 0,
        "sees_answers": desk.may(Permission.VIEW_ANSWERS),
    }
    return render(request, "desk/references.html", context, status=status)


def _one_page(
    request: MemberRequest, desk: Desk, version: ReferenceVersion, forms: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    is_draft = version.published_at is None and not version.is_current
    context = desk.context(TAB.url_name) | {
        "version": version,
        "is_draft": is_draft,
        "diff": drafts.diff_to_current(version) if desk.may(Permission.VIEW_ANSWERS) else None,
        "counts": version.phase.submissions.filter(refunded_at=None).count(),
        "erratum_form": ErratumForm(initial={"erratum_ko": version.erratum_ko, "erratum_en": version.erratum_en}),
        "publish_form": ConfirmedForm(label=PUBLISH, prefix="publish"),
        "discard_form": ConfirmedForm(label=DISCARD, prefix="discard"),
    }
    response = render(request, "desk/references_one.html", context | forms, status=status)
    response["Cache-Control"] = "no-store"
    return response


urlpatterns = [
    path("references/", references_page, name="desk_references"),
    path("references/<int:pk>/", reference_page, name="desk_reference"),
    path("references/<int:pk>/erratum/", erratum_action, name="desk_reference_erratum"),
    path("references/<int:pk>/publish/", publish_action, name="desk_reference_publish"),
    path("references/<int:pk>/discard/", discard_action, name="desk_reference_discard"),
]
