"""추이와 분포: the plots of a board, each with a table and a CSV file. They say nothing that the boards do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from malpan.competitions.models import Phase
from malpan.leaderboard.boards import View
from malpan.leaderboard.field import field_of_snapshot
from malpan.leaderboard.published import published_board
from malpan.leaderboard.selectors import board_and_field, leads
from malpan.leaderboard.sureness.items import items_found
from malpan.web import fragments
from malpan.web.csv_export import csv_response
from malpan.web.pages.context import PageContext, address, page_context
from malpan.web.presenters import figures, figures_of_items
from malpan.web.presenters.figures import Figure


@require_safe
def figures_page(request: HttpRequest, slug: str) -> HttpResponse:
    page = page_context(request, slug)
    context = page.context("board") | {
        "figures": [_html(page, each) for each in _figures(request, page)],
        "board_href": f"{address('board', page.competition)}{_query(page)}",
    }
    return render(request, "pages/figures.html", context)


@require_safe
def figure_csv(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """The rows of a plot. 404 where there is none of this name now."""
    page = page_context(request, slug)
    found = next((each for each in _figures(request, page) if each.name == name), None)
    if found is None or page.phase is None:
        raise Http404
    return csv_response(f"{name}-{page.phase.track.slug}-{page.phase.slug}.csv", found.header, found.rows)


def _html(page: PageContext, figure: Figure) -> SafeString:
    """``figure`` with its form and its table, rendered once for everybody who sees the same."""
    context = {"figure": figure, "csv_href": _csv_href(page, figure), "kept": list(_place(page).items())}
    return fragments.remembered("includes/figure.html", context, lambda: context)


def _csv_href(page: PageContext, figure: Figure) -> str:
    chosen = {choice.name: choice.chosen for choice in figure.choices}
    return f"{reverse('figure_csv', args=[page.competition.slug, figure.name])}{_query(page, chosen)}"


def _figures(request: HttpRequest, page: PageContext) -> list[Figure]:
    """The plots of the phase as the reader sees its boards now."""
    if page.phase is None:
        return []
    phase, asked = page.phase, request.GET.dict()
    final = published_board(phase, viewer_team=page.team)
    public, teams = board_and_field(phase, viewer_team=page.team, view=View(limit=figures.POINTS))
    shown = public
    if final is not None and final.snapshot is not None:
        teams, shown = field_of_snapshot(final.snapshot), replace(final, rows=final.rows[: figures.POINTS])
    own_row, own = shown.own_row, None
    if own_row is not None and own_row.rank is not None:
        own = own_row.final_score if own_row.composite is None else own_row.composite.value
    found = [
        figures.leading(leads(phase), phase, timezone.now().replace(second=0, microsecond=0)),
        figures.distribution(teams, own, phase),
        figures.metrics(shown, asked),
        figures.movement(final, phase),
    ]
    if items := items_found(shown.sureness):
        found.append(figures_of_items.wins(shown, items, asked))
        if shown.is_final and phase.item_scores == Phase.ItemScores.OPEN:
            found += [figures_of_items.difficulty(shown, items, asked), figures_of_items.correlation(shown, items)]
    return [each for each in found if each is not None]


def _query(page: PageContext, chosen: Mapping[str, str] | None = None) -> str:
    query = {**_place(page), **(chosen or {})}
    return f"?{urlencode(query)}" if query else ""


def _place(page: PageContext) -> dict[str, str]:
    """What in the address names the board."""
    return {} if page.phase is None else {"track": page.phase.track.slug, "phase": page.phase.slug}
