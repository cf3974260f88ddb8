"""The pages that describe a competition: 대회안내 and 데이터."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from malpan.competitions.data_facts import facts_of_files
from malpan.competitions.references import recipe_of
from malpan.competitions.selectors import notices_of
from malpan.web.pages.context import page_context
from malpan.web.presenters.composites import rules_of
from malpan.web.presenters.scores import caption_formats
from scoring.reading.answer_forms import forms_of

SHOWN_NOTICES: Final = 5


@require_safe
def overview_page(request: HttpRequest, slug: str) -> HttpResponse:
    page = page_context(request, slug)
    notices = list(notices_of(page.competition)[: SHOWN_NOTICES + 1])
    context = page.context("competition") | {
        "sections": [(track, rules_of(track)) for track in page.tracks],
        "notices": notices[:SHOWN_NOTICES],
        "has_more_notices": len(notices) > SHOWN_NOTICES,
    }
    return render(request, "pages/competition.html", context)


@require_safe
def data_page(request: HttpRequest, slug: str) -> HttpResponse:
    page = page_context(request, slug)
    formats = [(track, forms_of(recipe_of(track))) for track in page.tracks]
    offered = [(track, list(track.data_files.all())) for track in page.tracks]
    facts = facts_of_files([file for _track, files in offered for file in files])
    context = page.context("data") | {
        "offered": [(track, [(file, facts.get(file.pk)) for file in files]) for track, files in offered],
        "formats": formats,
        "caption_formats": caption_formats(),
    }
    return render(request, "pages/competition_data.html", context)
