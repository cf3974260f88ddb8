"""사람 평가: the human evaluations of a competition as everybody may see them, and their published results."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from malpan.arena.metrics import metrics_file, scores_file, shown_metrics
from malpan.arena.models import Campaign, CampaignResult
from malpan.arena.selectors import (
    back_since,
    drafts_to_come,
    gone_since,
    newest_result,
    progress_of_campaign,
    public_campaign,
    public_campaigns,
    published_exclusions,
    result_bytes_of,
    result_document,
    result_of,
    results_of,
    votes_bytes_of,
)
from malpan.web.csv_export import csv_response
from malpan.web.pages.context import PageContext, page_context
from malpan.web.presenters.arena import criteria_of, explanation_of
from malpan.web.presenters.arena_manage import agreement_lines, warning_texts
from malpan.web.presenters.arena_marked import marked_errors
from malpan.web.presenters.arena_metrics import metrics_context
from malpan.web.presenters.campaigns import (
    csv_rows,
    forest_of,
    influence_sentence,
    matrix_of,
    matrix_rows,
    method_text,
    order_sentence,
    system_lines,
)


@require_safe
def campaigns_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Every human evaluation that began, and by which rubric people will judge in those to come."""
    page = page_context(request, slug)
    rows = [(campaign, *progress_of_campaign(campaign)) for campaign in public_campaigns(page.competition)]
    coming = [(draft, explanation_of(draft), criteria_of(draft.rubric)) for draft in drafts_to_come(page.competition)]
    return render(request, "pages/campaigns.html", page.context("campaigns") | {"rows": rows, "coming": coming})


@require_safe
def campaign_page(request: HttpRequest, slug: str, track_slug: str, number: int) -> HttpResponse:
    """One human evaluation: how it is made, and its result once it is published. Raises ``CampaignNotFound``."""
    page = page_context(request, slug)
    campaign = public_campaign(page.competition, track_slug, min(number, 32767))
    done, total = progress_of_campaign(campaign)
    result = newest_result(campaign)
    context = page.context("campaigns") | {
        "campaign": campaign,
        "track": campaign.track,
        "rubric": campaign.rubric,
        "criteria": criteria_of(campaign.rubric),
        "method": method_text(campaign),
        "systems": campaign.systems.count(),
        "judges": campaign.judges.filter(accepted_at__isnull=False, removed_at=None).count(),
        "done": done,
        "total": total,
        "result": result,
    }
    if result is not None:
        context |= _result(campaign, result, page)
        metrics = shown_metrics(result)
        context |= {"metrics": metrics and metrics_context(metrics, campaign.track.recipe)}
        context |= {"scores_name": _name(campaign, result, "scores")}
    return render(request, "pages/campaign.html", context)


def _result(campaign: Campaign, result: CampaignResult, page: PageContext) -> dict[str, Any]:
    document = result_document(result)
    matrix = matrix_rows(document)
    return {
        "document": document,
        "lines": system_lines(document),
        "has_wins": document["matrix"] is not None,
        "marked": marked_errors(document, campaign.rubric),
        "forest": forest_of(document, page.team.number if page.team else None),
        "matrix": matrix_of(document),
        "matrix_rows": matrix,
        "matrix_codes": [code for code, _team, _cells in matrix],
        "agreement": agreement_lines(document["agreement"], campaign),
        "order": order_sentence(document),
        "influence": influence_sentence(document),
        "warnings": warning_texts(document["warnings"]),
        "gone": gone_since(result),
        "back": back_since(result),
        "exclusions": published_exclusions(result),
        "files": [_name(campaign, result, kind) for kind in ("votes", "result")],
        "earlier": [each for each in results_of(campaign) if each.number != result.number],
    }


@require_safe
def votes_download(request: HttpRequest, slug: str, track_slug: str, number: int, snapshot: int) -> HttpResponse:
    """The votes of a published result, without names: the file that everybody can compute the result from.

    Raises ``CampaignNotFound`` and ``ResultNotFound``.
    """
    campaign, result = _published(request, slug, track_slug, number, snapshot)
    return _file(votes_bytes_of(result), _name(campaign, result, "votes"))


@require_safe
def result_download(request: HttpRequest, slug: str, track_slug: str, number: int, snapshot: int) -> HttpResponse:
    """A published result as it was computed. Raises as ``votes_download``."""
    campaign, result = _published(request, slug, track_slug, number, snapshot)
    return _file(result_bytes_of(result), _name(campaign, result, "result"))


@require_safe
def result_csv(request: HttpRequest, slug: str, track_slug: str, number: int, snapshot: int) -> HttpResponse:
    """The standing of a published result as a table. Raises as ``votes_download``."""
    campaign, result = _published(request, slug, track_slug, number, snapshot)
    columns, rows = csv_rows(result_document(result))
    return csv_response(_name(campaign, result, "result", "csv"), columns, rows)


@require_safe
def metrics_download(request: HttpRequest, slug: str, track_slug: str, number: int, snapshot: int) -> HttpResponse:
    """Which metric agreed with a published result. Raises as ``votes_download``, and ``MetricsNotFound``."""
    campaign, result = _published(request, slug, track_slug, number, snapshot)
    return _file(metrics_file(result), _name(campaign, result, "metrics"))


@require_safe
def scores_download(request: HttpRequest, slug: str, track_slug: str, number: int, snapshot: int) -> HttpResponse:
    """The scores of the metrics that were held against a published result. Raises as ``metrics_download``."""
    campaign, result = _published(request, slug, track_slug, number, snapshot)
    return _file(scores_file(result), _name(campaign, result, "scores"))


def _published(
    request: HttpRequest, slug: str, track_slug: str, number: int, snapshot: int
) -> tuple[Campaign, CampaignResult]:
    competition = page_context(request, slug).competition
    campaign = public_campaign(competition, track_slug, min(number, 32767))
    return campaign, result_of(campaign, min(snapshot, 32767))


def _name(campaign: Campaign, result: CampaignResult, kind: str, ending: str = "json") -> str:
    """The name of a download."""
    track = campaign.track
    return f"{track.competition.slug}-{track.slug}-{kind}-{campaign.number}-{result.number}.{ending}"


def _file(content: bytes, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response
