"""The practice items that an organiser writes for the judges of a campaign: uploaded, looked at, taken back."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from malpan.arena.errors import PracticeInvalid
from malpan.arena.models import Campaign
from malpan.arena.own_practice import clean_practice, remove_practice, set_practice
from malpan.competitions.permissions import Permission, require
from malpan.web.acting import act, posted, refusal_of
from malpan.web.forms.arena_campaigns import PracticeForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.arena_pages import campaign_at, campaign_context
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters.arena_practice import EXAMPLES, practice_lines


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.VIEW)
def practice_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """The practice items as judges will see them. POST takes a file of them."""
    campaign = campaign_at(access, pk)
    form = PracticeForm(posted(request), request.FILES or None)
    if not form.is_bound:
        return _page(request, access, campaign, form)
    require(request.user, access.competition, Permission.MANAGE)
    return act(
        request,
        lambda values: set_practice(campaign=campaign, actor=request.user, data=values["file"].read()),
        form=form,
        success=_("연습 문항을 저장했습니다. 평가자에게 보일 대로 아래에서 확인해 주십시오."),
        to=access.url("manage_campaign_practice", pk),
        render_again=lambda status: _page(request, access, campaign, form, status),
        error_field="file",
    )


@require_POST
@manage_page(Permission.MANAGE)
def remove_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Let the practice be made by rule again."""
    campaign = campaign_at(access, pk)
    return act(
        request,
        lambda _values: remove_practice(campaign=campaign, actor=request.user),
        success=_("올린 연습 문항을 지웠습니다. 연습 문항은 규칙으로 만듭니다."),
        to=access.url("manage_campaign_practice", pk),
    )


def _page(
    request: MemberRequest, access: ManageAccess, campaign: Campaign, form: PracticeForm, status: int = 200
) -> HttpResponse:
    refusal = refusal_of(form)
    context: dict[str, Any] = campaign_context(access, campaign, "manage_campaign_practice") | {
        "form": form,
        "is_draft": campaign.state == Campaign.State.DRAFT,
        "problems": refusal.problems if isinstance(refusal, PracticeInvalid) else (),
        "example": EXAMPLES[Campaign.Protocol(campaign.protocol)],
        "lines": [],
        "outdated": (),
    }
    try:
        context["lines"] = practice_lines(campaign, clean_practice(campaign.practice, campaign))
    except PracticeInvalid as error:
        if campaign.practice:
            context["outdated"] = error.problems
    return render(request, "manage/arena_practice.html", context, status=status)


urlpatterns = [
    path("arena/<int:pk>/practice/", practice_page, name="manage_campaign_practice"),
    path("arena/<int:pk>/practice/remove/", remove_action, name="manage_campaign_practice_remove"),
]
