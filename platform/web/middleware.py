"""Turns what views raise on purpose into pages, the same in development and in production."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse

from core.errors import DomainError, SystemFault
from web.views import errors

logger = logging.getLogger(__name__)


class ErrorPagesMiddleware:
    """Stands last in ``MIDDLEWARE``, so that its pages pass through all the others."""

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
            if isinstance(exception, SystemFault):
                logger.error("%s at %s", exception.code, request.path, exc_info=exception)
            return errors.domain_error_page(request, exception)
        if isinstance(exception, Http404):
            return errors.not_found_page(request)
        if isinstance(exception, OperationalError):
            logger.error("the database is away", exc_info=exception)
            return errors.unavailable_page()
        return None
