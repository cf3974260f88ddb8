"""A judge's queue: the assignment on show, its drafts, judging it, correcting what was judged.

Looking writes nothing: an assignment is shown for the first time by a POST, which notes when, and leads to its page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from malpan.arena.consent import has_consented
from malpan.arena.errors import (
    AssignmentVoid,
    CampaignNotOpen,
    CampaignTimeOver,
    ConsentMissing,
    JudgementElsewhere,
    JudgeRemoved,
    ValueInvalid,
)
from malpan.arena.feedback import feedback_of
from malpan.arena.judging import correct_judgement, judge_assignment, save_draft
from malpan.arena.models import Assignment, Campaign, CampaignJudge, Judgement, JudgementDraft
from malpan.arena.queue import (
    assignment_of,
    current_assignment,
    is_closed,
    is_sealed,
    newest_judgement,
    next_assignment,
    progress_of,
    require_in_time,
    texts_of,
    undo_target,
)
from malpan.arena.selectors import judge_for
from malpan.core.errors import DomainError, RequestError
from malpan.core.messages import text_of
from malpan.core.times import kst_text
from malpan.web.forms.arena import SPANS_MAX, entered_value, located
from malpan.web.pages.arena_refused import refused_page
from malpan.web.pages.arena_unsent import forget_unsent, keeps_unsent, unsent
from malpan.web.pages.context import MemberRequest, members_only
from malpan.web.presenters import arena
from malpan.web.presenters.arena_sheet import sheet_of

MORE_ROWS = 3  # for errors, each time they are asked for


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def queue_page(request: MemberRequest, pk: int) -> HttpResponse:
    """A POST shows the next assignment; otherwise lead to the one on show, or to where the queue is begun."""
    judge = judge_for(request.user, pk)
    if request.method == "POST":
        return _to_next(request, judge)
    shown = current_assignment(judge)
    return redirect("arena_assignment", pk, shown.shown_key) if shown else redirect("arena_campaign", pk)


def _to_next(request: MemberRequest, judge: CampaignJudge) -> HttpResponse:
    """Show the next assignment; the end page after the last, the campaign's page if there is something to do first."""
    try:
        assignment = next_assignment(judge=judge, actor=request.user)
    except (ConsentMissing, CampaignNotOpen, CampaignTimeOver) as error:
        messages.warning(request, text_of(error))
        return redirect("arena_campaign", judge.campaign_id)
    if assignment is None:
        return redirect("arena_done", judge.campaign_id)
    return redirect("arena_assignment", judge.campaign_id, assignment.shown_key)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@keeps_unsent
@members_only
def assignment_page(request: MemberRequest, pk: int, key: str) -> HttpResponse:
    """An assignment with its form; a POST keeps a draft, judges it, or corrects what was judged. A POST that is refused
    shows what was sent (``arena_refused``); what came while nobody was logged in is on the form (``arena_unsent``).

    Raises ``CampaignNotFound``, ``AssignmentNotFound``, ``JudgeRemoved``.
    """
    if request.method == "POST":
        return _take(request, pk, key)
    judge = judge_for(request.user, pk)
    assignment = assignment_of(judge, key)
    if not has_consented(judge):
        return redirect("arena_campaign", pk)
    if is_closed(assignment, judge):
        closed = {
            "campaign": judge.campaign,
            "is_sealed": is_sealed(assignment, judge),
            "is_open": judge.campaign.is_judged_now,
        }
        return render(request, "pages/arena_closed.html", closed)
    return _page(request, judge, assignment, sent=unsent(request, assignment))


def _take(request: MemberRequest, pk: int, key: str) -> HttpResponse:
    """Keep or record what was sent; what was not taken stays on the screen."""
    judge = judge_for(request.user, pk, may_be_removed=True)
    assignment = assignment_of(judge, key)
    entered = entered_value(assignment, request.POST)
    try:
        _require_present(judge)
        if {"draft", "more"} & request.POST.keys():
            return _keep(request, assignment)
        value, problems = located(entered, texts_of(assignment))
        if problems:
            return _again(request, judge, assignment, problems)
        judgement = _record(request, assignment, value)
        forget_unsent(request, assignment)
    except ValueInvalid as error:
        return _again(request, judge, assignment, [text_of(error)])
    except RequestError as error:
        is_kept = _is_kept(request, assignment)
        return refused_page(request, judge, assignment, error, entered=entered, is_kept=is_kept)
    return _after(request, judge, assignment, judgement)


def _again(request: MemberRequest, judge: CampaignJudge, assignment: Assignment, problems: list[str]) -> HttpResponse:
    """The form with what is wrong in it; where it is too late to mend that, what was sent."""
    try:
        require_in_time(judge.campaign, timezone.now())
        if assignment.state == Assignment.State.VOID:
            raise AssignmentVoid
    except RequestError as error:
        entered = entered_value(assignment, request.POST)
        return refused_page(request, judge, assignment, error, entered=entered, is_kept=False)
    return _page(request, judge, assignment, sent=request.POST, problems=problems, status=422)


def _require_present(judge: CampaignJudge) -> None:
    """Raise ``JudgeRemoved``, and ``ConsentMissing`` for who has not agreed to what is in force while it is judged."""
    if judge.removed_at is not None:
        raise JudgeRemoved
    if judge.campaign.is_judged_now and not has_consented(judge):
        raise ConsentMissing


@require_POST
@keeps_unsent
@members_only
def draft_action(request: MemberRequest, pk: int, key: str) -> HttpResponse:
    """Keep what was entered so far, for the script. The answer is a sentence to be read out, and a refusal's code."""
    try:
        draft = _save_draft(request, assignment_of(judge_for(request.user, pk), key))
    except DomainError as error:
        return JsonResponse({"said": text_of(error), "code": error.code}, status=error.http_status)
    return JsonResponse({"said": _("임시 저장했습니다. %(time)s") % {"time": kst_text(draft.updated_at, seconds=True)}})


def _save_draft(request: MemberRequest, assignment: Assignment) -> JudgementDraft:
    """Raises as ``save_draft``, and ``AssignmentVoid`` or ``JudgementElsewhere`` where nothing is to be judged."""
    value = entered_value(assignment, request.POST)
    draft = save_draft(assignment=assignment, actor=request.user, value=value, note=request.POST.get("note", ""))
    if draft is None:
        assignment.refresh_from_db(fields=["state"])
        raise AssignmentVoid if assignment.state == Assignment.State.VOID else JudgementElsewhere
    forget_unsent(request, assignment)
    return draft


def _is_kept(request: MemberRequest, assignment: Assignment) -> bool:
    """Keep what was refused as a draft, if there may be one."""
    try:
        _save_draft(request, assignment)
    except DomainError:
        return False
    return True


def _keep(request: MemberRequest, assignment: Assignment) -> HttpResponse:
    """The draft of a browser without script; ``more`` asks for room for more errors as well."""
    draft = _save_draft(request, assignment)
    messages.success(request, _("임시 저장했습니다. 나중에 이어서 평가할 수 있습니다."))
    address = redirect("arena_assignment", assignment.campaign_id, assignment.shown_key)
    if "more" in request.POST:
        address["Location"] += f"?rows={len(draft.value.get('spans', ())) + MORE_ROWS}"
    return address


# --- judging ----------------------------------------------------------------------------------------------------------
def _record(request: MemberRequest, assignment: Assignment, value: dict[str, Any]) -> Judgement:
    """Judge ``assignment``, or correct its judgement."""
    number = _number(request.POST.get("expected", ""))
    sent: dict[str, Any] = {
        "assignment": assignment,
        "actor": request.user,
        "value": value,
        "note": request.POST.get("note", ""),
        "expected_number": number,
        "seconds": _number(request.POST.get("seconds", "")) or None,
    }
    return correct_judgement(**sent) if number else judge_assignment(**sent)


def _number(text: str) -> int:
    """The whole number in ``text``; 0 if it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def _after(request: MemberRequest, judge: CampaignJudge, assignment: Assignment, judgement: Judgement) -> HttpResponse:
    """Feedback after practice, the list if a correction came from there, else the next assignment."""
    if assignment.kind == Assignment.Kind.CALIBRATION:
        return redirect("arena_assignment", judge.campaign_id, assignment.shown_key)
    if judgement.number > 1:
        messages.success(request, _("판단을 고쳤습니다."))
        if "list" in request.POST:
            return redirect("arena_done", judge.campaign_id)
    elif judgement.seconds < judge.campaign.min_seconds:
        _note_haste(request, judgement.seconds, judge.campaign.min_seconds)
    return _to_next(request, judge)


def _note_haste(request: MemberRequest, seconds: int, least: int) -> None:
    """Nobody is held up: it is only said."""
    taken = ngettext("방금 판단에 %(count)d초 걸렸습니다.", "방금 판단에 %(count)d초 걸렸습니다.", seconds)
    advice = ngettext("%(count)d초 이상 읽기를 권합니다.", "%(count)d초 이상 읽기를 권합니다.", least)
    undo = _("마감하기 전까지 다시 보고 고칠 수 있습니다.")
    messages.info(request, f"{taken % {'count': seconds}} {advice % {'count': least}} {undo}")


# --- the page ---------------------------------------------------------------------------------------------------------
def _page(
    request: MemberRequest,
    judge: CampaignJudge,
    assignment: Assignment,
    *,
    sent: QueryDict | None = None,
    problems: list[str] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The form with what was ``sent``, if it was not recorded; else with what was judged, or the draft."""
    campaign, progress = judge.campaign, progress_of(judge)
    newest = newest_judgement(assignment)
    value, note = _shown_value(assignment, newest) if sent is None else _sent_value(assignment, sent)
    is_practice = assignment.kind == Assignment.Kind.CALIBRATION
    undo = undo_target(judge)
    context = {
        "campaign": campaign,
        "rubric": campaign.rubric,
        "criteria": arena.criteria_of(campaign.rubric),
        "assignment": assignment,
        "item": assignment.item,
        "task": arena.TASKS[Campaign.Protocol(campaign.protocol)],
        "sheet": sheet_of(assignment, texts_of(assignment), value, _rows(request)),
        "note": note,
        "was_logged_out": sent is not None and not problems,
        "problems": problems or [],
        "progress": progress,
        "place": min(progress.done + 1, progress.total),
        "time_left": arena.time_left(progress.seconds_left),
        "expected": 0 if newest is None else newest.number,
        "is_practice": is_practice,
        "is_open": campaign.is_judged_now,
        "undo": undo if undo is not None and undo.pk != assignment.pk else None,
        "from_list": "list" in request.GET or "list" in request.POST,
    }
    if is_practice and newest is not None:
        context["was_expected"], context["explanation"] = feedback_of(assignment, newest.value)
        context["said"] = arena.summary(campaign, newest.value)
        context["wanted"] = arena.expectation(assignment)
    return render(request, "pages/arena_assignment.html", context, status=status)


def _shown_value(assignment: Assignment, newest: Judgement | None) -> tuple[Mapping[str, Any], str]:
    """What the form begins with: what was judged, else the draft."""
    if newest is not None:
        return newest.value, newest.note
    draft = JudgementDraft.objects.filter(assignment=assignment).first()
    return ({}, "") if draft is None else (draft.value, draft.note)


def _sent_value(assignment: Assignment, sent: QueryDict) -> tuple[Mapping[str, Any], str]:
    return entered_value(assignment, sent), sent.get("note", "")


def _rows(request: MemberRequest) -> int:
    return min(_number(request.GET.get("rows", "")), SPANS_MAX)
