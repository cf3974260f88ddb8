"""Rescoring batches: the workflow of a changed rule, from the start to the applied board, and repetitions."""

from __future__ import annotations

import itertools
from typing import Any, Final

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.competitions.models import Phase
from malpan.competitions.permissions import Permission
from malpan.competitions.selectors import phase_of, phases_of
from malpan.submissions.errors import SubmissionNotFound
from malpan.submissions.manage_selectors import submission_of
from malpan.submissions.models import RescoreBatch
from malpan.submissions.rescoring import batches
from malpan.submissions.rescoring import services as rescoring
from malpan.web.acting import act
from malpan.web.forms.rescoring import RepeatForm, StartForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest, page_of
from malpan.web.presenters import rescoring as tables

REPEAT_REASON: Final = "반복 채점"
PAGE_SIZE: Final = 50  # lines, each of one batch or of those that were started together


@require_safe
@manage_page(Permission.VIEW)
def rescoring_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """The batches of the competition, and the form for a new one."""
    return _list_page(request, access, RepeatForm(initial={"submission": request.GET.get("submission", "")}))


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.OPERATE)
def start_page(request: MemberRequest, access: ManageAccess, phase_pk: int) -> HttpResponse:
    """Step 1 of the workflow: what changes, for whom, why. POST starts the batch."""
    phase = phase_of(access.competition, phase_pk)
    if request.method != "POST":
        initial = {"reference_version": request.GET.get("reference_version")}
        return _start_page(request, access, phase, StartForm(phase=phase, initial=initial))
    form = StartForm(request.POST, phase=phase)
    return act(
        request,
        lambda values: rescoring.start_batch(
            phase=phase,
            selection=form.selection(),
            reason=values["reason"],
            actor=request.user,
            also=list(values.get("also", ())),
            reference_version=values["reference_version"],
            recipe=values["recipe"],
            profile=values["profile"],
            is_from_scratch=values["is_from_scratch"],
        ),
        form=form,
        success=_("재채점을 시작했습니다. 순위표는 적용할 때까지 바뀌지 않습니다."),
        to=lambda batch: access.url("manage_rescoring_batch", batch.pk),
        render_again=lambda status: _start_page(request, access, phase, form, status),
    )


@require_POST
@manage_page(Permission.OPERATE)
def repeat_action(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    form = RepeatForm(request.POST)
    return act(
        request,
        lambda values: _repeat(request, access, values),
        form=form,
        to=lambda batch: access.url("manage_rescoring_batch", batch.pk),
        render_again=lambda status: _list_page(request, access, form, status),
        error_field=lambda error: "submission" if isinstance(error, SubmissionNotFound) else None,
    )


def _repeat(request: MemberRequest, access: ManageAccess, values: dict[str, Any]) -> RescoreBatch:
    """Start the repetitions. Raises ``SubmissionNotFound`` for a submission of another competition."""
    submission = submission_of(access.competition, values["submission"])
    return rescoring.start_batch(
        phase=submission.phase,
        selection=batches.Selection(submissions=(submission.pk,)),
        reason=REPEAT_REASON,
        actor=request.user,
        repeats=values["repeats"],
    )


def _list_page(
    request: MemberRequest, access: ManageAccess, repeat_form: RepeatForm, status: int = 200
) -> HttpResponse:
    page = page_of(request, batches.numbers_together(access.competition), PAGE_SIZE)
    numbers = itertools.chain.from_iterable(page)
    rows = RescoreBatch.objects.select_related("phase__track", "created_by", "reference_version")
    context = access.context("manage_rescoring") | {
        "phases": phases_of(access.competition),
        "lines": tables.batch_lines(rows.filter(pk__in=numbers)),
        "page": page,
        "repeat_form": repeat_form,
    }
    return render(request, "manage/rescoring.html", context, status=status)


def _start_page(
    request: MemberRequest, access: ManageAccess, phase: Phase, form: StartForm, status: int = 200
) -> HttpResponse:
    context = access.context("manage_rescoring") | {
        "phase": phase,
        "form": form,
        "open_batch": batches.open_batch(phase),
        "submissions": batches.Selection().submissions_of(phase).count(),
        "step": 1,
    }
    return render(request, "manage/rescoring_start.html", context, status=status)


urlpatterns = [
    path("rescoring/", rescoring_page, name="manage_rescoring"),
    path("rescoring/start/<int:phase_pk>/", start_page, name="manage_rescoring_start"),
    path("rescoring/repeat/", repeat_action, name="manage_rescoring_repeat"),
]
