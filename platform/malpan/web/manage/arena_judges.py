"""The judges of a campaign: invited by mail, one by one in a list, removed with a reason."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from malpan.arena.bars import bars_of
from malpan.arena.declaring import alone_teams, hides_too_much
from malpan.arena.invitations import invite_judge, reinvite_judge, resend_invitation
from malpan.arena.judges import bar_judge, remove_judge
from malpan.arena.models import Campaign, CampaignJudge, JudgeBar
from malpan.arena.progress import (
    judge_state,
    judged_though_barred,
    judgements_of,
    left_by_judge,
    place_of,
    void_counts,
    written_bars,
)
from malpan.arena.quality import SeenJudgement, has_opened_scores, seen_judgements
from malpan.arena.reminders import Reminded, remind_judges
from malpan.arena.selectors import exclusions_of, judge_of, judges_of, teams_of_judges
from malpan.arena.systems import systems_of
from malpan.competitions.permissions import Permission
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.web.acting import act
from malpan.web.forms.arena_campaigns import RemoveJudgeForm
from malpan.web.forms.arena_judges import BarForm, InvitationLine, InviteForm, form_of
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.arena_near import open_questions
from malpan.web.manage.arena_pages import campaign_at, campaign_context
from malpan.web.pages.context import MemberRequest, page_of
from malpan.web.presenters.arena_manage import JudgeLine, JudgementLine, value_text


@require_safe
@manage_page(Permission.VIEW)
def judges_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Everybody who was invited, with their state."""
    return _judges_page(request, access, campaign_at(access, pk), InviteForm())


@require_POST
@manage_page(Permission.MANAGE)
def invite_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Invite everybody in the list; whom the service refuses stays in the form, with the reason."""
    campaign, form = campaign_at(access, pk), InviteForm(request.POST)
    if not form.is_valid():
        return _judges_page(request, access, campaign, form, status=422)
    refused, invited = _invite(request, campaign, form.cleaned_data["lines"])
    if invited:
        text = ngettext("%(count)d명에게 초대를 보냈습니다.", "%(count)d명에게 초대를 보냈습니다.", invited)
        messages.success(request, text % {"count": invited})
    if not refused:
        return redirect("manage_campaign_judges", access.competition.slug, pk)
    again = form_of([line.text for line, _error in refused])
    status = 422 if invited else refused[0][1].http_status
    return _judges_page(request, access, campaign, again, refused=refused, status=status)


def _invite(
    request: MemberRequest, campaign: Campaign, lines: list[InvitationLine]
) -> tuple[list[tuple[InvitationLine, DomainError]], int]:
    """Invite each; what was refused, and how many were invited."""
    refused = []
    for line in lines:
        try:
            invite_judge(
                campaign=campaign,
                actor=request.user,
                email=line.email,
                institution=line.institution,
                link_for=lambda token: _link(request, token),
            )
        except DomainError as error:
            refused.append((line, error))
    return refused, len(lines) - len(refused)


def _link(request: MemberRequest, token: str) -> str:
    return request.build_absolute_uri(reverse("arena_invitation", args=[token]))


def _judges_page(
    request: MemberRequest,
    access: ManageAccess,
    campaign: Campaign,
    form: InviteForm,
    *,
    refused: Any = (),
    status: int = 200,
) -> HttpResponse:
    now = timezone.now()
    page = page_of(request, judges_of(campaign))
    barred, teams = judged_though_barred(campaign), teams_of_judges(access.competition, page)
    excluded = {each.judge_id for each in exclusions_of(campaign) if each.lifted_at is None}
    context = campaign_context(access, campaign, "manage_campaign_judges") | {
        "page": page,
        "lines": [
            JudgeLine(
                judge,
                judge_state(judge, now),
                judge.done,
                judge.total,
                barred[judge.pk],
                teams.get(judge.pk, []),
                judge.pk in excluded,
            )
            for judge in page
        ],
        "invite_form": form,
        "refused": [(line, text_of(error)) for line, error in refused],
        "may_invite": access.may(Permission.MANAGE) and campaign.closed_at is None,
        "remindable": _remindable(access, campaign),
        "near": open_questions(campaign),
    }
    return render(request, "manage/arena_judges.html", context, status=status)


@require_POST
@manage_page(Permission.MANAGE)
def remind_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Write to the judges who have assignments left."""
    campaign = campaign_at(access, pk)
    return act(
        request,
        lambda _values: remind_judges(campaign=campaign, actor=request.user),
        success=_reminded_text,
        to=access.url("manage_campaign_judges", pk),
    )


def _reminded_text(found: Reminded) -> str:
    told = ngettext("평가자 %(count)d명에게 알렸습니다.", "평가자 %(count)d명에게 알렸습니다.", found.told)
    before = ngettext(
        "%(count)d명에게는 24시간 안에 이미 알려 다시 보내지 않았습니다.",
        "%(count)d명에게는 24시간 안에 이미 알려 다시 보내지 않았습니다.",
        found.told_before,
    )
    texts = [told % {"count": found.told}, before % {"count": found.told_before} if found.told_before else ""]
    return " ".join(filter(None, texts))


def _remindable(access: ManageAccess, campaign: Campaign) -> int:
    """How many judges have assignments left, for whoever may remind them while it is judged."""
    return len(left_by_judge(campaign)) if access.may(Permission.MANAGE) and campaign.is_judged_now else 0


@require_safe
@manage_page(Permission.VIEW)
def judge_page(request: MemberRequest, access: ManageAccess, pk: int, judge_pk: int) -> HttpResponse:
    """A judge: state, bars, judgements."""
    campaign = campaign_at(access, pk)
    return _judge_page(request, access, campaign, judge_of(campaign, judge_pk), None)


def _judge_page(
    request: MemberRequest,
    access: ManageAccess,
    campaign: Campaign,
    judge: CampaignJudge,
    removal: RemoveJudgeForm | None,
    status: int = 200,
    *,
    barring: BarForm | None = None,
) -> HttpResponse:
    alone = alone_teams(judge) if campaign.opened_at is None and hides_too_much(judge, systems_of(campaign)) else []
    exclusions = [each for each in exclusions_of(campaign) if each.lifted_at is None]
    page = page_of(request, judgements_of(judge))
    context = campaign_context(access, campaign, "manage_campaign_judges") | {
        "judge": judge,
        "state": judge_state(judge, timezone.now()),
        "bars": _bars(campaign, judge),
        "own_teams": teams_of_judges(access.competition, [judge]).get(judge.pk, []),
        "voids": void_counts(judge),
        "page": page,
        "lines": [_judgement_line(each) for each in seen_judgements(campaign, page, request.user)],
        "is_opened": has_opened_scores(campaign, request.user),
        "exclusion": next((each for each in exclusions if each.judge_id == judge.pk), None),
        "may_change": access.may(Permission.MANAGE) and judge.removed_at is None and campaign.closed_at is None,
        "alone": alone,
        "barring": barring or BarForm(teams=alone),
        "may_reinvite": _may_reinvite(access, campaign, judge),
        "removal": removal or _removal_form(judge),
    }
    return render(request, "manage/arena_judge.html", context, status=status)


def _may_reinvite(access: ManageAccess, campaign: Campaign, judge: CampaignJudge) -> bool:
    was_removed = judge.removed_at is not None and bool(judge.email)
    return access.may(Permission.MANAGE) and was_removed and campaign.closed_at is None


def _bars(campaign: Campaign, judge: CampaignJudge) -> list[tuple[str, str]]:
    """The teams that the judge never sees, with the reason: as written at the opening, before it as things are now."""
    if campaign.opened_at is not None:
        return [(bar.system.submission.team.name, bar.get_reason_display()) for bar in written_bars(judge)]
    systems = systems_of(campaign)
    barred = bars_of(judge, systems)
    return [
        (row.submission.team.name, str(JudgeBar.Reason(barred[row.pk]).label)) for row in systems if row.pk in barred
    ]


def _judgement_line(seen: SeenJudgement) -> JudgementLine:
    row = seen.judgement
    return JudgementLine(
        place_of(row.assignment),
        row,
        row.assignment.get_kind_display(),
        seen.is_excluded,
        "" if seen.value is None else value_text(row.assignment, seen.value),
    )


@require_POST
@manage_page(Permission.MANAGE)
def resend_action(request: MemberRequest, access: ManageAccess, pk: int, judge_pk: int) -> HttpResponse:
    """Mail a new link in the place of the old one."""
    judge = judge_of(campaign_at(access, pk), judge_pk)
    return act(
        request,
        lambda _values: resend_invitation(
            judge=judge, actor=request.user, link_for=lambda token: _link(request, token)
        ),
        success=_("초대를 다시 보냈습니다. 앞서 보낸 주소는 이제 쓸 수 없습니다."),
        to=access.url("manage_campaign_judges", pk),
    )


@require_POST
@manage_page(Permission.MANAGE)
def reinvite_action(request: MemberRequest, access: ManageAccess, pk: int, judge_pk: int) -> HttpResponse:
    """Invite a judge who was removed again."""
    judge = judge_of(campaign_at(access, pk), judge_pk)
    return act(
        request,
        lambda _values: reinvite_judge(judge=judge, actor=request.user, link_for=lambda token: _link(request, token)),
        success=_("다시 초대했습니다. 수락하면 남은 배정을 나누어 받습니다."),
        to=access.url("manage_campaign_judge", pk, judge_pk),
    )


@require_POST
@manage_page(Permission.MANAGE)
def bar_action(request: MemberRequest, access: ManageAccess, pk: int, judge_pk: int) -> HttpResponse:
    """Bar a judge from teams; what they had not judged of these goes to others."""
    campaign = campaign_at(access, pk)
    judge, form = judge_of(campaign, judge_pk), BarForm(request.POST)
    return act(
        request,
        lambda values: bar_judge(judge=judge, actor=request.user, reason=values["reason"], **form.known()),
        form=form,
        success=_("제척했습니다. 그 팀의 출력이 있으면 이 평가자에게 이제 보이지 않습니다."),
        to=access.url("manage_campaign_judge", pk, judge_pk) + "#bars",
        render_again=lambda status: _judge_page(request, access, campaign, judge, None, status, barring=form),
        error_field="teams",
    )


@require_POST
@manage_page(Permission.MANAGE)
def remove_action(request: MemberRequest, access: ManageAccess, pk: int, judge_pk: int) -> HttpResponse:
    """Remove a judge; what they had not judged goes to others."""
    campaign = campaign_at(access, pk)
    judge = judge_of(campaign, judge_pk)
    form = _removal_form(judge, request.POST)
    return act(
        request,
        lambda values: remove_judge(
            judge=judge,
            actor=request.user,
            reason=values["reason"],
            accepts_loss=values.get("accepts_loss", False),
        ),
        form=form,
        success=_moved_text,
        to=access.url("manage_campaign_judges", pk),
        render_again=lambda status: _judge_page(request, access, campaign, judge, form, status),
    )


def _moved_text(moved: int) -> str:
    if not moved:
        return _("평가자를 내보냈습니다. 옮긴 배정은 없습니다.")
    text = ngettext(
        "평가자를 내보내고 남은 배정 %(count)d개를 다른 평가자에게 옮겼습니다.",
        "평가자를 내보내고 남은 배정 %(count)d개를 다른 평가자에게 옮겼습니다.",
        moved,
    )
    return text % {"count": moved}


def _removal_form(judge: CampaignJudge, data: Any = None) -> RemoveJudgeForm:
    return RemoveJudgeForm(
        data,
        has_queue=bool(judge.design_label),
        key=f"remove-{judge.pk}",
        help_text=_("운영자만 봅니다."),
        sentence=_("이 평가자를 내보냅니다. 이미 한 판단은 남아 셈에 듭니다. 빼려면 따로 제외하십시오."),
    )


urlpatterns = [
    path("arena/<int:pk>/judges/", judges_page, name="manage_campaign_judges"),
    path("arena/<int:pk>/judges/invite/", invite_action, name="manage_campaign_invite"),
    path("arena/<int:pk>/judges/remind/", remind_action, name="manage_campaign_remind"),
    path("arena/<int:pk>/judges/<int:judge_pk>/", judge_page, name="manage_campaign_judge"),
    path("arena/<int:pk>/judges/<int:judge_pk>/resend/", resend_action, name="manage_campaign_judge_resend"),
    path("arena/<int:pk>/judges/<int:judge_pk>/reinvite/", reinvite_action, name="manage_campaign_judge_reinvite"),
    path("arena/<int:pk>/judges/<int:judge_pk>/bar/", bar_action, name="manage_campaign_judge_bar"),
    path("arena/<int:pk>/judges/<int:judge_pk>/remove/", remove_action, name="manage_campaign_judge_remove"),
]
