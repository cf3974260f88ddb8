"""Filters of log lines."""

from __future__ import annotations

import logging


class NoTracebackOfBadRequests(logging.Filter):
    """A request that cannot be parsed is its sender's fault: one line, without the traceback that Django adds."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = None
        return True
