"""순위표: the board of a track's phase, sortable by any score with plain links. Once the final board is published it is
shown first, and the public one is a click away, as are those of the past.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from malpan.competitions.models import Phase
from malpan.core.limits import count, network_of, say_limits
from malpan.leaderboard.boards import Board
from malpan.leaderboard.published import day_asked, day_board, past_board, published_board, snapshot_number
from malpan.leaderboard.selectors import board
from malpan.stages.awarded import awards_by, titles_by_number
from malpan.web.pages.context import PageContext, address, page_context
from malpan.web.presenters import composites
from malpan.web.presenters.board import (
    DAY,
    PAST,
    PUBLIC,
    SNAPSHOT,
    board_table,
    on_last_page,
    past_boards_of,
    publications_of,
    view_of,
)
from malpan.web.presenters.board_csv import CSV, FORM, board_csv
from malpan.web.presenters.board_headings import Link
from malpan.web.presenters.phase_rules import ranked_by_text, release_text
from malpan.web.presenters.scores import plain_step_text
from malpan.web.presenters.spread import spread_context
from malpan.web.presenters.sureness import sureness_context


@require_safe
def board_page(request: HttpRequest, slug: str) -> HttpResponse:
    page = page_context(request, slug)
    context = page.context("board", page.track)
    if page.track and page.phase:
        link = _link(page, page.phase)
        is_csv = request.GET.get(FORM) == CSV
        if is_csv:
            count(request, "board", settings.BOARD_DOWNLOADS_PER_ADDRESS, network_of(request))
        view = replace(view_of(request.GET), offset=0, limit=None) if is_csv else view_of(request.GET)
        number, past = (snapshot_number(request.GET.get(name)) for name in (SNAPSHOT, PAST))
        day = day_asked(request.GET.get(DAY))
        final = published_board(page.phase, viewer_team=page.team, view=view, number=number)
        shows_public = final is None or request.GET.get("view") == PUBLIC
        if day is not None:
            found = day_board(page.phase, day, viewer_team=page.team, view=view)
        elif past is not None:
            found = past_board(page.phase, past, viewer_team=page.team, view=view)
        else:
            found = board(page.phase, viewer_team=page.team, view=view) if final is None or shows_public else final
        if is_csv:
            return say_limits(request, board_csv(found))
        if last := on_last_page(found):  # a page that is no longer there
            return redirect(link({**request.GET.dict(), "page": str(last)}))
        counting = composites.final_counting_text if found.is_final else composites.counting_text
        context |= {
            "rules": composites.board_rules(page.track, found.recipe, found.components),
            "formula": composites.formula_text(found.components, found.recipe),
            "formula_details": composites.formula_details(found.components),
            "counting_text": "" if found.is_past else counting(page.phase, found.components, found.recipe),
            "ranked_by": ranked_by_text(page.phase) if found.is_final and not found.is_past else "",
            "release": "" if found.snapshot else release_text(page.phase),
            "plain_step": plain_step_text(page.phase, found.recipe),
            "follows_choice": found.rule.counting == "chosen",
        }
        awards = awards_by(page.track) if found.is_final and not found.is_past else []
        context |= board_table(found, request.GET, link, titles_by_number(awards))
        context |= spread_context(found) | sureness_context(found) | _views(final, shows_public, link)
        context["awards"] = awards
        context["publications"] = [] if final is None else publications_of(final, link)
        context["past_boards"] = past_boards_of(found, link)
        context["days_place"] = [(name, value) for name, value in _place(page, page.phase).items() if found.days]
    return render(request, "pages/board.html", context)


def _views(final: Board | None, shows_public: bool, link: Link) -> dict[str, Any]:
    """Where the other one of the two boards is, and what the organiser wrote on publishing the final one."""
    if final is None or final.snapshot is None:
        return {"public_href": link({})}
    snapshot = final.snapshot
    return {
        "final_href": link({}) if shows_public else None,
        "public_href": link({"view": PUBLIC}),
        "newest_href": link({}),
        "final_note": snapshot.note,
    }


def _link(page: PageContext, phase: Phase) -> Link:
    """What gives the address of this board with a query."""
    base, place = address("board", page.competition), _place(page, phase)

    def link(query: Mapping[str, str]) -> str:
        full = {**place, **query}
        return f"{base}?{urlencode(full)}" if full else base

    return link


def _place(page: PageContext, phase: Phase) -> dict[str, str]:
    """The track and the phase of this board, where there are several."""
    place = {"track": page.track.slug} if page.track and len(page.tracks) > 1 else {}
    if len(phase.track.phases.all()) > 1:
        place["phase"] = phase.slug
    return place
