"""How many judgements a campaign needs for intervals of a width, from simulated panels."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from malpan.arena.planning import least_judgements, plan_panel
from malpan.competitions.permissions import Permission
from malpan.web.forms.arena_planner import PlannerForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.arena_pages import or_waiting
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters.arena_manage import figure_text
from malpan.web.templatetags.malpan import percent


@require_safe
@manage_page(Permission.VIEW)
def planner_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """The form and, once it is sent, a row for half, for all and for twice the number of judgements."""
    form = PlannerForm(request.GET) if "systems" in request.GET else PlannerForm()
    context = access.context("manage_arena") | {"form": form}
    if form.is_bound and form.is_valid():
        values = dict(form.cleaned_data)
        half_width = values.pop("half_width")
        rows, missing = or_waiting(lambda: plan_panel(competition=access.competition, **values))
        context |= missing | {"rows": [_line(row) for row in rows or ()], "is_of_pairs": form.is_of_pairs()}
        if rows and half_width is not None:
            context |= {"half_width": half_width, "need": least_judgements(rows, half_width)}
    status = 422 if form.is_bound and not form.is_valid() else 200
    return render(request, "manage/arena_planner.html", context, status=status)


def _line(row: dict[str, Any]) -> tuple[dict[str, Any], str, str, str]:
    width = row["width"]
    half = "–" if width is None else f"±{figure_text(width / 2, 2)}"
    return row, figure_text(width, 2), half, percent(row["separated"])


urlpatterns = [path("arena/planner/", planner_page, name="manage_arena_planner")]
