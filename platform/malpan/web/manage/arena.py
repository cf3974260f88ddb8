"""Human evaluation: the campaigns of every track, a new one, its settings."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.arena.campaigns import create_campaign, remove_campaign, update_campaign
from malpan.arena.errors import CampaignSettingsInvalid, RubricUnfit
from malpan.arena.models import Campaign
from malpan.arena.progress import counts_of, lost_counts, workload
from malpan.arena.selectors import campaigns_of, newest_result
from malpan.competitions.permissions import Permission, require
from malpan.competitions.selectors import get_track, tracks_of
from malpan.core.errors import DomainError
from malpan.web.acting import act, posted
from malpan.web.forms.arena_campaigns import CampaignForm, CampaignTextsForm
from malpan.web.forms.fields import ConfirmForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.arena_pages import campaign_at, campaign_context
from malpan.web.pages.context import MemberRequest, page_of
from malpan.web.presenters.arena_manage import next_step


@require_safe
@manage_page(Permission.VIEW)
def arena_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Every campaign with its state and what comes next."""
    tracks = tracks_of(access.competition)
    page = page_of(request, campaigns_of(access.competition), 50)
    counts = counts_of(page)
    lines = [(each, counts[each.pk], next_step(each, counts[each.pk])) for each in page]
    context = access.context("manage_arena") | {
        "sections": [(track, track.rubrics.exists()) for track in tracks],
        "lines": lines,
        "page": page,
    }
    return render(request, "manage/arena.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def new_page(request: MemberRequest, access: ManageAccess, track_slug: str) -> HttpResponse:
    """Make a campaign of a track. Raises ``TrackNotFound``."""
    track = get_track(access.competition, track_slug)
    form = CampaignForm(posted(request), track=track)
    context = access.context("manage_arena") | {
        "track": track,
        "form": form,
        "lacks_rubric": not track.rubrics.exists(),
        "lacks_phase": not track.phases.exists(),
    }

    def again(status: int) -> HttpResponse:
        return render(request, "manage/arena_new.html", context, status=status)

    if not form.is_bound:
        return again(200)
    return act(
        request,
        lambda _values: create_campaign(track=track, actor=request.user, **form.values()),
        form=form,
        success=_("평가를 만들었습니다. 이제 평가할 제출을 고르십시오."),
        to=lambda made: access.url("manage_campaign_systems", made.pk),
        render_again=again,
        error_field=lambda error: _field_at_fault(form, error),
    )


@require_safe
@manage_page(Permission.VIEW)
def campaign_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """A campaign at a glance: its state, what comes next, what was committed to in the chain."""
    campaign = campaign_at(access, pk)
    context = campaign_context(access, campaign, "manage_campaign")
    counts = context["counts"]
    context |= {
        "workload": workload(campaign, counts.accepted),
        "lost": lost_counts(campaign),
        "result": newest_result(campaign),
        "removal": _removal_form(),
    }
    return render(request, "manage/arena_campaign.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.VIEW)
def settings_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """The settings of a draft, the texts and times of what has begun. POST saves them."""
    campaign = campaign_at(access, pk)
    form = _settings_form(access, campaign, posted(request))
    if not form.is_bound:
        return _settings_page(request, access, campaign, form)
    require(request.user, access.competition, Permission.MANAGE)
    return act(
        request,
        lambda _values: update_campaign(campaign=campaign, actor=request.user, **form.values()),
        form=form,
        success=_("저장했습니다."),
        to=access.url("manage_campaign_settings", pk),
        render_again=lambda status: _settings_page(request, access, campaign, form, status),
        error_field=lambda error: _field_at_fault(form, error),
    )


def _settings_form(access: ManageAccess, campaign: Campaign, data: Any) -> CampaignForm | CampaignTextsForm:
    """The form fills in a row of its own, so that ``campaign`` stays what is stored."""
    own = campaign_at(access, campaign.pk)
    if campaign.state == Campaign.State.DRAFT:
        return CampaignForm(data, instance=own, track=campaign.track)
    return CampaignTextsForm(data, instance=own)


def _settings_page(
    request: MemberRequest, access: ManageAccess, campaign: Campaign, form: Any, status: int = 200
) -> HttpResponse:
    context = campaign_context(access, campaign, "manage_campaign_settings")
    context |= {"form": form, "is_draft": campaign.state == Campaign.State.DRAFT}
    return render(request, "manage/arena_settings.html", context, status=status)


def _field_at_fault(form: CampaignForm | CampaignTextsForm, error: DomainError) -> str | None:
    if isinstance(error, RubricUnfit):
        return "rubric" if "rubric" in form.fields else None
    field = error.field if isinstance(error, CampaignSettingsInvalid) else None
    return field if field in form.fields else None


@require_POST
@manage_page(Permission.MANAGE)
def remove_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Delete a draft with its invitations."""
    campaign = campaign_at(access, pk)
    return act(
        request,
        lambda _values: remove_campaign(campaign=campaign, actor=request.user),
        form=_removal_form(request.POST),
        success=_("평가를 지웠습니다."),
        to=lambda _done: _after_removal(access, campaign),
    )


def _after_removal(access: ManageAccess, campaign: Campaign) -> str:
    """The list, or the campaign where it is still there."""
    exists = Campaign.objects.filter(pk=campaign.pk).exists() if campaign.pk else False
    return access.url("manage_campaign", campaign.pk) if exists else access.url("manage_arena")


def _removal_form(data: Any = None) -> ConfirmForm:
    sentence = _("이 평가와 보낸 초대를 지웁니다. 초대 링크는 바로 쓸 수 없게 됩니다. 되돌릴 수 없습니다.")
    return ConfirmForm(data, sentence=sentence, key="remove")


urlpatterns = [
    path("arena/", arena_page, name="manage_arena"),
    path("arena/new/<slug:track_slug>/", new_page, name="manage_campaign_new"),
    path("arena/<int:pk>/", campaign_page, name="manage_campaign"),
    path("arena/<int:pk>/settings/", settings_page, name="manage_campaign_settings"),
    path("arena/<int:pk>/remove/", remove_action, name="manage_campaign_remove"),
]
