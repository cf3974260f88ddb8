"""Opening a campaign, closing it, publishing its result: each with what it would do before it is done."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from malpan.arena.closing import close_campaign, open_assignments
from malpan.arena.declaring import judges_hiding_too_much
from malpan.arena.errors import JudgeNamed, SplitMissing, TooFewItems
from malpan.arena.metrics import ask_metrics_again, metrics_document, metrics_under_way
from malpan.arena.models import Campaign
from malpan.arena.opening import DesignPreview, open_campaign, preview_design
from malpan.arena.progress import lost_counts
from malpan.arena.publishing import Computed, computed_result, publish_result
from malpan.arena.selectors import back_since, gone_since, judges_of, result_of, results_of
from malpan.arena.systems import systems_of
from malpan.arena.telling import telling_words_of
from malpan.competitions.permissions import Permission, require
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.web.acting import act, posted
from malpan.web.forms.arena_campaigns import CampaignPublishForm, CloseForm
from malpan.web.forms.fields import ConfirmForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.arena_pages import campaign_at, campaign_context, or_waiting
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters.arena_manage import agreement_lines, standing_lines, warning_texts
from malpan.web.presenters.arena_marked import marked_errors
from malpan.web.presenters.arena_metrics import metrics_context


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def opening_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """The design that opening now would give, and words that could give a team away; POST opens."""
    campaign, form = campaign_at(access, pk), _opening_form(posted(request))
    if not form.is_bound:
        return _opening_page(request, access, campaign, form)
    return act(
        request,
        lambda _values: open_campaign(campaign=campaign, actor=request.user),
        form=form,
        success=_("평가를 시작했습니다. 평가자는 이제 판단할 수 있습니다."),
        to=access.url("manage_campaign", pk),
        render_again=lambda status: _opening_page(request, access, campaign, form, status),
    )


def _opening_form(data: Any = None) -> ConfirmForm:
    sentence = _("위의 배정으로 평가를 시작합니다. 시작하면 설정과 제출, 문항을 바꿀 수 없습니다.")
    return ConfirmForm(data, sentence=sentence, key="open")


def _design_of(campaign: Campaign) -> tuple[DesignPreview | None, str, bool]:
    """The design, or why there is none, and whether that is for the settings of the items."""
    try:
        return preview_design(campaign=campaign), "", False
    except DomainError as error:
        return None, text_of(error), isinstance(error, TooFewItems | SplitMissing)


def _opening_page(
    request: MemberRequest, access: ManageAccess, campaign: Campaign, form: ConfirmForm, status: int = 200
) -> HttpResponse:
    is_draft = campaign.state == Campaign.State.DRAFT
    design, refusal, lacks_items = _design_of(campaign) if is_draft else (None, "", False)
    words, missing = or_waiting(lambda: telling_words_of(campaign)) if design else (None, {})
    context = campaign_context(access, campaign, "manage_campaign_opening") | {
        "words": words,
        "words_refusal": missing.get("refusal"),
        "waiting": missing.get("waiting"),
        "is_draft": is_draft,
        "design": design,
        "refusal": refusal,
        "lacks_items": lacks_items,
        "hiding": judges_hiding_too_much(judges_of(campaign), systems_of(campaign)) if refusal else (),
        "form": form,
    }
    return render(request, "manage/arena_opening.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def closing_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """What is unfinished; POST closes."""
    campaign = campaign_at(access, pk)
    context, left = campaign_context(access, campaign, "manage_campaign_closing"), open_assignments(campaign)
    form = CloseForm(posted(request), left=left)
    unfinished = [judge for judge in judges_of(campaign) if judge.removed_at is None and judge.done < judge.total]
    is_open = campaign.state == Campaign.State.OPEN
    context |= {"form": form, "left": left, "unfinished": unfinished, "is_open": is_open, "lost": lost_counts(campaign)}

    def again(status: int) -> HttpResponse:
        return render(request, "manage/arena_closing.html", context, status=status)

    if not form.is_bound:
        return again(200)
    return act(
        request,
        lambda values: close_campaign(
            campaign=campaign, actor=request.user, accepts_open=values.get("accepts_open", False)
        ),
        form=form,
        success=_("평가를 마감했습니다. 결과를 확인하고 발표하십시오."),
        to=access.url("manage_campaign_publishing", pk),
        render_again=again,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.VIEW_HIDDEN)
def publishing_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """The result as it would be published now; POST publishes it."""
    campaign = campaign_at(access, pk)
    if request.method != "POST":
        return _publishing_page(request, access, campaign, None)
    require(request.user, access.competition, Permission.MANAGE)
    form = CampaignPublishForm(request.POST, is_erratum=bool(results_of(campaign)))
    return act(
        request,
        lambda values: publish_result(
            campaign=campaign,
            actor=request.user,
            result_sha256=values["result_sha256"],
            note_ko=values["note_ko"],
            note_en=values["note_en"],
        ),
        form=form,
        success=lambda made: _("평가 결과 %(number)d판을 발표했습니다.") % {"number": made.number},
        to=access.url("manage_campaign_publishing", pk),
        render_again=lambda status: _publishing_page(request, access, campaign, form, status),
        error_field=_note_of,
    )


def _note_of(error: DomainError) -> str | None:
    """The note that names a judge."""
    if isinstance(error, JudgeNamed) and error.field in ("note_ko", "note_en"):
        return error.field
    return None


def _publishing_page(
    request: MemberRequest,
    access: ManageAccess,
    campaign: Campaign,
    form: CampaignPublishForm | None,
    status: int = 200,
) -> HttpResponse:
    published = results_of(campaign)
    computed, missing = or_waiting(lambda: computed_result(campaign=campaign))
    context = campaign_context(access, campaign, "manage_campaign_publishing") | missing
    context |= {"snapshots": published, "form": form, "shows_first": computed is None, **_metrics(campaign, published)}
    if published:
        context |= {"gone": gone_since(published[0]), "back": back_since(published[0])}
    if computed is not None:
        context |= result_context(computed.document, campaign) | _to_publish(computed, published)
        if form is None:
            form = CampaignPublishForm(initial={"result_sha256": computed.result_sha256}, is_erratum=bool(published))
        form.offer(computed.result_sha256)
        context["form"] = form
    return render(request, "manage/arena_publishing.html", context, status=status)


def _metrics(campaign: Campaign, published: list[Any]) -> dict[str, Any]:
    """What the metrics held against the newest result gave, also where the scores are not public."""
    if not published:
        return {}
    document = metrics_document(published[0])
    return {
        "metrics": document and metrics_context(document, campaign.track.recipe),
        "metrics_job": metrics_under_way(published[0]),
    }


@require_POST
@manage_page(Permission.MANAGE)
def metrics_again(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Have the metrics held against the newest result with the scores as they are now."""
    campaign = campaign_at(access, pk)
    return act(
        request,
        lambda _values: ask_metrics_again(result=result_of(campaign), actor=request.user),
        success=_("지표의 대조를 채점 서버에 맡겼습니다. 점수가 그대로이면 새로 계산하지 않습니다."),
        to=access.url("manage_campaign_publishing", pk),
    )


def _to_publish(computed: Computed, published: list[Any]) -> dict[str, Any]:
    return {
        "computed": computed,
        "is_published_so": bool(published) and published[0].result_sha256 == computed.result_sha256,
    }


def result_context(document: dict[str, Any], campaign: Campaign) -> dict[str, Any]:
    """The context of ``manage/arena_standing.html``."""
    return {
        "standing": standing_lines(document),
        "has_wins": document["matrix"] is not None,
        "marked": marked_errors(document, campaign.rubric),
        "unranked": document["unranked"],
        "numbers": document["numbers"],
        "agreement": agreement_lines(document["agreement"], campaign),
        "warnings": warning_texts(document["warnings"]),
    }


urlpatterns = [
    path("arena/<int:pk>/opening/", opening_page, name="manage_campaign_opening"),
    path("arena/<int:pk>/closing/", closing_page, name="manage_campaign_closing"),
    path("arena/<int:pk>/publishing/", publishing_page, name="manage_campaign_publishing"),
    path("arena/<int:pk>/metrics/", metrics_again, name="manage_campaign_metrics"),
]
