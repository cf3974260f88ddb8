"""How many judgements a campaign needs for intervals of a width, from simulated panels."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from malpan.competitions.permissions import Permission
from malpan.web.forms.arena_planner import STEPS, PlannerForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters.arena_manage import figure_text
from malpan.web.templatetags.malpan import percent
from scoring.arena.planner import Width, plan_widths

REPETITIONS: Final = 3
ANSWERS_KEPT: Final = 32  # in the memory of a process: one takes seconds


@require_safe
@manage_page(Permission.VIEW)
def planner_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """The form and, once it is sent, a row for half, for all and for twice the number of judgements."""
    form = PlannerForm(request.GET) if "systems" in request.GET else PlannerForm()
    context = access.context("manage_arena") | {"form": form}
    if form.is_bound and form.is_valid():
        context["rows"] = [
            (row, figure_text(row.width, 2), figure_text(row.width / 2, 2), percent(row.separated))
            for row in _widths(**form.cleaned_data)
        ]
    status = 422 if form.is_bound and not form.is_valid() else 200
    return render(request, "manage/arena_planner.html", context, status=status)


@lru_cache(maxsize=ANSWERS_KEPT)
def _widths(*, votes: int, tie_percent: int, **values: Any) -> tuple[Width, ...]:
    numbers = [max(20, round(votes * step)) for step in STEPS]
    return plan_widths(tie_rate=tie_percent / 100, votes_per_judge=numbers, repetitions=REPETITIONS, **values)


urlpatterns = [path("arena/planner/", planner_page, name="manage_arena_planner")]
