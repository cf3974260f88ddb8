"""What is checked of every request before a view of the site or of the API reads it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from malpan.api.errors import ServerError
from malpan.api.http import error_response
from malpan.core import tracing
from malpan.core.errors import UnsupportedCharset
from malpan.core.log import REQUEST_ID, logged_with, route_of
from malpan.core.service_faults import fault_of
from malpan.web.pages.errors import domain_error_page, server_error_page

API: Final = "/api/"
OPERATORS_PATHS: Final = ("/healthz/", "/openmetrics/")

_SOUND_ID: Final = re.compile(r"[A-Za-z0-9._-]{8,64}")


def server_error(request: HttpRequest) -> HttpResponse:
    """The answer where an error is nobody's who answers requests (``handler500``): a page or a problem document."""
    if not request.path.startswith(API):
        return server_error_page(request)
    error = sys.exception()
    return error_response((fault_of(error) if error else None) or ServerError())


class RequestIdMiddleware:
    """Gives every request an id, that of a proxy in front if it sent one, which its log lines and its answer name."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        request_id = given if _SOUND_ID.fullmatch(given) else uuid4().hex
        request.META[REQUEST_ID] = request_id
        method = request.method or ""
        with logged_with(request=request_id), tracing.span("request", method=method, request=request_id) as span:
            response = self.get_response(request)
            if span is not None:
                span.update_name(f"{method} {route_of(request)}")
                span.set_attribute("status", response.status_code)
                if response.status_code >= 500:
                    tracing.note_error(span, str(response.status_code))
        response["X-Request-ID"] = request_id
        return response


class OperatorsByAddressMiddleware:
    """Answers a load balancer or a Prometheus server that asks by the machine's address, no name of the site."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path in OPERATORS_PATHS:
            request.META["HTTP_HOST"] = urlsplit(settings.SITE_URL).netloc
        return self.get_response(request)


class CharsetMiddleware:
    """Refuses a request in another character set than UTF-8.

    Django decodes a form with whatever codec Python has under the name, such as rot13, which decodes no bytes.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        charset = (request.content_params or {}).get("charset", "utf-8")
        if charset.lower().replace("_", "-") in {"utf-8", "utf8", "us-ascii"}:
            return self.get_response(request)
        request.encoding = "utf-8"  # what the error page reads of the request
        error = UnsupportedCharset(charset=charset[:40])
        return error_response(error) if request.path.startswith(API) else domain_error_page(request, error)
