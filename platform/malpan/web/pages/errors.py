"""Error pages: what happened, who must fix it, what to do next."""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.defaults import server_error

from malpan.core.errors import DomainError, SystemFault
from malpan.core.messages import heading_of, text_of
from malpan.core.service_faults import fault_of, log_fault


def domain_error_page(request: HttpRequest, error: DomainError) -> HttpResponse:
    """The page of a refusal or fault that no view turned into a message, with its HTTP status."""
    is_ours = isinstance(error, SystemFault)
    if error.http_status == 404:
        title = _("찾을 수 없습니다")
    else:
        title = _("서버에 문제가 생겼습니다") if is_ours else _("요청을 처리할 수 없습니다")
    context = {"heading": heading_of(error), "title": title, "text": text_of(error), "is_ours": is_ours}
    if request.method == "GET" and request.GET:  # it may be what was asked of the page
        context["plain_href"] = request.path
    page = render_to_string("error.html", context, request)
    return HttpResponse(page, status=error.http_status, headers=error.headers)


def not_found_page(request: HttpRequest) -> HttpResponse:
    """The page of an address that the site does not have."""
    return render(request, "404.html", status=404)


def service_page(error: BaseException | None) -> HttpResponse | None:
    """The page where the database, Redis or a disk fails: rendered without session, user or any query.

    ``None`` for any other error.
    """
    fault = fault_of(error) if error else None
    if error is None or fault is None:
        return None
    log_fault(fault, error)
    page = render_to_string("503.html", {"text": text_of(fault)})
    return HttpResponse(page, status=fault.http_status, headers={"Retry-After": "30"} | fault.headers)


def server_error_page(request: HttpRequest) -> HttpResponse:
    """The page of an error that no view and no middleware handled: also what they themselves meet (``handler500``)."""
    return service_page(sys.exception()) or server_error(request)
