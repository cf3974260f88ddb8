"""추이와 분포: the plots of a board, each with a table and a CSV file. They say nothing that the boards do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from malpan.competitions.models import Phase
from malpan.leaderboard.boards import Board, View
from malpan.leaderboard.field import Field, field_of_snapshot
from malpan.leaderboard.leading import Lead
from malpan.leaderboard.published import published_board
from malpan.leaderboard.selectors import board_and_field, leads
from malpan.leaderboard.sureness.items import items_found
from malpan.web import fragments
from malpan.web.csv_export import csv_response
from malpan.web.pages.context import PageContext, address, page_context
from malpan.web.presenters import figures, figures_of_items
from malpan.web.presenters.figures import Figure

# what of a plot can be chosen by the address
CHOICES: Final = (*figures.AXES, figures_of_items.WINS, figures_of_items.DIFFICULTY)


@dataclass(frozen=True, slots=True)
class _Shown:
    """What is drawn of the boards of ``page`` as its reader sees them now. ``asked``: the choices that were made."""

    page: PageContext
    public: Board
    teams: Field
    leads: Sequence[Lead]
    final: Board | None
    asked: Mapping[str, str]
    now: datetime  # to the minute

    @property
    def name(self) -> object:
        """What all the plots are made of; empty where that has no name."""
        if self.final is not None or not self.public.rows_name:
            return ()
        phase = self.public.phase
        track = (phase.track.score_scale, phase.track.score_decimals, phase.track.recipe)
        times = (self.now, phase.ends_at, phase.frozen_at)
        return self.public.rows_name, self.leads, track, times, self.asked

    def figures(self) -> list[Figure]:
        phase, teams, shown = self.public.phase, self.teams, self.public
        if self.final is not None and self.final.snapshot is not None:
            teams = field_of_snapshot(self.final.snapshot)
            shown = replace(self.final, rows=self.final.rows[: figures.POINTS])
        own_row, own = shown.own_row, None
        if own_row is not None and own_row.rank is not None:
            own = own_row.final_score if own_row.composite is None else own_row.composite.value
        found = [
            figures.leading(self.leads, phase, self.now),
            figures.distribution(teams, own, phase),
            figures.metrics(shown, self.asked),
            figures.movement(self.final, phase),
        ]
        if items := items_found(shown.sureness):
            found.append(figures_of_items.wins(shown, items, self.asked))
            if shown.is_final and phase.item_scores == Phase.ItemScores.OPEN:
                found.append(figures_of_items.difficulty(shown, items, self.asked))
                found.append(figures_of_items.correlation(shown, items))
        return [each for each in found if each is not None]


@require_safe
def figures_page(request: HttpRequest, slug: str) -> HttpResponse:
    page = page_context(request, slug)
    shown = _shown(request, page)
    context = page.context("board", page.track) | {
        "figures_html": None if shown is None else _html(shown),
        "board_href": f"{address('board', page.competition)}{_query(page)}",
    }
    return render(request, "pages/figures.html", context)


@require_safe
def figure_csv(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """The rows of a plot. 404 where there is none of this name now."""
    page = page_context(request, slug)
    shown = _shown(request, page)
    found = next((each for each in shown.figures() if each.name == name), None) if shown else None
    if found is None or page.phase is None:
        raise Http404
    return csv_response(f"{name}-{page.phase.track.slug}-{page.phase.slug}.csv", found.header, found.rows)


def _shown(request: HttpRequest, page: PageContext) -> _Shown | None:
    if page.phase is None:
        return None
    public, teams = board_and_field(page.phase, viewer_team=page.team, view=View(limit=figures.POINTS))
    return _Shown(
        page=page,
        public=public,
        teams=teams,
        leads=leads(page.phase),
        final=published_board(page.phase, viewer_team=page.team),
        asked={name: request.GET[name] for name in CHOICES if name in request.GET},
        now=timezone.now().replace(second=0, microsecond=0),
    )


def _html(shown: _Shown) -> SafeString:
    """The plots with their forms and tables, rendered once for everybody who sees the same."""
    known, place = shown.name, _place(shown.page)
    drawn = [] if known else shown.figures()

    def content() -> dict[str, Any]:
        found = shown.figures() if known else drawn
        return {"figures": [(each, _csv_href(shown.page, each)) for each in found], "kept": list(place.items())}

    return fragments.remembered(
        "pages/figures_list.html", (known or drawn, shown.page.competition.slug, place), content
    )


def _csv_href(page: PageContext, figure: Figure) -> str:
    chosen = {choice.name: choice.chosen for choice in figure.choices}
    return f"{reverse('figure_csv', args=[page.competition.slug, figure.name])}{_query(page, chosen)}"


def _query(page: PageContext, chosen: Mapping[str, str] | None = None) -> str:
    query = {**_place(page), **(chosen or {})}
    return f"?{urlencode(query)}" if query else ""


def _place(page: PageContext) -> dict[str, str]:
    """What in the address names the board."""
    return {} if page.phase is None else {"track": page.phase.track.slug, "phase": page.phase.slug}
