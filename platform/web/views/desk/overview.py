"""The desk's first page: what waits for an organiser, and the checklist before opening."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from accounts.permissions import Permission
from competitions.checklist import Item
from core.messages import duration_text
from submissions.workload import workload_of
from web.views.desk.frame import Desk, DeskTab, desk_page
from web.views.desk.setup import checklist_of, groups_of
from web.views.shared import MemberRequest

TAB = DeskTab("desk_overview", gettext_lazy("한눈에"))


@require_safe
@desk_page(Permission.VIEW_DESK)
def overview_page(request: MemberRequest, desk: Desk) -> HttpResponse:
    """What waits now, what comes next, and how the set-up stands."""
    work = workload_of(desk.competition)
    items = checklist_of(desk.competition)
    context = desk.context("desk_overview") | {
        "work": work,
        "oldest_wait": duration_text(_whole(work.oldest_wait)) if work.oldest_wait is not None else "",
        "is_calm": not (work.failed or work.questions or work.batches),
        "groups": groups_of(desk, items),
        "counts": _counts(items),
    }
    return render(request, "desk/overview.html", context)


def _counts(items: list[Item]) -> dict[str, int]:
    """How many items of the checklist stand how."""
    return {state: sum(item.state == state for item in items) for state in ("missing", "warn", "ok")}


def _whole(wait: timedelta) -> timedelta:
    """``wait`` in the unit people speak of: whole minutes from one minute on, else seconds."""
    unit = timedelta(minutes=1) if wait >= timedelta(minutes=1) else timedelta(seconds=1)
    return max(wait // unit, 0) * unit


urlpatterns = [path("", overview_page, name="desk_overview")]
