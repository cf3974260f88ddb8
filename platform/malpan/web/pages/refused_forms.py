"""The page of a form whose token the site does not take, mostly as somebody logged in again since the form was opened:
what happened, what was written, and the way back to the form.
"""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import REASON_NO_CSRF_COOKIE
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme

from malpan.web.pages.arena_unsent import CHARACTERS_MOST, keep_unsent

_NO_MATCH: Final = "CSRF token from"  # begins the reason where there are a cookie and a token that do not match
_PLAIN: Final = "application/x-www-form-urlencoded"
_SECRET: Final = ("password", "token")  # in the name of a field whose text is never shown again


def refused_form_page(request: HttpRequest, reason: str = "") -> HttpResponse:
    """``CSRF_FAILURE_VIEW``. What was sent for an assignment of the arena is kept for its form; the texts of another
    form are on this page.
    """
    is_judgement, has_cookie = _is_judgement(request), settings.CSRF_COOKIE_NAME in request.COOKIES
    is_own = _is_own_form(request, reason, is_judgement=is_judgement)
    is_kept = is_own and is_judgement and _is_kept(request)
    context = {
        "has_cookie": has_cookie,
        "is_judgement": is_judgement,
        "is_kept": is_kept,
        "words": _words(request) if is_own and not (is_kept and has_cookie) else "",
        "form_address": _form_address(request),
    }
    return render(request, "403_csrf.html", context, status=403)


def _is_own_form(request: HttpRequest, reason: str, *, is_judgement: bool) -> bool:
    """Whether it came from a page of this site: the middleware has compared ``Origin`` before any token, and read what
    was sent. A browser that lost its cookies sends no token to compare: of it only a judgement is read, which is small.
    """
    if "Origin" not in request.headers:
        return False
    if reason == REASON_NO_CSRF_COOKIE:
        return is_judgement and request.content_type == _PLAIN and _length(request) <= CHARACTERS_MOST
    return reason.startswith(_NO_MATCH)


def _length(request: HttpRequest) -> int:
    """How many bytes were sent, as far as the browser says."""
    text = request.META.get("CONTENT_LENGTH") or ""
    return int(text) if text.isascii() and text.isdigit() else CHARACTERS_MOST + 1


def _is_judgement(request: HttpRequest) -> bool:
    match = request.resolver_match
    return match is not None and match.view_name == "arena_assignment"


def _is_kept(request: HttpRequest) -> bool:
    match = request.resolver_match
    return match is not None and keep_unsent(request, **match.kwargs)


def _words(request: HttpRequest) -> str:
    """The texts of more than one word that were sent, which it would be a pity to write again, and any note."""
    fields = [(name, values) for name, values in request.POST.lists() if not any(word in name for word in _SECRET)]
    found = (text.strip() for name, values in fields for text in values if name == "note" or len(text.split()) > 1)
    return "\n\n".join(filter(None, found))


def _form_address(request: HttpRequest) -> str:
    """The page that the form stands on, which need not be the address that it is sent to."""
    page = request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure()):
        return page
    return request.get_full_path()
