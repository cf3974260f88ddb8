"""A process that must do no more jobs: it says why, for the operators, and has its worker stopped."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import Error, connection

from malpan.jobs.heartbeat import beat

logger = logging.getLogger(__name__)

_name = ""
_stop: Callable[[], None] | None = None
_reason = ""


def prepare(name: str, stop: Callable[[], None]) -> None:
    """Name this process as its heartbeats do, and how its worker is stopped."""
    global _name, _stop
    _name, _stop = name, stop


def refuse(reason: str) -> None:
    """Claim no more jobs, and have the worker stopped.

    ``reason`` stays beside the process's last heartbeat for a day, or until it works again; if the database is away,
    it is in the log alone.
    """
    global _reason
    _reason = reason
    logger.critical("시스템 오류: 이 채점 서버는 더 채점하지 않습니다. / This worker takes no more work. %s", reason)
    try:
        if _name:
            beat(_name, {}, reason)
    except Error:
        logger.exception("%s: the reason could not be written to the database; the worker stops without", _name)
        connection.close_if_unusable_or_obsolete()
    if _stop is not None:
        _stop()


def reason() -> str:
    """Why this process does no more jobs; empty if it does."""
    return _reason
