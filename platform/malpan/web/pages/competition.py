"""The pages that describe a competition: 대회안내 and 데이터."""

from __future__ import annotations

import json
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from malpan.competitions.data_facts import facts_of_files
from malpan.competitions.models import Competition
from malpan.competitions.references import recipe_of
from malpan.competitions.selectors import notices_of
from malpan.competitions.synonyms import versions_with_synonyms
from malpan.core.errors import AddressNotFound
from malpan.stages.awarded import listed_awards
from malpan.submissions.models import Submission
from malpan.teams.models import Team
from malpan.web.pages.context import PageContext, page_context
from malpan.web.presenters.citation import bibtex
from malpan.web.presenters.composites import rules_of
from malpan.web.presenters.notebook import questions_of, starter_notebook
from malpan.web.presenters.page_addresses import absolute
from malpan.web.presenters.periods import period_of
from malpan.web.presenters.scores import caption_formats
from malpan.web.presenters.timeline import timeline_of
from malpan.web.presenters.winners import winners_of
from scoring.reading.answer_forms import forms_of

SHOWN_NOTICES: Final = 5


@require_safe
def overview_page(request: HttpRequest, slug: str) -> HttpResponse:
    page = page_context(request, slug)
    context = page.context("competition") | {
        "sections": [(track, rules_of(track)) for track in page.tracks],
        "notices": list(notices_of(page.competition)[:SHOWN_NOTICES]),
        "figures": _key_figures(page.competition),
        "timeline": timeline_of(page.tracks, timezone.now()),
        "citation": _citation(page),
        "awards": list(listed_awards([page.competition])),
        "won": winners_of([page.competition]).get(page.competition.pk, []),
    }
    return render(request, "pages/competition.html", context)


def _key_figures(competition: Competition) -> dict[str, int]:
    """How many take part and how much came in: both are in the public chain as well. Two queries."""
    teams = Team.objects.filter(competition=competition, is_baseline=False, merged_into=None)
    submissions = Submission.objects.of(competition).charged().filter(team__is_baseline=False)
    return {"teams": teams.count(), "submissions": submissions.count()}


@require_safe
def citation_file(request: HttpRequest, slug: str) -> HttpResponse:
    page = page_context(request, slug)
    response = HttpResponse(_citation(page), content_type="application/x-bibtex; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}.bib"'
    return response


def _citation(page: PageContext) -> str:
    starts_at = period_of(page.tracks, timezone.now()).starts_at
    return bibtex(page.competition, starts_at, absolute(reverse("competition", args=[page.competition.slug])))


@require_safe
def data_page(request: HttpRequest, slug: str) -> HttpResponse:
    page = page_context(request, slug)
    formats = [(track, forms_of(recipe_of(track))) for track in page.tracks]
    offered = [(track, list(track.data_files.all())) for track in page.tracks]
    facts = facts_of_files([file for _track, files in offered for file in files])
    context = page.context("data") | {
        "offered": [(track, [(file, facts.get(file.pk)) for file in files]) for track, files in offered],
        "with_notebooks": {track.slug for track, files in offered if questions_of(track, files)},
        "formats": formats,
        "caption_formats": caption_formats(),
        "own_synonyms": versions_with_synonyms(page.tracks),
        "site_url": settings.SITE_URL.rstrip("/"),
    }
    return render(request, "pages/competition_data.html", context)


@require_safe
def notebook_file(request: HttpRequest, slug: str, track_slug: str) -> HttpResponse:
    """The starter notebook of a track; raises ``AddressNotFound`` where its questions are not handed out."""
    page = page_context(request, slug)
    track = next((each for each in page.tracks if each.slug == track_slug), None)
    questions = None if track is None else questions_of(track, list(track.data_files.all()))
    if track is None or questions is None:
        raise AddressNotFound
    addresses = {
        questions.file_name: reverse("data_file", args=[questions.pk, questions.file_name]),
        "malpan.py": reverse("malpan-command"),
    }
    notebook = starter_notebook(track, questions.file_name, addresses, settings.SITE_URL.rstrip("/"))
    text = json.dumps(notebook, ensure_ascii=False, indent=1)
    response = HttpResponse(text, content_type="application/x-ipynb+json")
    response["Content-Disposition"] = f'attachment; filename="{slug}-{track_slug}.ipynb"'
    return response
