"""Turns what views raise on purpose into pages, the same in development and in production."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import add_never_cache_headers

from malpan.core.errors import DomainError
from malpan.core.limits import count, network_of
from malpan.core.log import log_if_ours
from malpan.core.uploads import body_size
from malpan.submissions.checking import refuse_if_busy
from malpan.submissions.errors import TooManyUploads
from malpan.web.pages import errors
from malpan.web.presenters.page_addresses import LANGUAGE

logger = logging.getLogger(__name__)


class LanguageByAddressMiddleware:
    """Shows a page in the language of ``?lang=``, which search engines read and people send to each other.

    Whoever has not chosen a language keeps it on the following pages; a choice that was made stays as it is.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        wanted = request.GET.get(LANGUAGE)
        if wanted not in dict(settings.LANGUAGES) or request.path.startswith("/api/v1/"):
            return self.get_response(request)
        translation.activate(wanted)
        request.LANGUAGE_CODE = wanted
        response = self.get_response(request)
        if settings.LANGUAGE_COOKIE_NAME not in request.COOKIES and request.method in ("GET", "HEAD"):
            response.set_cookie(
                settings.LANGUAGE_COOKIE_NAME,
                wanted,
                max_age=settings.LANGUAGE_COOKIE_AGE,
                secure=settings.LANGUAGE_COOKIE_SECURE,
                httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
                samesite="Lax",
            )
        return response


class PersonalPagesMiddleware:
    """Keeps personal pages out of every cache, so that the back button does not show them after logging out.

    It only checks whether a session cookie or a token was sent: to find the user it would need the database.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if settings.SESSION_COOKIE_NAME in request.COOKIES or "Authorization" in request.headers:
            add_never_cache_headers(response)
        return response


class UnreadFilesMiddleware:
    """Refuses a participant's file unread where too many come, or the checks are busy: before the check of the form's
    token, which reads the whole body. The API does the same (``api.submissions``).
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], _arguments: Any, _words: Any
    ) -> HttpResponse | None:
        if request.method != "POST" or not getattr(view, "takes_file", False):
            return None
        who = f"person-{request.user.pk}" if request.user.is_authenticated else network_of(request)
        try:
            count(request, "address", settings.API_REQUESTS_PER_ADDRESS, network_of(request))
            count(request, "uploads", settings.API_UPLOADS_PER_TEAM, who, refusal=TooManyUploads)
            refuse_if_busy(body_size(request))
        except DomainError as error:
            log_if_ours(logger, request, error)
            return errors.domain_error_page(request, error)
        return None


class ErrorPagesMiddleware:
    """Must be last in ``MIDDLEWARE``, so that its pages pass through all the others."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == 404 and request.resolver_match is None:
            return errors.not_found_page(request)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """The page for ``exception``; ``None`` leaves it to Django, which logs it and answers 500."""
        if isinstance(exception, DomainError):
            log_if_ours(logger, request, exception)
            return errors.domain_error_page(request, exception)
        if isinstance(exception, Http404):
            return errors.not_found_page(request)
        return errors.service_page(exception)
