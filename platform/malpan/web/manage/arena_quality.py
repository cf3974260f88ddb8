"""Live quality of a running campaign, its scores once somebody opened them, and what is left out."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.arena.errors import AssignmentNotFound, JudgeNamed, ScoresNotOpened
from malpan.arena.exclusions import lift_exclusion, make_exclusion, preview_exclusion
from malpan.arena.models import Campaign, CampaignJudge, Judgement
from malpan.arena.progress import judgement_of, place_of
from malpan.arena.quality import current_result, has_opened_scores, live_quality, may_see_scores, open_scores
from malpan.arena.selectors import exclusion_of, exclusions_of, judge_of
from malpan.competitions.permissions import Permission
from malpan.core.messages import text_of
from malpan.web.acting import act, or_refusal, posted
from malpan.web.forms.arena_campaigns import CampaignReasonForm, ConfirmedReasonForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.arena_pages import campaign_at, campaign_context, or_waiting
from malpan.web.manage.arena_running import result_context
from malpan.web.pages.context import MemberRequest, page_of
from malpan.web.presenters.arena_checks import check_lines, judge_check_lines
from malpan.web.presenters.arena_manage import agreement_lines, influence_lines, judge_name, quality_lines


@require_safe
@manage_page(Permission.VIEW)
def quality_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Speed, agreement, controls, suspicious judges; nothing that says which system leads. How much the standing hangs
    on one judge is for who opened the scores.
    """
    return _quality_page(request, access, campaign_at(access, pk), None)


def _quality_page(
    request: MemberRequest,
    access: ManageAccess,
    campaign: Campaign,
    form: ConfirmedReasonForm | None,
    status: int = 200,
) -> HttpResponse:
    quality, refusal = or_refusal(lambda: live_quality(campaign))
    is_opened = may_see_scores(campaign, request.user)
    context = campaign_context(access, campaign, "manage_campaign_quality") | {
        "refusal": refusal,
        "is_opened": is_opened,
        "form": form or _open_form(),
    }
    if quality is not None:
        lines = quality_lines(quality.judges)
        page = page_of(request, lines)
        context |= {
            "quality": quality,
            "page": page,
            "suspicious": sum(bool(line.flags) for line in lines),
            "agreement": agreement_lines(quality.agreement, campaign),
            "influence": influence_lines(quality.judges) if is_opened else [],
            "checks": check_lines(quality.checks),
            "checks_of_judges": judge_check_lines(quality.checks, page),
            "excluded": {each.judge_id for each in exclusions_of(campaign) if each.lifted_at is None},
        }
    return render(request, "manage/arena_quality.html", context, status=status)


@require_POST
@manage_page(Permission.MANAGE)
def open_scores_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Record that this organiser looks at the scores before the closing."""
    campaign, form = campaign_at(access, pk), _open_form(request.POST)
    return act(
        request,
        lambda values: open_scores(campaign=campaign, actor=request.user, reason=values["reason"]),
        form=form,
        success=_("점수를 열었습니다. 누가 왜 열었는지 감사 로그에 남았습니다."),
        to=access.url("manage_campaign_scores", pk),
        render_again=lambda status: _quality_page(request, access, campaign, form, status),
    )


def _open_form(data: Any = None) -> ConfirmedReasonForm:
    return ConfirmedReasonForm(
        data,
        key="open",
        help_text=_("감사 로그에 남습니다."),
        sentence=_("마감하기 전에 점수를 봅니다. 누가 앞서는지 알게 되며, 연 사람과 사유가 기록됩니다."),
    )


@require_safe
@manage_page(Permission.MANAGE)
def scores_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """The scores of the judgements so far, for somebody who opened them; others are told to."""
    campaign = campaign_at(access, pk)
    if not has_opened_scores(campaign, request.user):
        messages.error(request, text_of(ScoresNotOpened()))
        return redirect("manage_campaign_quality", access.competition.slug, pk)
    result, missing = or_waiting(lambda: current_result(campaign=campaign, actor=request.user))
    context = campaign_context(access, campaign, "manage_campaign_quality") | missing
    if result is not None:
        context |= result_context(result.document, campaign) | {"of": result.of, "waiting": result.waiting}
    return render(request, "manage/arena_scores.html", context)


@require_safe
@manage_page(Permission.VIEW)
def exclusions_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """What is left out, with reasons, and what was taken back."""
    return _exclusions_page(request, access, campaign_at(access, pk), {})


def _exclusions_page(
    request: MemberRequest, access: ManageAccess, campaign: Campaign, forms: dict[int, Any], status: int = 200
) -> HttpResponse:
    page = page_of(request, exclusions_of(campaign), 50)
    context = campaign_context(access, campaign, "manage_campaign_exclusions") | {
        "page": page,
        "lines": [(each, _whom(each), forms.get(each.pk) or _lift_form(each.pk)) for each in page],
    }
    return render(request, "manage/arena_exclusions.html", context, status=status)


def _whom(exclusion: Any) -> str:
    """Whom or what an exclusion leaves out."""
    if exclusion.judge is not None:
        return judge_name(exclusion.judge)
    assignment = exclusion.judgement.assignment
    return _("%(judge)s의 %(place)d번째 판단") % {"judge": judge_name(assignment.judge), "place": place_of(assignment)}


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def exclude_judge_page(request: MemberRequest, access: ManageAccess, pk: int, judge_pk: int) -> HttpResponse:
    """What leaving out a judge changes; POST leaves them out, and keeps what was typed where it cannot."""
    campaign = campaign_at(access, pk)
    return _exclude(request, access, campaign, judge_of(campaign, judge_pk), None)


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def exclude_judgement_page(request: MemberRequest, access: ManageAccess, pk: int, judgement_pk: int) -> HttpResponse:
    """What leaving out one judgement changes; POST leaves it out. Raises ``AssignmentNotFound``."""
    campaign = campaign_at(access, pk)
    judgement = judgement_of(campaign, judgement_pk)
    if judgement is None:
        raise AssignmentNotFound
    return _exclude(request, access, campaign, None, judgement)


def _exclude(
    request: MemberRequest,
    access: ManageAccess,
    campaign: Campaign,
    judge: CampaignJudge | None,
    judgement: Judgement | None,
) -> HttpResponse:
    form = _exclude_form(posted(request))

    def again(status: int) -> HttpResponse:
        return _exclude_page(request, access, campaign, form, judge, judgement, status)

    if not form.is_bound:
        return again(200)
    return act(
        request,
        lambda values: make_exclusion(
            campaign=campaign, actor=request.user, reason=values["reason"], judge=judge, judgement=judgement
        ),
        form=form,
        success=_("평가에서 뺐습니다."),
        to=access.url("manage_campaign_exclusions", campaign.pk),
        render_again=again,
        error_field=lambda error: "reason" if isinstance(error, JudgeNamed) else None,
    )


def _exclude_page(
    request: MemberRequest,
    access: ManageAccess,
    campaign: Campaign,
    form: ConfirmedReasonForm,
    judge: CampaignJudge | None,
    judgement: Judgement | None,
    status: int,
) -> HttpResponse:
    effect, missing = or_waiting(
        lambda: preview_exclusion(campaign=campaign, actor=request.user, judge=judge, judgement=judgement)
    )
    person = judge or (judgement.assignment.judge if judgement else None)
    context = campaign_context(access, campaign, "manage_campaign_exclusions") | {
        "judge": judge,
        "judgement": judgement,
        "place": place_of(judgement.assignment) if judgement else None,
        "person": judge_name(person) if person else "",
        "effect": effect,
        "is_opened": has_opened_scores(campaign, request.user),
        "form": form,
    }
    context |= missing if effect is None else {"of": effect.of, "waiting": effect.waiting}
    return render(request, "manage/arena_exclude.html", context, status=status)


def _exclude_form(data: Any = None) -> ConfirmedReasonForm:
    return ConfirmedReasonForm(
        data,
        key="exclude",
        help_text=_("결과와 함께 공개됩니다. 사람의 이름을 적지 마십시오."),
        sentence=_("셈에서 뺍니다. 판단은 지워지지 않으며, 뺀 사실과 사유가 결과에 남습니다."),
    )


@require_POST
@manage_page(Permission.MANAGE)
def lift_action(request: MemberRequest, access: ManageAccess, pk: int, exclusion_pk: int) -> HttpResponse:
    """Take an exclusion back."""
    campaign = campaign_at(access, pk)
    exclusion, form = exclusion_of(campaign, exclusion_pk), _lift_form(exclusion_pk, request.POST)
    return act(
        request,
        lambda values: lift_exclusion(exclusion=exclusion, actor=request.user, reason=values["reason"]),
        form=form,
        success=_("되돌렸습니다. 다시 셈에 듭니다."),
        to=access.url("manage_campaign_exclusions", pk),
        render_again=lambda status: _exclusions_page(request, access, campaign, {exclusion.pk: form}, status),
    )


def _lift_form(pk: int, data: Any = None) -> CampaignReasonForm:
    return CampaignReasonForm(data, key=f"lift-{pk}", help_text=_("운영자만 봅니다."))


urlpatterns = [
    path("arena/<int:pk>/quality/", quality_page, name="manage_campaign_quality"),
    path("arena/<int:pk>/quality/open/", open_scores_action, name="manage_campaign_open_scores"),
    path("arena/<int:pk>/quality/scores/", scores_page, name="manage_campaign_scores"),
    path("arena/<int:pk>/exclusions/", exclusions_page, name="manage_campaign_exclusions"),
    path("arena/<int:pk>/judges/<int:judge_pk>/exclude/", exclude_judge_page, name="manage_campaign_exclude_judge"),
    path(
        "arena/<int:pk>/judgements/<int:judgement_pk>/exclude/",
        exclude_judgement_page,
        name="manage_campaign_exclude_judgement",
    ),
    path("arena/<int:pk>/exclusions/<int:exclusion_pk>/lift/", lift_action, name="manage_campaign_lift"),
]
