"""Scoring runs: the queue, its age, failures with their cause, retry and cancel."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseStopPolling

from malpan.competitions.permissions import Permission
from malpan.core import audit_selectors
from malpan.core.messages import heading_of, text_of, text_of_code
from malpan.submissions import manage_selectors, retrying
from malpan.submissions.evaluation import actions
from malpan.submissions.evaluation.eta import Forecast
from malpan.submissions.models import ScoringRun
from malpan.submissions.overview_selectors import model_waits_of
from malpan.web.acting import act
from malpan.web.forms.runs import CancelForm, RunFilterForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.tables import query_with
from malpan.web.pages.context import MemberRequest, page_of
from malpan.web.presenters import runs

State = ScoringRun.State
UNFINISHED = frozenset({State.QUEUED, State.RUNNING})


@require_safe
@manage_page(Permission.VIEW)
def runs_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    context = access.context("manage_runs") | _table(request, access)
    context["mark"] = _mark(request, context)
    return render(request, "manage/runs.html", context)


@require_safe
def runs_fragment(request: HttpRequest, slug: str) -> HttpResponse:
    """What htmx polls. 204 while what it shows is the same; a reader whose session ended is told so."""
    if not request.user.is_authenticated:
        return HttpResponseStopPolling(_("로그인이 끊겼습니다. 다시 로그인한 뒤 페이지를 새로 열어 주십시오."))
    return _fragment(request, slug)


@manage_page(Permission.VIEW)
def _fragment(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    context = access.context("manage_runs") | _table(request, access)
    context["mark"] = _mark(request, context)
    if context["mark"] == request.GET.get("mark"):
        return HttpResponse(status=204)
    return render(request, "manage/runs_live.html", context)


def _mark(request: MemberRequest, context: dict[str, Any]) -> str:
    """Changes whenever what the fragment shows changes."""
    shown = render(request, "manage/runs_live.html", context | {"mark": ""}).content
    return hashlib.sha256(shown).hexdigest()[:16]


def _table(request: MemberRequest, access: ManageAccess) -> dict[str, Any]:
    form = RunFilterForm(access.competition, request.GET)
    batch = form.value("batch")
    rows = manage_selectors.runs_of(
        access.competition,
        state=form.value("state"),
        track=form.value("track"),
        team=form.value("team"),
        batch=batch.pk if batch else None,
    )
    page = page_of(request, rows)
    queue = manage_selectors.queue_status(access.competition)
    lines = [runs.line_of(run) for run in page]
    return {
        "form": form,
        "queue": queue,
        "running": [runs.line_of(run) for run in queue.running],
        "model_waits": model_waits_of(access.competition),
        "oldest_age": runs.age_text(queue.oldest_age),
        "page": page,
        "lines": lines,
        "poll_query": query_with(request, mark=""),
        "is_filtered": any(form.value(name) for name in form.fields),
        # ticked boxes would be lost with every refresh: the table is not refreshed where runs are chosen
        "is_choosing": form.value("state") == State.FAILED and access.may(Permission.OPERATE),
        "has_retryable": any(line.can_retry for line in lines),
    }


@require_safe
@manage_page(Permission.VIEW)
def run_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    return _run_page(request, access, manage_selectors.run_of(access.competition, pk), CancelForm())


def _run_page(
    request: MemberRequest, access: ManageAccess, run: ScoringRun, form: CancelForm, status: int = 200
) -> HttpResponse:
    slices = manage_selectors.slice_status(run)  # its metrics are computed slice by slice, not one after the other
    context = access.context("manage_runs") | {
        "line": runs.line_of(run),
        "run": run,
        "run_forecast": Forecast().of(run),
        "track": run.submission.phase.track,
        "steps": [] if slices and run.state != State.FINISHED else runs.steps_of(run),
        "slices": slices,
        "slice_fault": text_of_code(slices.error_code) if slices and slices.error_code else "",
        "others": [runs.line_of(other) for other in manage_selectors.other_runs(run)],
        "entries": _entries(run),
        "signature": json.dumps(run.signature, ensure_ascii=False, indent=2) if run.signature else "",
        "is_unfinished": run.state in UNFINISHED,
        "can_cancel": run.state in UNFINISHED and run.batch_id is None and access.may(Permission.OPERATE),
        "form": form,
    }
    return render(request, "manage/runs_one.html", context, status=status)


def _entries(run: ScoringRun) -> list[Any]:
    """What people did to the run and its submission, newest first."""
    found = [
        *audit_selectors.entries_about(run._meta.label_lower, run.pk),
        *audit_selectors.entries_about(run.submission._meta.label_lower, run.submission_id),
    ]
    return sorted(found, key=lambda entry: -entry.pk)


@require_POST
@manage_page(Permission.OPERATE)
def cancel_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    run = manage_selectors.run_of(access.competition, pk)
    form = CancelForm(request.POST)
    return act(
        request,
        lambda values: actions.cancel_run(run=run, actor=request.user, reason=values["reason"]),
        form=form,
        success=_("채점을 취소하고 제출 횟수를 되돌렸습니다. 참가 팀의 제출 내역에도 표시됩니다."),
        to=access.url("manage_run", pk),
        render_again=lambda status: _run_page(request, access, run, form, status),
        refused_above=True,
    )


@require_POST
@manage_page(Permission.OPERATE)
def retry_action(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Try the chosen runs again, and say of each refused one why."""
    chosen = _numbers(request.POST.getlist("run"))
    if not chosen:
        messages.warning(request, _("다시 채점할 것을 하나 이상 골라 주십시오."))
        return _back(request, access)
    wanted = manage_selectors.runs_of(access.competition).filter(pk__in=chosen).order_by("pk")
    outcome = retrying.retry_runs(runs=wanted, actor=request.user)
    for run, error in outcome.refused:
        about = f"{run.submission.team.name} · #{run.pk}"
        messages.error(request, f"{about} — {heading_of(error)}: {text_of(error)}")
    if outcome.runs:
        text = ngettext(
            "채점 %(count)d건을 다시 대기열에 넣었습니다.",
            "채점 %(count)d건을 다시 대기열에 넣었습니다.",
            len(outcome.runs),
        )
        messages.success(request, text % {"count": len(outcome.runs)})
    return _back(request, access)


def _numbers(texts: list[str]) -> list[int]:
    """The primary keys among ``texts``; what cannot be one is left out."""
    return [int(each) for each in texts if each.isascii() and each.isdigit() and len(each) <= 18]


def _back(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """To the new run of one that was tried again from its own page, else to the failed ones."""
    if chosen := _numbers(request.POST.getlist("from_run")):
        return redirect(access.url("manage_run", chosen[0]))
    return redirect(f"{access.url('manage_runs')}?state=failed")


urlpatterns: list[URLPattern] = [
    path("runs/", runs_page, name="manage_runs"),
    path("runs/live/", runs_fragment, name="manage_runs_live"),
    path("runs/retry/", retry_action, name="manage_runs_retry"),
    path("runs/<int:pk>/", run_page, name="manage_run"),
    path("runs/<int:pk>/cancel/", cancel_action, name="manage_run_cancel"),
]
