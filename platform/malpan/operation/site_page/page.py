"""The page of those who keep the site running: who scores, what waits, what fails, what is left, what comes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from malpan.competitions.errors import ManageNotFound
from malpan.core.messages import text_of_code
from malpan.core.times import KST
from malpan.jobs.heartbeat import silence_limit
from malpan.operation.site_page import facts
from malpan.operation.site_page.alarms import alarms
from malpan.operation.site_page.current import facts_of_alarms
from malpan.web.csv_export import csv_response
from malpan.web.pages.context import MemberRequest, members_only
from malpan.web.plots.bars import Column, bars
from malpan.web.presenters.runs import age_text

StaffView = Callable[[MemberRequest], HttpResponse]


def operators_only(view: StaffView) -> Callable[[HttpRequest], HttpResponse]:
    """A view for staff. Visitors are sent to log in; for anybody else there is no such page (``ManageNotFound``)."""

    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        member = cast("MemberRequest", request)
        if not (member.user.is_staff or member.user.is_superuser):
            raise ManageNotFound
        return view(member)

    return members_only(guarded)


@require_safe
@operators_only
def site_page(request: MemberRequest) -> HttpResponse:
    """Everything of one moment; the page asks again only when it is loaded again."""
    now = timezone.now()
    known = facts_of_alarms(now)
    found, lanes, chores, hours = known["scorers"], known["lanes"], known["chores"], facts.day_curve(now)
    context = {
        "now": now,
        "alarms": alarms(**known),
        "scorers": [(line, age_text(line.scorer.silence)) for line in facts.at_work(found)],
        "limit": silence_limit(),
        "lanes": [(lane, age_text(lane.oldest_wait)) for lane in lanes],
        "last_hour": hours[-1],
        "hours": hours,
        "queue_curve": bars([Column(_clock(hour.starts_at), (hour.open,)) for hour in hours]),
        "curve": bars([Column(_clock(hour.starts_at), (hour.finished, hour.failed)) for hour in hours]),
        "totals": {name: sum(getattr(hour, name) for hour in hours) for name in ("finished", "failed", "items")},
        "failures": [(failure, text_of_code(failure.code)) for failure in facts.failures(now)],
        "storage": facts.storage(),
        "disk": known["disk"],
        "mail": known["mail"],
        "backup": chores.get("backup"),
        "chain_check": chores.get("chain_check"),
        "deadlines": facts.deadlines(now),
    }
    return render(request, "manage/site.html", context)


@require_safe
@operators_only
def throughput_csv(request: MemberRequest) -> HttpResponse:
    """The day curve as a table."""
    header = (_("시각"), _("완료"), _("실패"), _("문항 수"), _("남은 채점"))
    rows: list[tuple[Any, ...]] = [
        (hour.starts_at, hour.finished, hour.failed, hour.items, hour.open) for hour in facts.day_curve(timezone.now())
    ]
    return csv_response("throughput.csv", header, rows)


def _clock(moment: datetime) -> str:
    return moment.astimezone(KST).strftime("%H:%M")
