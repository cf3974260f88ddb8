"""Rescoring batches: the workflow of a rule that changes, from the start to the applied board, and repetitions."""

from __future__ import annotations

import uuid
from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseStopPolling

from malpan.competitions.models import Phase
from malpan.competitions.permissions import Permission, require
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.leaderboard.rescore_preview import preview
from malpan.submissions.models import RescoreBatch, Submission
from malpan.submissions.rescoring import apply, batches, deltas
from malpan.submissions.rescoring import services as rescoring
from malpan.web.csv_export import csv_response
from malpan.web.forms.rescoring import ApplyForm, ConfirmedForm, ExcludeForm, RepeatForm, StartForm
from malpan.web.manage.access import ManageAccess, ManageTab, manage_page
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters import rescoring as tables

TAB: Final = ManageTab("manage_rescoring", gettext_lazy("재채점"))
CANCEL: Final = gettext_lazy("이 재채점을 취소합니다. 점수와 순위는 지금 그대로 남습니다.")
REPEAT_REASON: Final = "반복 채점"


@require_safe
@manage_page(Permission.VIEW)
def rescoring_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """The batches of the competition, and where a new one begins."""
    return _list_page(request, access, RepeatForm(initial={"submission": request.GET.get("submission", "")}))


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.OPERATE)
def start_page(request: MemberRequest, access: ManageAccess, phase_pk: int) -> HttpResponse:
    """Step 1 of the workflow: what changes, for whom, why. POST starts the batch."""
    phase = get_object_or_404(
        Phase.objects.select_related("track__competition"), pk=phase_pk, track__competition=access.competition
    )
    if request.method != "POST":
        initial = {"reference_version": request.GET.get("reference_version")}
        return _start_page(request, access, phase, StartForm(phase=phase, initial=initial))
    form = StartForm(request.POST, phase=phase)
    if not form.is_valid():
        return _start_page(request, access, phase, form, status=422)
    values = form.cleaned_data
    try:
        batch = rescoring.start_batch(
            phase=phase,
            selection=form.selection(),
            reason=values["reason"],
            actor=request.user,
            reference_version=values["reference_version"],
            recipe=values["recipe"],
            profile=values["profile"],
        )
    except DomainError as error:
        form.add_error(None, text_of(error))
        return _start_page(request, access, phase, form, status=error.http_status)
    messages.success(request, _("재채점을 시작했습니다. 순위표는 적용할 때까지 바뀌지 않습니다."))
    return redirect("manage_rescoring_batch", access.competition.slug, batch.pk)


@require_POST
@manage_page(Permission.OPERATE)
def repeat_action(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    form = RepeatForm(request.POST)
    if not form.is_valid():
        return _list_page(request, access, form, status=422)
    submission = _submission_of(access, form.cleaned_data["submission"])
    if submission is None:
        form.add_error("submission", _("이 대회에 그런 제출이 없습니다."))
        return _list_page(request, access, form, status=404)
    try:
        batch = rescoring.start_batch(
            phase=submission.phase,
            selection=batches.Selection(submissions=(submission.pk,)),
            reason=REPEAT_REASON,
            actor=request.user,
            repeats=form.cleaned_data["repeats"],
        )
    except DomainError as error:
        form.add_error(None, text_of(error))
        return _list_page(request, access, form, status=error.http_status)
    return redirect("manage_rescoring_batch", access.competition.slug, batch.pk)


@require_safe
@manage_page(Permission.VIEW)
def batch_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """One batch: its progress, its preview, and what can be done with it."""
    return _batch_page(request, access, rescoring.get_batch(access.competition.pk, pk), {})


@require_GET
@manage_page(Permission.VIEW)
def progress_fragment(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """What htmx polls: 204 while nothing changed. Once the batch is no longer running the whole page is loaded anew."""
    batch = rescoring.get_batch(access.competition.pk, pk)
    progress = batches.progress_of(batch)
    if not batch.is_open or progress.is_complete or (progress.failed and not progress.unfinished):
        response: HttpResponse = HttpResponseStopPolling()
        response["HX-Refresh"] = "true"
        return response
    if request.GET.get("mark") == tables.mark_of(progress):
        return HttpResponse(status=204)
    return render(request, "manage/rescoring_progress.html", tables.progress_context(progress))


@require_safe
@manage_page(Permission.VIEW_HIDDEN)
def preview_csv(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Every submission before and after, hidden scores included."""
    batch = rescoring.get_batch(access.competition.pk, pk)
    found = preview(batch)
    head, lines = deltas.as_table(found.rows, found.score_names, has_hidden=found.has_hidden)
    return csv_response(f"{access.competition.slug}-rescoring-{batch.pk}.csv", head, lines)


@require_POST
@manage_page(Permission.OPERATE)
def retry_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    batch = rescoring.get_batch(access.competition.pk, pk)
    try:
        count = rescoring.retry_failed(batch=batch, actor=request.user)
        messages.success(request, _("실패한 %(count)d건을 다시 채점합니다.") % {"count": count})
    except DomainError as error:
        messages.error(request, text_of(error))
    return redirect("manage_rescoring_batch", access.competition.slug, pk)


@require_POST
@manage_page(Permission.OPERATE)
def exclude_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    batch = rescoring.get_batch(access.competition.pk, pk)
    form = ExcludeForm(request.POST)
    if not form.is_valid():
        return _batch_page(request, access, batch, {"exclude_form": form}, status=422)
    submission = get_object_or_404(Submission, pk=form.cleaned_data["submission"], phase=batch.phase)
    try:
        rescoring.exclude_submission(
            batch=batch, submission=submission, reason=form.cleaned_data["reason"], actor=request.user
        )
        messages.success(request, _("이 제출을 재채점에서 제외했습니다. 지금 점수는 그대로 남습니다."))
    except DomainError as error:
        messages.error(request, text_of(error))
    return redirect("manage_rescoring_batch", access.competition.slug, pk)


@require_POST
@manage_page(Permission.MANAGE)
def apply_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """The last step: everything at once."""
    batch = rescoring.get_batch(access.competition.pk, pk)
    form = ApplyForm(request.POST, hurts_others=bool(apply.other_phases_hurt(batch)))
    if not form.is_valid():
        return _batch_page(request, access, batch, {"apply_form": form}, status=422)
    values = form.cleaned_data
    try:
        rescoring.apply_batch(
            batch=batch,
            actor=request.user,
            resets_quota=values["resets_quota"],
            grants_slots=values["grants_slots"] or 0,
            announcement=form.announcement(),
            leaves_other_phases=values.get("leaves_other_phases", False),
        )
    except DomainError as error:
        form.add_error(None, text_of(error))
        return _batch_page(request, access, batch, {"apply_form": form}, status=error.http_status)
    messages.success(request, _("재채점을 적용했습니다. 모든 점수와 순위가 한꺼번에 바뀌었습니다."))
    return redirect("manage_rescoring_batch", access.competition.slug, pk)


@require_POST
@manage_page(Permission.OPERATE)
def cancel_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    batch = rescoring.get_batch(access.competition.pk, pk)
    form = ConfirmedForm(request.POST, label=CANCEL, prefix="cancel")
    if not form.is_valid():
        return _batch_page(request, access, batch, {"cancel_form": form}, status=422)
    try:
        rescoring.cancel_batch(batch=batch, actor=request.user)
        messages.success(request, _("재채점을 취소했습니다. 점수와 순위는 그대로입니다."))
    except DomainError as error:
        messages.error(request, text_of(error))
    return redirect("manage_rescoring_batch", access.competition.slug, pk)


def _submission_of(access: ManageAccess, public_id: uuid.UUID) -> Submission | None:
    rows = Submission.objects.of(access.competition).filter(public_id=public_id)
    return rows.select_related("phase__track__competition").first()


def _list_page(
    request: MemberRequest, access: ManageAccess, repeat_form: RepeatForm, *, status: int = 200
) -> HttpResponse:
    phases = Phase.objects.filter(track__competition=access.competition).select_related("track")
    found = RescoreBatch.objects.filter(competition=access.competition).select_related(
        "phase__track", "created_by", "reference_version"
    )
    context = access.context(TAB.url_name) | {
        "phases": phases.order_by("track__position", "track_id", "position", "starts_at", "pk"),
        "lines": tables.batch_lines(found),
        "repeat_form": repeat_form,
    }
    return render(request, "manage/rescoring.html", context, status=status)


def _start_page(
    request: MemberRequest, access: ManageAccess, phase: Phase, form: StartForm, *, status: int = 200
) -> HttpResponse:
    context = access.context(TAB.url_name) | {
        "phase": phase,
        "form": form,
        "open_batch": batches.open_batch(phase),
        "submissions": batches.Selection().submissions_of(phase).count(),
        "step": 1,
    }
    return render(request, "manage/rescoring_start.html", context, status=status)


def _batch_page(
    request: MemberRequest, access: ManageAccess, batch: RescoreBatch, forms: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    require(request.user, access.competition, Permission.VIEW)
    state = batches.state_of(batch)
    hurt = apply.other_phases_hurt(batch) if batch.is_open else 0
    context = access.context(TAB.url_name) | {
        "batch": batch,
        "state": state,
        "is_open": batch.is_open,
        "is_repeat": batch.repeats > 1,
        "step": tables.step_of(state),
        "hurt": hurt,
        "apply_form": ApplyForm(hurts_others=bool(hurt)),
        "cancel_form": ConfirmedForm(label=CANCEL, prefix="cancel"),
        "exclude_form": ExcludeForm(),
    }
    context |= tables.progress_context(batches.progress_of(batch)) | tables.facts_of(batch)
    if batch.repeats > 1:
        context |= tables.spread_context(batch)
    elif state != RescoreBatch.State.RUNNING:
        context |= tables.preview_context(batch, request.GET.get("minimum", ""))
    return render(request, "manage/rescoring_batch.html", context | forms, status=status)


urlpatterns = [
    path("rescoring/", rescoring_page, name="manage_rescoring"),
    path("rescoring/start/<int:phase_pk>/", start_page, name="manage_rescoring_start"),
    path("rescoring/repeat/", repeat_action, name="manage_rescoring_repeat"),
    path("rescoring/<int:pk>/", batch_page, name="manage_rescoring_batch"),
    path("rescoring/<int:pk>/progress/", progress_fragment, name="manage_rescoring_progress"),
    path("rescoring/<int:pk>/preview.csv", preview_csv, name="manage_rescoring_csv"),
    path("rescoring/<int:pk>/retry/", retry_action, name="manage_rescoring_retry"),
    path("rescoring/<int:pk>/exclude/", exclude_action, name="manage_rescoring_exclude"),
    path("rescoring/<int:pk>/apply/", apply_action, name="manage_rescoring_apply"),
    path("rescoring/<int:pk>/cancel/", cancel_action, name="manage_rescoring_cancel"),
]
