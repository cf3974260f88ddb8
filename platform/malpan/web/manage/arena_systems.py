"""The systems of a campaign: by hand, or the first teams of a board, with the institution of each team."""

from __future__ import annotations

from typing import Any, Final

from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from malpan.arena.models import Campaign
from malpan.arena.selectors import submission_choices
from malpan.arena.systems import INSTITUTION_MAX, choose_systems, choose_top, systems_of, unfitness
from malpan.competitions.permissions import Permission, require
from malpan.web.acting import act
from malpan.web.forms.arena_campaigns import TopForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.arena_pages import campaign_at, campaign_context
from malpan.web.pages.context import MemberRequest

CHOICES_ON_PAGE: Final = 50
_INSTITUTION: Final = "institution-"


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.VIEW)
def systems_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """What is evaluated. POST saves the institutions and takes out what is ticked."""
    campaign = campaign_at(access, pk)
    if request.method != "POST":
        return _page(request, access, campaign)
    require(request.user, access.competition, Permission.MANAGE)
    dropped = set(request.POST.getlist("drop"))
    kept = [name for name in _chosen(campaign) if name not in dropped]
    return act(
        request,
        lambda _values: choose_systems(
            campaign=campaign, actor=request.user, submissions=kept, institutions=_institutions(request.POST)
        ),
        success=_("저장했습니다."),
        to=access.url("manage_campaign_systems", pk),
    )


@require_POST
@manage_page(Permission.MANAGE)
def add_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Add the submissions that are ticked."""
    campaign = campaign_at(access, pk)
    added = request.POST.getlist("add")
    if not added:
        return _page(request, access, campaign, has_none=True, status=422)
    return act(
        request,
        lambda _values: choose_systems(campaign=campaign, actor=request.user, submissions=[*_chosen(campaign), *added]),
        success=_chosen_text,
        to=access.url("manage_campaign_systems", pk),
    )


@require_POST
@manage_page(Permission.MANAGE)
def top_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Choose the first teams of the board of the phase."""
    campaign, form = campaign_at(access, pk), TopForm(request.POST, auto_id="top-%s")
    return act(
        request,
        lambda values: choose_top(campaign=campaign, actor=request.user, **values),
        form=form,
        success=_chosen_text,
        to=access.url("manage_campaign_systems", pk),
        render_again=lambda status: _page(request, access, campaign, form, status),
    )


def _chosen_text(made: list[Any]) -> str:
    text = ngettext("제출 %(count)d개를 평가합니다.", "제출 %(count)d개를 평가합니다.", len(made))
    return text % {"count": len(made)}


def _chosen(campaign: Campaign) -> list[str]:
    return [str(row.submission.public_id) for row in systems_of(campaign)]


def _institutions(data: QueryDict) -> dict[int, str]:
    """The institutions that were typed, by number of the team."""
    named = {name.removeprefix(_INSTITUTION): value for name, value in data.items() if name.startswith(_INSTITUTION)}
    return {int(number): str(value) for number, value in named.items() if number.isdecimal() and len(number) < 10}


def _page(
    request: MemberRequest,
    access: ManageAccess,
    campaign: Campaign,
    form: TopForm | None = None,
    status: int = 200,
    *,
    has_none: bool = False,
) -> HttpResponse:
    """``has_none``: nothing was ticked to be added."""
    is_draft = campaign.state == Campaign.State.DRAFT
    rows = systems_of(campaign)
    context = campaign_context(access, campaign, "manage_campaign_systems") | {
        "is_draft": is_draft,
        "systems": [(row, _fault(row, campaign)) for row in rows],
        "shows_labels": campaign.tells_labels,
        "institution_max": INSTITUTION_MAX,
        "top_form": form or TopForm(auto_id="top-%s"),
        "has_none": has_none,
    }
    if is_draft and access.may(Permission.MANAGE):
        context |= _choices(request, campaign)
    return render(request, "manage/arena_systems.html", context, status=status)


def _fault(row: Any, campaign: Campaign) -> str:
    """Why a system cannot be evaluated any more, such as a team that was disqualified; empty if it can."""
    words = {
        "withdrawn": _("철회한 제출"),
        "refunded": _("무효로 하여 돌려준 제출"),
        "disqualified": _("실격한 팀"),
        "not_scored": _("채점이 끝나지 않은 제출"),
        "other_phase": _("다른 단계의 제출"),
    }
    return words.get(unfitness(row.submission, campaign.phase), "")


def _choices(request: MemberRequest, campaign: Campaign) -> dict[str, Any]:
    """The submissions that could be added, those that were looked for alone, page by page."""
    wanted = request.GET.get("q", "").replace("\x00", "").strip()
    found = [
        row
        for row, is_chosen in submission_choices(campaign)
        if not is_chosen and wanted.lower() in f"{row.team.name} {row.file_name} {row.public_id}".lower()
    ]
    page = Paginator(found, CHOICES_ON_PAGE).get_page(request.GET.get("page"))
    return {"page": page, "wanted": wanted}


urlpatterns = [
    path("arena/<int:pk>/systems/", systems_page, name="manage_campaign_systems"),
    path("arena/<int:pk>/systems/add/", add_action, name="manage_campaign_systems_add"),
    path("arena/<int:pk>/systems/top/", top_action, name="manage_campaign_systems_top"),
]
