"""공지: every notice of a competition, newest first."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from malpan.competitions.selectors import notices_of
from malpan.web.pages.context import page_context, page_of

PAGE_SIZE: Final = 20


@require_safe
def notices_page(request: HttpRequest, slug: str) -> HttpResponse:
    page = page_context(request, slug)
    rows = notices_of(page.competition).order_by("-published_at", "-pk")
    context = page.context("competition") | {"page": page_of(request, rows, PAGE_SIZE)}
    return render(request, "pages/notices.html", context)
