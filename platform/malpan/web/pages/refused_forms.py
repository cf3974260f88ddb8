"""The page of a form whose token the site does not take, mostly as somebody logged in again since the form was opened:
what happened, what was written, and the way back to the form.
"""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme

from malpan.web.pages.arena_unsent import keep_unsent

_NO_MATCH: Final = "CSRF token from"  # begins the reason where there are a cookie and a token that do not match
_SECRET: Final = ("password", "token")  # in the name of a field whose text is never shown again


def refused_form_page(request: HttpRequest, reason: str = "") -> HttpResponse:
    """``CSRF_FAILURE_VIEW``. What was sent for an assignment of the arena is kept for its form; the texts of another
    form are on this page.
    """
    is_own = _is_own_form(request, reason)
    is_kept = is_own and _is_kept(request)
    context = {
        "has_cookie": settings.CSRF_COOKIE_NAME in request.COOKIES,
        "is_kept": is_kept,
        "words": _words(request) if is_own and not is_kept else "",
        "form_address": _form_address(request),
    }
    return render(request, "403_csrf.html", context, status=403)


def _is_own_form(request: HttpRequest, reason: str) -> bool:
    """Whether it came from a page of this site: the middleware has compared ``Origin`` before any token, and read what
    was sent.
    """
    return "Origin" in request.headers and reason.startswith(_NO_MATCH)


def _is_kept(request: HttpRequest) -> bool:
    match = request.resolver_match
    return match is not None and match.view_name == "arena_assignment" and keep_unsent(request, **match.kwargs)


def _words(request: HttpRequest) -> str:
    """The texts of more than one word that were sent, which it would be a pity to write again."""
    fields = [values for name, values in request.POST.lists() if not any(word in name for word in _SECRET)]
    return "\n\n".join(text.strip() for values in fields for text in values if len(text.split()) > 1)


def _form_address(request: HttpRequest) -> str:
    """The page that the form stands on, which need not be the address that it is sent to."""
    page = request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure()):
        return page
    return request.get_full_path()
