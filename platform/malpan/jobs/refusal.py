"""A process that must do no more jobs: it says why, for the operators, and has its worker stopped."""

from __future__ import annotations

import logging
from collections.abc import Callable

from malpan.jobs.heartbeat import beat
from malpan.jobs.outage import UNREACHABLE

logger = logging.getLogger(__name__)

_name = ""
_stop: Callable[[], None] | None = None
_reason = ""


def prepare(name: str, stop: Callable[[], None]) -> None:
    """Name this process as its heartbeats do, and how its worker is stopped."""
    global _name, _stop
    _name, _stop = name, stop


def refuse(reason: str) -> None:
    """Claim no more jobs. ``reason`` stays beside the process's last heartbeat for a day, or until it works again.

    While the database is unreachable it is in the log alone; the worker is stopped all the same.
    """
    global _reason
    _reason = reason
    logger.critical("시스템 오류: 이 채점 서버는 더 채점하지 않습니다. / This worker takes no more work. %s", reason)
    if _name:
        try:
            beat(_name, {}, reason)
        except UNREACHABLE:
            logger.warning("the database is unreachable: why %s takes no more work is in this log alone", _name)
    if _stop is not None:
        _stop()


def reason() -> str:
    """Why this process does no more jobs; empty if it does."""
    return _reason
