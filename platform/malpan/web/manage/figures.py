"""Items of a phase for organisers: how hard they are, and which metrics say the same."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.views.decorators.http import require_safe

from malpan.competitions.models import Phase
from malpan.competitions.permissions import Permission
from malpan.competitions.selectors import phases_of
from malpan.leaderboard.boards import Board, View
from malpan.leaderboard.published import published_board
from malpan.leaderboard.selectors import board
from malpan.leaderboard.sureness.items import items_found
from malpan.web.csv_export import csv_response
from malpan.web.forms.duplicates import PhaseFilterForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters import figures_of_items
from malpan.web.presenters.figures import Figure

FINAL: Final = "final"  # ?part=final: of the final board as it was published


@require_safe
@manage_page(Permission.VIEW)
def figures_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    form, phase = _phase(request, access)
    final = _final(access, phase)
    shows_final = final is not None and _asks_for_final(request)
    kept = {} if phase is None else {"phase": str(phase.pk), **({"part": FINAL} if shows_final else {})}
    context = access.context("manage_figures") | {
        "form": form,
        "phase": phase,
        "figures": [(each, _csv_href(access, each, kept)) for each in _figures(request, access, phase)],
        "kept": kept.items(),
        "has_final": final is not None,
        "shows_final": shows_final,
        "part": FINAL,
    }
    return render(request, "manage/figures.html", context)


@require_safe
@manage_page(Permission.VIEW)
def figure_csv(request: MemberRequest, access: ManageAccess, name: str) -> HttpResponse:
    """The rows of a plot. 404 where there is none of this name now."""
    _form, phase = _phase(request, access)
    found = next((each for each in _figures(request, access, phase) if each.name == name), None)
    if found is None or phase is None:
        raise Http404
    return csv_response(f"{name}-{phase.track.slug}-{phase.slug}.csv", found.header, found.rows)


def _csv_href(access: ManageAccess, figure: Figure, kept: dict[str, str]) -> str:
    chosen = {choice.name: choice.chosen for choice in figure.choices}
    return f"{access.url('manage_figure_csv', figure.name)}?{urlencode({**kept, **chosen})}"


def _phase(request: MemberRequest, access: ManageAccess) -> tuple[PhaseFilterForm, Phase | None]:
    form = PhaseFilterForm(access.competition, request.GET)
    return form, form.value("phase") or phases_of(access.competition).first()


def _asks_for_final(request: MemberRequest) -> bool:
    return request.GET.get("part") == FINAL


def _final(access: ManageAccess, phase: Phase | None) -> Board | None:
    """The final board of ``phase``, whose items are those of the private split, for who may see those."""
    if phase is None or not access.may(Permission.VIEW_HIDDEN):
        return None
    return published_board(phase, view=View(limit=0))


def _figures(request: MemberRequest, access: ManageAccess, phase: Phase | None) -> list[Figure]:
    if phase is None:
        return []
    final = _final(access, phase) if _asks_for_final(request) else None
    shown = final or board(phase, for_organiser=True, view=View(limit=0))
    items = items_found(shown.sureness)
    if items is None:
        return []
    found = (
        figures_of_items.difficulty(shown, items, request.GET.dict()),
        figures_of_items.correlation(shown, items),
    )
    return [each for each in found if each is not None]


urlpatterns: list[URLPattern] = [
    path("figures/", figures_page, name="manage_figures"),
    path("figures/<slug:name>.csv", figure_csv, name="manage_figure_csv"),
]
