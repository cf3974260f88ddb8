"""Filters of log lines."""

from __future__ import annotations

import logging


class NoTracebackOfBadRequests(logging.Filter):
    """A request that cannot be parsed is its sender's fault: one line, without the traceback that Django adds."""

    def filter(self, line: logging.LogRecord) -> bool:
        if getattr(line, "status_code", 500) < 500:
            line.exc_info = None
        return True
