"""말평 아레나 for judges: the campaigns they evaluate, an invitation, what is asked, consent, what they judged.

A judge sees nothing else of the competition, nor whose an output is. Judging itself is in ``arena_queue``.
"""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.arena.consent import has_consented
from malpan.arena.declaring import declare_bars
from malpan.arena.errors import GuidelineChanged, JudgeInvitationForAnother
from malpan.arena.invitations import accept_invitation, invitation_of, obstacle_to
from malpan.arena.judge_word import tell_organisers
from malpan.arena.judges import give_consent
from malpan.arena.models import CampaignJudge
from malpan.arena.queue import is_closed, own_judgements, progress_of
from malpan.arena.selectors import campaigns_to_judge, judge_for
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.teams.invitations import masked
from malpan.web.acting import act
from malpan.web.forms.arena import ConsentForm, KnownTeamsForm, TellForm
from malpan.web.pages.context import MemberRequest, members_only, page_of
from malpan.web.presenters import arena

PAGE_SIZE: Final = 50


@never_cache
@require_safe
@members_only
def list_page(request: MemberRequest) -> HttpResponse:
    """The campaigns that the reader judges."""
    judges = [(judge, progress_of(judge)) for judge in campaigns_to_judge(request.user)]
    return render(request, "pages/arena.html", {"judges": judges})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitation_page(request: HttpRequest, token: str) -> HttpResponse:
    """Show what the invitation is to; a POST accepts it.

    Raises ``JudgeInvitationNotFound``, ``JudgeInvitationExpired``.
    """
    judge = invitation_of(token)
    if request.method == "POST":
        return _accept(request, token)
    user = request.user if request.user.is_authenticated else None
    obstacle = obstacle_to(judge=judge, user=user)
    context = {
        "title": _("평가자 초대"),
        "invitation": judge,
        "campaign": judge.campaign,
        "competition": judge.campaign.track.competition,
        "addressee": masked(judge.email) if judge.email else "",
        "is_own": user is not None and judge.user_id == user.pk and judge.is_active,
        "obstacle": obstacle and text_of(obstacle),
        "is_for_another": isinstance(obstacle, JudgeInvitationForAnother),
        "explanation": arena.explanation_of(judge.campaign),
    }
    return render(request, "pages/arena_invitation.html", context)


@members_only
def _accept(request: MemberRequest, token: str) -> HttpResponse:
    try:
        judge = accept_invitation(token=token, user=request.user)
    except DomainError as error:
        messages.error(request, text_of(error))
        return redirect("arena_invitation", token)
    messages.success(request, _("초대를 수락했습니다. 아래 안내와 지침을 읽어 주십시오."))
    return redirect("arena_campaign", judge.campaign_id)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def campaign_page(request: MemberRequest, pk: int) -> HttpResponse:
    """What is asked, the guideline, how far the judge is; a POST gives the consent. Raises ``CampaignNotFound``."""
    judge = judge_for(request.user, pk)
    if request.method != "POST":
        return _campaign_page(request, judge)
    form = ConsentForm(request.POST, judge=judge)
    return act(
        request,
        lambda values: _consent(judge, request, values),
        form=form,
        success=_("동의를 기록했습니다. 이제 시작할 수 있습니다.")
        if judge.campaign.opened_at
        else _("동의를 기록했습니다."),
        to=reverse("arena_campaign", args=[pk]),
        render_again=lambda status: _campaign_page(request, judge, consent=form, status=status),
    )


def _consent(judge: CampaignJudge, request: MemberRequest, values: dict[str, Any]) -> None:
    """Record the consent to what was on the page, if it is still that."""
    rubric = judge.campaign.rubric
    if values["rubric"] != rubric.pk:
        raise GuidelineChanged
    give_consent(judge=judge, actor=request.user, rubric=rubric, consent_version=values["consent_version"])


def _campaign_page(
    request: MemberRequest,
    judge: CampaignJudge,
    *,
    consent: ConsentForm | None = None,
    known: KnownTeamsForm | None = None,
    tell: TellForm | None = None,
    status: int = 200,
) -> HttpResponse:
    campaign, progress = judge.campaign, progress_of(judge)
    context = {
        "judge": judge,
        "campaign": campaign,
        "competition": campaign.track.competition,
        "rubric": campaign.rubric,
        "criteria": arena.criteria_of(campaign.rubric),
        "explanation": arena.explanation_of(campaign),
        "progress": progress,
        "time_left": arena.time_left(progress.seconds_left),
        "is_open": campaign.is_judged_now,
        "is_over": campaign.closed_at is not None,
        "is_past_end": campaign.opened_at is not None and campaign.is_over(timezone.now()),
        "has_consented": has_consented(judge),
        "consent": consent or ConsentForm(judge=judge),
        "known": known or KnownTeamsForm(),
        "tell": tell or TellForm(),
    }
    return render(request, "pages/arena_campaign.html", context, status=status)


@require_POST
@members_only
def known_teams_action(request: MemberRequest, pk: int) -> HttpResponse:
    """Record the teams that the judge knows; whether they take part is not said."""
    judge = judge_for(request.user, pk)
    form = KnownTeamsForm(request.POST)
    return act(
        request,
        lambda _values: declare_bars(judge=judge, actor=request.user, **form.known()),
        form=form,
        success=_("적은 대로 기록했습니다. 이 대회의 팀이면 그 팀의 출력은 이제 보이지 않습니다."),
        to=reverse("arena_campaign", args=[pk]),
        render_again=lambda status: _campaign_page(request, judge, known=form, status=status),
        error_field="teams",
    )


@require_POST
@members_only
def tell_action(request: MemberRequest, pk: int) -> HttpResponse:
    """Tell the organisers of a conflict of interest."""
    judge = judge_for(request.user, pk)
    form = TellForm(request.POST)
    return act(
        request,
        lambda values: tell_organisers(judge=judge, actor=request.user, text=values["text"]),
        form=form,
        success=_("운영자에게 알렸습니다."),
        to=reverse("arena_campaign", args=[pk]) + "#tell",
        render_again=lambda status: _campaign_page(request, judge, tell=form, status=status),
        error_field="text",
    )


@never_cache
@require_safe
@members_only
def done_page(request: MemberRequest, pk: int) -> HttpResponse:
    """What the judge said, the last first, to be corrected until the campaign closes."""
    judge = judge_for(request.user, pk)
    page = page_of(request, own_judgements(judge), PAGE_SIZE)
    progress = progress_of(judge)
    context = {
        "campaign": judge.campaign,
        "page": page,
        "rows": [
            (
                each.assignment,
                each.newest,
                arena.summary(judge.campaign, each.newest.value),
                is_closed(each.assignment, judge),
            )
            for each in page
        ],
        "progress": progress,
        "is_open": judge.campaign.is_judged_now,
        "is_complete": progress.total > 0 and progress.done >= progress.total,
    }
    return render(request, "pages/arena_done.html", context)
