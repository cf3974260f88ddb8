"""Judges invited after the opening whose institution has a name like a team's: an organiser says that they are two."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from malpan.arena.institutions import NearInstitution
from malpan.arena.models import Campaign
from malpan.arena.near import clear_institution, near_pairs
from malpan.arena.selectors import judge_of
from malpan.arena.systems import systems_of
from malpan.competitions.permissions import Permission
from malpan.web.acting import act
from malpan.web.forms.arena_judges import NearForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.arena_pages import campaign_at
from malpan.web.pages.context import MemberRequest


def open_questions(campaign: Campaign) -> tuple[NearInstitution, ...]:
    """What is asked while ``campaign`` is judged."""
    is_running = campaign.opened_at is not None and campaign.closed_at is None
    return near_pairs(campaign, systems_of(campaign)) if is_running else ()


@require_POST
@manage_page(Permission.MANAGE)
def clear_action(request: MemberRequest, access: ManageAccess, pk: int, judge_pk: int) -> HttpResponse:
    """Let a judge see a team whose institution is not theirs."""
    judge = judge_of(campaign_at(access, pk), judge_pk)
    return act(
        request,
        lambda values: clear_institution(judge=judge, actor=request.user, team_numbers=[values["team"]]),
        form=NearForm(request.POST),
        success=_("다른 기관으로 기록했습니다. 이제 그 팀의 출력도 이 평가자에게 배정할 수 있습니다."),
        to=access.url("manage_campaign_judges", pk),
    )


urlpatterns = [
    path("arena/<int:pk>/judges/<int:judge_pk>/clear/", clear_action, name="manage_campaign_judge_clear"),
]
