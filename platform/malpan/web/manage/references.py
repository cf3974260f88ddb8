"""Reference versions: upload, compare with the current one, publish with an erratum."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.competitions import drafts
from malpan.competitions.errors import FilesTooLarge
from malpan.competitions.models import Phase, ReferenceVersion, Track
from malpan.competitions.permissions import Permission, require
from malpan.competitions.references import load_references, recipe_of
from malpan.competitions.selectors import phases_of
from malpan.core.uploads import body_size, was_too_large
from malpan.submissions.models import Submission
from malpan.submissions.scoring_changes import publish_draft
from malpan.web.acting import act, refusal_of, refuse
from malpan.web.forms.fields import ConfirmForm
from malpan.web.forms.references import DraftForm, ErratumForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest, page_of
from malpan.web.presenters.scores import language, rejected_file
from scoring.reading.answer_forms import FormOfYears, reference_forms_of
from scoring.recipes import warning_text

PAGE_SIZE: Final = 50
_Row = tuple[Phase, int | None]  # a phase and one of its versions


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.VIEW)
def references_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Every version of every phase, without any answer. POST stores a draft."""
    phases = phases_of(access.competition)
    if request.method != "POST":
        return _list_page(request, access, DraftForm(phases=phases))
    require(request.user, access.competition, Permission.MANAGE)
    form = DraftForm(request.POST, request.FILES, phases=phases)
    if was_too_large(request):
        refuse(form, FilesTooLarge(size_bytes=body_size(request), limit_bytes=settings.UPLOAD_MAX_BYTES), "file")
        return _list_page(request, access, form, 413)
    text = _("정답 %(number)d판을 초안으로 저장했습니다. 무엇이 바뀌는지 확인해 주십시오.")
    return act(
        request,
        lambda values: _create_draft(request, values),
        form=form,
        success=lambda version: text % {"number": version.number},
        to=lambda version: access.url("manage_reference", version.pk),
        render_again=lambda status: _list_page(request, access, form, status),
        error_field="file",
    )


def _create_draft(request: MemberRequest, values: dict[str, Any]) -> ReferenceVersion:
    given = dict(values)
    version = drafts.create_draft(
        data=given.pop("file").read(), media=given.pop("frames", None), actor=request.user, **given
    )
    return warn_of(request, version)


def reference_helps(tracks: Iterable[Track]) -> list[tuple[Track, tuple[FormOfYears, ...], bool]]:
    """Every track with the forms of its references, and whether these are scored essays."""
    recipes = [(track, recipe_of(track)) for track in tracks]
    return [(track, reference_forms_of(recipe), recipe.answer_form == "essays") for track, recipe in recipes]


def warn_of(request: MemberRequest, version: ReferenceVersion) -> ReferenceVersion:
    """``version``, after showing what its scores will warn of."""
    track = version.phase.track
    for warning in recipe_of(track).file_warnings(load_references(version, track.recipe), None):
        messages.warning(request, warning_text(warning, language()))
    return version


@require_safe
@never_cache
@manage_page(Permission.VIEW_ANSWERS)
def reference_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """One version compared with the current one: old and new answers, and the actions on a draft."""
    return _one_page(request, access, _version_of(access, pk), {})


@require_POST
@manage_page(Permission.MANAGE)
def erratum_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    version, form = _version_of(access, pk), ErratumForm(request.POST)
    return act(
        request,
        lambda values: drafts.edit_erratum(version=version, actor=request.user, **values),
        form=form,
        success=_("정오 안내를 저장했습니다."),
        to=access.url("manage_reference", pk),
        render_again=lambda status: _one_page(request, access, version, {"erratum_form": form}, status),
        refused_above=True,
    )


@require_POST
@manage_page(Permission.MANAGE)
def publish_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Publish a draft of a phase without submissions."""
    version, form = _version_of(access, pk), _publish_form(request.POST)
    return act(
        request,
        lambda _values: publish_draft(version=version, actor=request.user),
        form=form,
        success=_("정답 %(number)d판을 반영했습니다.") % {"number": version.number},
        to=access.url("manage_reference", pk),
        render_again=lambda status: _one_page(request, access, version, {"publish_form": form}, status),
        refused_above=True,
    )


@require_POST
@manage_page(Permission.MANAGE)
def discard_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    version, form = _version_of(access, pk), _discard_form(request.POST)
    return act(
        request,
        lambda _values: drafts.discard_draft(version=version, actor=request.user),
        form=form,
        success=_("초안을 지웠습니다."),
        to=access.url("manage_references"),
        render_again=lambda status: _one_page(request, access, version, {"discard_form": form}, status),
        refused_above=True,
    )


def _publish_form(data: Any = None) -> ConfirmForm:
    sentence = _("이 초안을 현재 정답으로 반영하고, 정오 안내가 있으면 공지로 올립니다.")
    return ConfirmForm(data, sentence=sentence, key="publish")


def _discard_form(data: Any = None) -> ConfirmForm:
    sentence = _(
        "이 초안과 올린 정답 파일을 지웁니다. 지금 쓰는 정답과 점수는 그대로입니다. 되돌릴 수 없으므로 파일은 따로 "
        "갖고 계십시오."
    )
    return ConfirmForm(data, sentence=sentence, key="discard")


def _version_of(access: ManageAccess, pk: int) -> ReferenceVersion:
    versions = ReferenceVersion.objects.select_related("phase__track__competition", "created_by")
    return get_object_or_404(versions, pk=pk, phase__track__competition=access.competition)


def _list_page(request: MemberRequest, access: ManageAccess, form: DraftForm, status: int = 200) -> HttpResponse:
    phases = list(phases_of(access.competition))
    page = page_of(request, _rows_of(phases), PAGE_SIZE)
    context = access.context("manage_references") | {
        "form": form,
        "page": page,
        "sections": _sections(page),
        "sees_answers": access.may(Permission.VIEW_ANSWERS),
        "helps": reference_helps({phase.track_id: phase.track for phase in phases}.values()),
    }
    return render(request, "manage/references.html", context | rejected_file(refusal_of(form)), status=status)


def _rows_of(phases: Sequence[Phase]) -> list[_Row]:
    """Each phase with the primary key of each of its versions, newest first; once with none where it has none."""
    found: dict[int, list[int | None]] = defaultdict(list)
    versions = ReferenceVersion.objects.filter(phase__in=phases).order_by("-number")
    for phase_pk, pk in versions.values_list("phase", "pk"):
        found[phase_pk].append(pk)
    none: list[int | None] = [None]
    return [(phase, pk) for phase in phases for pk in found[phase.pk] or none]


def _sections(rows: Iterable[_Row]) -> list[tuple[Phase, list[ReferenceVersion]]]:
    """The phases of a page with those of their versions that stand on it."""
    parts = [(phase, [pk for _phase, pk in each if pk]) for phase, each in groupby(rows, key=itemgetter(0))]
    numbers = [pk for _phase, pks in parts for pk in pks]
    versions = ReferenceVersion.objects.select_related("created_by").in_bulk(numbers)
    return [(phase, [versions[pk] for pk in pks]) for phase, pks in parts]


def _one_page(
    request: MemberRequest, access: ManageAccess, version: ReferenceVersion, forms: dict[str, Any], status: int = 200
) -> HttpResponse:
    sees = access.may(Permission.VIEW_ANSWERS)
    context = access.context("manage_references") | {
        "version": version,
        "is_draft": version.published_at is None and not version.is_current,
        "diff": drafts.open_diff(version=version, actor=request.user) if sees else None,
        "counts": Submission.objects.counting().filter(phase=version.phase).count(),
        "erratum_form": ErratumForm(initial={"erratum_ko": version.erratum_ko, "erratum_en": version.erratum_en}),
        "publish_form": _publish_form(),
        "discard_form": _discard_form(),
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
