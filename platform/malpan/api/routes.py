"""Every operation of the API."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponse

from malpan.api import boards, competitions, own_items, people, submissions, teams, webhooks, words
from malpan.api.application import answered, application
from malpan.api.documents import document
from malpan.api.errors import MethodNotAllowed
from malpan.api.http import dumped
from malpan.api.manage import (
    arena,
    arena_judges,
    arena_quality,
    arena_running,
    awards,
    comparing,
    importing,
    phases,
    quota,
    records,
    references,
    rehearsing,
    rescoring,
    settings,
    stages,
)
from malpan.api.manage import submissions as all_submissions
from malpan.api.manage import teams as all_teams
from malpan.api.manage import webhooks as competition_webhooks
from malpan.api.manage import words as all_words
from malpan.core.errors import AddressNotFound

SUBJECTS: Final = (
    *(people, competitions, submissions, own_items, boards, teams, words, webhooks),
    *(settings, rehearsing, phases, references, rescoring, all_submissions, quota, all_teams, all_words, records),
    *(stages, awards, arena, arena_judges, arena_running, arena_quality, comparing, importing),
    competition_webhooks,
)
api = application()
for subject in SUBJECTS:
    api.add_router("", subject.operations)


@answered
def openapi(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document in the reader's language."""
    if request.method != "GET":
        raise MethodNotAllowed(allowed="GET")
    return HttpResponse(dumped(document(api)), content_type="application/json; charset=utf-8")


@answered
def unknown_address(request: HttpRequest) -> HttpResponse:
    """Everything else under ``/api/``."""
    raise AddressNotFound
