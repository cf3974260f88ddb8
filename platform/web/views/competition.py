"""The pages that tell what a competition is: 대회안내 and 데이터."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from competitions.selectors import notices_of
from web.labels import rules_of
from web.views.shared import visit


@require_safe
def overview_page(request: HttpRequest, slug: str) -> HttpResponse:
    seen = visit(request, slug)
    context = seen.context("competition") | {
        "sections": [(track, rules_of(track)) for track in seen.tracks],
        "notices": notices_of(seen.competition),
    }
    return render(request, "competitions/overview.html", context)


@require_safe
def data_page(request: HttpRequest, slug: str) -> HttpResponse:
    seen = visit(request, slug)
    return render(request, "competitions/data.html", seen.context("data"))
