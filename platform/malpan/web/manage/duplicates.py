"""Equal and nearly equal files across teams."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from malpan.competitions.models import Phase
from malpan.competitions.permissions import Permission
from malpan.submissions import manage_selectors
from malpan.submissions.integrity import duplicates
from malpan.web.manage.access import ManageAccess, ManageTab, manage_page
from malpan.web.manage.filters import FilterForm
from malpan.web.pages.context import MemberRequest, page_of
from scoring.errors import InvalidFile

TAB = ManageTab("manage_duplicates", gettext_lazy("중복"))
SHOWN_CHARS = 600


class PhaseField(forms.ModelChoiceField):
    def label_from_instance(self, obj: Phase) -> str:
        return f"{obj.track.title} · {obj.title}"


class PhaseForm(FilterForm):
    phase = PhaseField(Phase.objects.none(), label=gettext_lazy("단계"), empty_label=None)

    def __init__(self, access: ManageAccess, data: Any) -> None:
        phases = Phase.objects.filter(track__competition=access.competition).select_related("track")
        super().__init__(data or None, rows={"phase": phases.order_by("track", "position", "starts_at", "pk")})


class AnswersForm(FilterForm):
    show = forms.ChoiceField(
        label=gettext_lazy("보일 문항"),
        required=False,
        choices=[
            ("", gettext_lazy("모든 문항")),
            ("same", gettext_lazy("답이 같은 문항")),
            ("different", gettext_lazy("답이 다른 문항")),
        ],
    )


@require_safe
@manage_page(Permission.VIEW)
def duplicates_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    form = PhaseForm(access, request.GET)
    phase = form.value("phase") or None
    context = access.context("manage_duplicates") | {
        "shared": manage_selectors.shared_files(access.competition),
        "form": form,
        "phase": phase,
        "alike": duplicates.alike_in(phase) if phase else None,
        "least_percent": int(duplicates.LEAST * 100),
        "fewest": duplicates.FEWEST_ITEMS,
    }
    return render(request, "manage/duplicates.html", context)


@require_safe
@manage_page(Permission.VIEW)
def beside_page(request: MemberRequest, access: ManageAccess, one_id: uuid.UUID, other_id: uuid.UUID) -> HttpResponse:
    one, other = (manage_selectors.submission_of(access.competition, each) for each in (one_id, other_id))
    try:
        answers = duplicates.answers_beside(one, other)
    except InvalidFile:
        answers = []
    form = AnswersForm(request.GET)
    wanted = form.value("show")
    rows = [row for row in answers if not wanted or row.is_same == (wanted == "same")]
    page = page_of(request, rows)
    context = access.context("manage_duplicates") | {
        "one": one,
        "other": other,
        "is_readable": bool(answers),
        "same": sum(row.is_same for row in answers),
        "total": len(answers),
        "form": form,
        "page": page,
        "shown_chars": SHOWN_CHARS,
    }
    return render(request, "manage/duplicates_beside.html", context)


urlpatterns: list[URLPattern] = [
    path("duplicates/", duplicates_page, name="manage_duplicates"),
    path("duplicates/<uuid:one_id>/<uuid:other_id>/", beside_page, name="manage_beside"),
]
