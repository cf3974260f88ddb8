"""Rescoring batches: the workflow of a changed rule, from the start to the applied board, and repetitions."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseStopPolling

from malpan.competitions.models import Phase
from malpan.competitions.permissions import Permission, require
from malpan.competitions.selectors import phase_of, phases_of
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.leaderboard.published import kept_before
from malpan.leaderboard.rescore_preview import preview, require_seen
from malpan.submissions.errors import SubmissionNotFound
from malpan.submissions.manage_selectors import submission_of
from malpan.submissions.models import RescoreBatch, Submission
from malpan.submissions.rescoring import apply, batches, deltas, orders
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.errors import BatchPreviewOutdated
from malpan.web.acting import act, refusal_of
from malpan.web.csv_export import csv_response
from malpan.web.forms.fields import ConfirmForm
from malpan.web.forms.rescoring import ApplyForm, ExcludeForm, OrderForm, RepeatForm, StartForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters import rescoring as tables

REPEAT_REASON: Final = "반복 채점"


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
            reference_version=values["reference_version"],
            recipe=values["recipe"],
            profile=values["profile"],
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


@require_safe
@manage_page(Permission.VIEW)
def batch_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """One batch: its progress, its preview, and its actions."""
    return _batch_page(request, access, rescoring.get_batch(access.competition.pk, pk), {})


@require_GET
@manage_page(Permission.VIEW)
def progress_fragment(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """What htmx polls: 204 while nothing changed. The whole page is reloaded when the batch is ready, and when an order
    that it shows is over.

    A page that shows it ready polls on for late uploads and is never reloaded: somebody writes in its form.
    """
    batch = rescoring.get_batch(access.competition.pk, pk)
    progress = batches.progress_of(batch)
    is_shown = request.GET.get("shown") == batches.State.READY
    has_ended = progress.is_complete or not progress.unfinished
    is_ordered = "ordered" in request.GET
    is_over = is_ordered and orders.waiting_order(batch) is None
    if not batch.is_open or is_over or (has_ended and not is_shown):
        response: HttpResponse = HttpResponseStopPolling()
        response["HX-Refresh"] = "true"
        return response
    goes_on = bool(progress.unfinished) or is_ordered
    if goes_on and request.GET.get("mark") == tables.mark_of(progress):
        return HttpResponse(status=204)
    context = tables.progress_context(progress) | {"batch": batch, "is_outdated": not progress.unfinished}
    status = 200 if goes_on else HttpResponseStopPolling.status_code
    return render(
        request, "manage/rescoring_progress.html", access.context("manage_rescoring") | context, status=status
    )


@require_safe
@manage_page(Permission.VIEW_HIDDEN)
def preview_csv(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Every submission before and after, hidden scores included; of an open batch also the composites of the teams."""
    batch = rescoring.get_batch(access.competition.pk, pk)
    found = preview(batch)
    moves = found.moves if found.is_composite else ()
    head, lines = deltas.as_table(found.rows, found.score_names, has_hidden=found.has_hidden, moves=moves)
    return csv_response(f"{access.competition.slug}-rescoring-{batch.pk}.csv", head, lines)


@require_POST
@manage_page(Permission.OPERATE)
def retry_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    batch = rescoring.get_batch(access.competition.pk, pk)
    text = _("실패한 %(count)d건을 다시 채점합니다.")
    return act(
        request,
        lambda _values: rescoring.retry_failed(batch=batch, actor=request.user),
        success=lambda count: text % {"count": count},
        to=access.url("manage_rescoring_batch", pk),
    )


@require_POST
@manage_page(Permission.OPERATE)
def exclude_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    batch = rescoring.get_batch(access.competition.pk, pk)
    form = ExcludeForm(request.POST)
    return act(
        request,
        lambda values: rescoring.exclude_submission(
            batch=batch,
            submission=get_object_or_404(Submission, pk=values["submission"], phase=batch.phase),
            reason=values["reason"],
            actor=request.user,
        ),
        form=form,
        success=_("이 제출을 재채점에서 제외했습니다. 지금 점수는 그대로 남습니다."),
        to=access.url("manage_rescoring_batch", pk),
        render_again=lambda status: _batch_page(request, access, batch, {"exclude_form": form}, status),
        refused_above=True,
    )


@require_POST
@manage_page(Permission.MANAGE)
def apply_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """The last step: apply everything at once."""
    batch = rescoring.get_batch(access.competition.pk, pk)
    form = ApplyForm(request.POST, hurts_others=bool(apply.other_phases_hurt(batch)))
    return act(
        request,
        lambda values: rescoring.apply_batch(
            batch=batch,
            actor=request.user,
            check=lambda held: require_seen(held, values["seen"]),
            **form.choices(),
        ),
        form=form,
        success=_("재채점을 적용했습니다. 모든 점수와 순위가 한꺼번에 바뀌었습니다."),
        to=access.url("manage_rescoring_batch", pk),
        render_again=lambda status: _batch_page(request, access, batch, {"apply_form": form}, status),
    )


@require_POST
@manage_page(Permission.MANAGE)
def order_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Have it applied by itself when it is ready."""
    batch = rescoring.get_batch(access.competition.pk, pk)
    form = OrderForm(request.POST, hurts_others=bool(apply.other_phases_hurt(batch)))
    return act(
        request,
        lambda values: orders.order_application(
            batch=batch, actor=request.user, guarded_places=values["guarded_places"], **form.choices()
        ),
        form=form,
        success=_("적용을 예약했습니다. 채점이 끝나는 대로 적용하고 알려 드립니다."),
        to=access.url("manage_rescoring_batch", pk),
        render_again=lambda status: _batch_page(request, access, batch, {"order_form": form}, status),
    )


@require_POST
@manage_page(Permission.MANAGE)
def withdraw_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    batch = rescoring.get_batch(access.competition.pk, pk)
    return act(
        request,
        lambda _values: orders.withdraw_order(batch=batch, actor=request.user),
        success=_("적용 예약을 거두었습니다. 채점이 끝나면 미리 보고 직접 적용해 주십시오."),
        to=access.url("manage_rescoring_batch", pk),
    )


@require_POST
@manage_page(Permission.OPERATE)
def cancel_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    batch = rescoring.get_batch(access.competition.pk, pk)
    form = _cancel_form(request.POST)
    return act(
        request,
        lambda _values: rescoring.cancel_batch(batch=batch, actor=request.user),
        form=form,
        success=_("재채점을 취소했습니다. 점수와 순위는 그대로입니다."),
        to=access.url("manage_rescoring_batch", pk),
        render_again=lambda status: _batch_page(request, access, batch, {"cancel_form": form}, status),
        refused_above=True,
    )


def _cancel_form(data: Any = None) -> ConfirmForm:
    sentence = _("이 재채점을 취소합니다. 점수와 순위는 지금 그대로 남습니다.")
    return ConfirmForm(data, sentence=sentence, key="cancel")


def _list_page(
    request: MemberRequest, access: ManageAccess, repeat_form: RepeatForm, status: int = 200
) -> HttpResponse:
    found = RescoreBatch.objects.filter(competition=access.competition).select_related(
        "phase__track", "created_by", "reference_version"
    )
    context = access.context("manage_rescoring") | {
        "phases": phases_of(access.competition),
        "lines": tables.batch_lines(found),
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


def _batch_page(
    request: MemberRequest, access: ManageAccess, batch: RescoreBatch, forms: dict[str, Any], status: int = 200
) -> HttpResponse:
    require(request.user, access.competition, Permission.VIEW)
    state = batches.state_of(batch)
    order = tables.order_context(batch)
    is_ready = state == RescoreBatch.State.READY
    for refusal in _refusals(forms, apply_form=is_ready, order_form=not is_ready and not order["ordered"]):
        messages.error(request, text_of(refusal))
    hurt = apply.other_phases_hurt(batch) if batch.is_open else 0
    context = access.context("manage_rescoring") | {
        "batch": batch,
        "state": state,
        "is_open": batch.is_open,
        "is_repeat": batch.repeats > 1,
        "step": tables.step_of(state),
        "hurt": hurt,
        "kept_board": kept_before(batch),
        "apply_form": ApplyForm(hurts_others=bool(hurt)),
        "order_form": OrderForm(hurts_others=bool(hurt)),
        **order,
        "cancel_form": _cancel_form(),
        "exclude_form": ExcludeForm(),
    }
    progress = batches.progress_of(batch)
    context |= tables.progress_context(progress) | tables.facts_of(batch)
    context["can_cancel"] = batch.repeats == 1 or progress.unfinished or progress.failed
    if batch.repeats > 1:
        context |= tables.spread_context(batch)
    elif state != RescoreBatch.State.RUNNING:
        context |= tables.preview_context(batch, request.GET.get("minimum", ""))
        forms = _with_preview(forms, context["preview"].seen, bool(hurt))
    return render(request, "manage/rescoring_batch.html", context | forms, status=status)


def _refusals(forms: dict[str, Any], **is_shown: bool) -> list[DomainError]:
    """What refused forms that the page no longer has: it says so above."""
    gone = [forms[name] for name, shown in is_shown.items() if name in forms and not shown]
    return [error for form in gone if (error := refusal_of(form)) is not None]


def _with_preview(forms: dict[str, Any], seen: str, hurts_others: bool) -> dict[str, Any]:
    """The form of the application names the preview beside it. One that was refused for another reason than an outdated
    preview keeps the preview it was sent with, which may be outdated as well.
    """
    form = forms.get("apply_form")
    if form is None:
        return forms | {"apply_form": ApplyForm(initial={"seen": seen}, hurts_others=hurts_others)}
    if isinstance(refusal_of(form), BatchPreviewOutdated):
        form.show(seen)
    return forms


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
    path("rescoring/<int:pk>/order/", order_action, name="manage_rescoring_order"),
    path("rescoring/<int:pk>/order/withdraw/", withdraw_action, name="manage_rescoring_order_withdraw"),
    path("rescoring/<int:pk>/cancel/", cancel_action, name="manage_rescoring_cancel"),
]
