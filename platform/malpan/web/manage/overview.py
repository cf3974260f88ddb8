"""The first manage page of a competition: what waits for an organiser, and the checklist before opening."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from malpan.competitions.checklist import Item
from malpan.competitions.permissions import Permission
from malpan.core.messages import duration_text
from malpan.submissions.overview_selectors import open_work_of
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.todo import todo_of
from malpan.web.manage.wizard import Step, checklist_of, groups_of, steps_of
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters.rescoring import batch_lines


@require_safe
@manage_page(Permission.VIEW)
def overview_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """What waits now, what comes next, and the state of the set-up."""
    work = open_work_of(access.competition)
    items = checklist_of(access.competition)
    context = access.context("manage_overview")
    unscored = 0 if context["scorers"].working else work.queued  # nobody takes them
    todo = todo_of(access)
    context |= {
        "work": work,
        "todo": todo,
        "open_batches": batch_lines(work.batches),
        "oldest_wait": duration_text(_rounded_down(work.oldest_wait)) if work.oldest_wait is not None else "",
        "unscored": unscored,
        "is_calm": not (unscored or work.failed or work.questions or work.batches or work.model_waits or todo),
        "groups": groups_of(access, items),
        "steps": _first_steps(access, items),
        "counts": _counts(items),
    }
    return render(request, "manage/overview.html", context)


def _first_steps(access: ManageAccess, items: list[Item]) -> list[tuple[Step, bool]]:
    """The way to the publication for who may walk it, each step with whether it is the next; afterwards none."""
    if access.competition.is_published or not access.may(Permission.MANAGE):
        return []
    steps = steps_of(access, "", items)
    following = next((step for step in steps if step.gaps), steps[-1])
    return [(step, step is following) for step in steps]


def _counts(items: list[Item]) -> dict[str, int]:
    """The number of items of the checklist in each state."""
    return {state: sum(item.state == state for item in items) for state in ("missing", "warn", "ok")}


def _rounded_down(wait: timedelta) -> timedelta:
    """``wait`` rounded down to whole minutes from one minute on, else to seconds."""
    unit = timedelta(minutes=1) if wait >= timedelta(minutes=1) else timedelta(seconds=1)
    return max(wait // unit, 0) * unit


urlpatterns = [path("", overview_page, name="manage_overview")]
