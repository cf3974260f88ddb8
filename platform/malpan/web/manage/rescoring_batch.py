"""One rescoring, of a phase or of several together: its progress, its preview, and what is done with it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST, require_safe
from django_htmx.http import HttpResponseStopPolling

from malpan.competitions.permissions import Permission, require
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.leaderboard.published import kept_before
from malpan.leaderboard.rescore_preview import preview, require_all_seen, seen_together
from malpan.submissions.models import RescoreBatch, Submission
from malpan.submissions.rescoring import apply, batches, deltas, orders
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.errors import BatchPreviewOutdated
from malpan.web.acting import act, refusal_of
from malpan.web.csv_export import csv_response
from malpan.web.forms.fields import ConfirmForm
from malpan.web.forms.rescoring import ApplyForm, ExcludeForm, OrderForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters import rescoring as tables


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
    form = ApplyForm(request.POST, **_effects(batch))
    return act(
        request,
        lambda values: rescoring.apply_batch(
            batch=batch,
            actor=request.user,
            check=lambda held: require_all_seen(held, values["seen"]),
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
    form = OrderForm(request.POST, **_effects(batch))
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


def _effects(batch: RescoreBatch) -> dict[str, Any]:
    """What the forms say that applying brings with it."""
    return {
        "hurts_others": bool(apply.other_phases_hurt(batch)),
        "corrected": tables.corrected_by(batches.together(batch)),
    }


def _cancel_form(data: Any = None) -> ConfirmForm:
    sentence = _("이 재채점을 취소합니다. 점수와 순위는 지금 그대로 남습니다.")
    return ConfirmForm(data, sentence=sentence, key="cancel")


def _batch_page(
    request: MemberRequest, access: ManageAccess, batch: RescoreBatch, forms: dict[str, Any], status: int = 200
) -> HttpResponse:
    """The page of ``batch`` and of those that were started together with it, each with its preview."""
    require(request.user, access.competition, Permission.VIEW)
    held = batches.together(batch)
    parts = [tables.part_context(each, request.GET.get("minimum", "")) for each in held]
    state = batches.common_state([part["state"] for part in parts])
    is_ready, order = state == RescoreBatch.State.READY, tables.order_context(batch)
    for refusal in _refusals(forms, apply_form=is_ready, order_form=not is_ready and not order["ordered"]):
        messages.error(request, text_of(refusal))
    hurt = apply.other_phases_hurt(batch) if batch.is_open else 0
    effects: dict[str, Any] = {"hurts_others": bool(hurt), "corrected": tables.corrected_by(held)}
    context = access.context("manage_rescoring") | {
        "batch": batch,
        "state": state,
        "is_open": batch.is_open,
        "is_repeat": batch.repeats > 1,
        "step": tables.step_of(state),
        "hurt": hurt,
        "apply_form": ApplyForm(**effects),
        "order_form": OrderForm(**effects),
        "cancel_form": _cancel_form(),
        **tables.together_context(held, parts),
        **order,
    }
    if is_ready and batch.repeats == 1:
        forms = _with_preview(forms, seen_together(part["preview"] for part in parts), effects)
    context |= forms
    shown = [_part(request, context, part, batch) for part in parts]
    return render(request, "manage/rescoring_batch.html", context | {"parts": shown}, status=status)


def _part(request: MemberRequest, context: dict[str, Any], part: dict[str, Any], batch: RescoreBatch) -> str:
    """What the page of ``batch`` shows of one of those that were started together."""
    shown = part["batch"]
    is_first = shown.pk == context["held"][0].pk
    own = {
        "kept_board": kept_before(shown),
        "exclude_form": context.get("exclude_form") if shown.pk == batch.pk else None,
        "suffix": f"-{shown.pk}" if len(context["held"]) > 1 else "",
        "ordered": context["ordered"] if is_first else "",  # one of them asks whether the order is over
    }
    return render_to_string("manage/rescoring_part.html", context | part | own, request)


def _refusals(forms: dict[str, Any], **is_shown: bool) -> list[DomainError]:
    """What refused forms that the page no longer has: it says so above."""
    gone = [forms[name] for name, shown in is_shown.items() if name in forms and not shown]
    return [error for form in gone if (error := refusal_of(form)) is not None]


def _with_preview(forms: dict[str, Any], seen: str, effects: dict[str, Any]) -> dict[str, Any]:
    """The form of the application names the preview beside it. One that was refused for another reason than an outdated
    preview keeps the preview it was sent with, which may be outdated as well.
    """
    form = forms.get("apply_form")
    if form is None:
        return forms | {"apply_form": ApplyForm(initial={"seen": seen}, **effects)}
    if isinstance(refusal_of(form), BatchPreviewOutdated):
        form.show(seen)
    return forms


urlpatterns = [
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
