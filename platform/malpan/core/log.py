"""What log lines and metrics say of a request, and filters of log lines."""

from __future__ import annotations

import logging

from django.conf import settings
from django.http import HttpRequest


def route_of(request: HttpRequest) -> str:
    """The pattern of the address: addresses themselves hold the keys of invitations and of mails."""
    if request.resolver_match is not None:
        return request.resolver_match.route or "/"
    return "static" if request.path.startswith(settings.STATIC_URL) else "unknown"


class NoTracebackOfBadRequests(logging.Filter):
    """A request that cannot be parsed is its sender's fault: one line, without the traceback that Django adds."""

    def filter(self, line: logging.LogRecord) -> bool:
        if getattr(line, "status_code", 500) < 500:
            line.exc_info = None
        return True
