"""추이와 분포: the plots of a board, each with a table and a CSV file. They say nothing that the boards do not."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from malpan.leaderboard.field import field_of_snapshot
from malpan.leaderboard.published import published_board
from malpan.leaderboard.selectors import board_and_field, leads
from malpan.web.csv_export import csv_response
from malpan.web.pages.context import PageContext, address, page_context
from malpan.web.presenters import figures
from malpan.web.presenters.figures import Figure


@require_safe
def figures_page(request: HttpRequest, slug: str) -> HttpResponse:
    page = page_context(request, slug)
    query = _query(page)
    context = page.context("board") | {
        "figures": _figures(page),
        "query": query,
        "board_href": f"{address('board', page.competition)}{query}",
    }
    return render(request, "pages/figures.html", context)


@require_safe
def figure_csv(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """The rows of a plot. 404 where there is none of this name now."""
    page = page_context(request, slug)
    found = next((each for each in _figures(page) if each.name == name), None)
    if found is None or page.phase is None:
        raise Http404
    return csv_response(f"{name}-{page.phase.track.slug}-{page.phase.slug}.csv", found.header, found.rows)


def _figures(page: PageContext) -> list[Figure]:
    """The plots of the phase as the reader sees its boards now."""
    if page.phase is None:
        return []
    phase = page.phase
    final = published_board(phase, viewer_team=page.team)
    board, teams = board_and_field(phase, viewer_team=page.team)
    own_row = board.own_row
    if final is not None and final.snapshot is not None:
        teams, own_row = field_of_snapshot(final.snapshot), final.own_row
    own = None
    if own_row is not None and own_row.rank is not None:
        own = own_row.final_score if own_row.composite is None else own_row.composite.value
    found = (
        figures.leading(leads(phase), phase, timezone.now()),
        figures.distribution(teams, own, phase),
        figures.movement(final, phase),
    )
    return [each for each in found if each is not None]


def _query(page: PageContext) -> str:
    if page.phase is None:
        return ""
    return "?" + urlencode({"track": page.phase.track.slug, "phase": page.phase.slug})
