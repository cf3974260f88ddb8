"""What search engines ask for: ``/robots.txt`` and ``/sitemap.xml``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.http import require_safe

from malpan.competitions.selectors import published_competitions
from malpan.web.presenters.page_addresses import LANGUAGE, absolute
from scoring.cards import card_names

CLOSED: Final = (
    *("/account/", "/accounts/", "/admin/", "/api/", "/arena/", "/files/", "/invitations/", "/manage/"),
    *("/openmetrics/", "/submissions/", "/tokens/", "/unsubscribe/", "/competitions/*/manage/", "/*?*sort=", "/*?*q="),
)  # fmt: skip
OF_A_COMPETITION: Final = ("competition", "competition_data", "board", "figures", "notices", "chain")


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    lines = ["User-agent: *", *(f"Disallow: {place}" for place in CLOSED), f"Sitemap: {absolute(reverse('sitemap'))}"]
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """Where browsers look that read no page: old ones, and those that show a file."""
    return redirect(static("web/favicon.ico"))


@require_safe
def sitemap(request: HttpRequest) -> HttpResponse:
    """The pages for everybody, each with its address in every language. One query."""
    codes = [code for code, _name in settings.LANGUAGES]
    pages = [
        {"plain": absolute(path), "languages": [(code, absolute(f"{path}?{LANGUAGE}={code}")) for code in codes]}
        for path in _paths()
    ]
    return render(request, "sitemap.xml", {"pages": pages}, content_type="application/xml; charset=utf-8")


def _paths() -> Iterator[str]:
    yield from (reverse(name) for name in ("home", "metrics", "privacy", "terms_of_use", "api-docs"))
    yield from (reverse("metric", args=[name]) for name in card_names())
    found = published_competitions()
    for competition in (*found.running, *found.upcoming, *found.past):
        yield from (reverse(name, args=[competition.slug]) for name in OF_A_COMPETITION)
