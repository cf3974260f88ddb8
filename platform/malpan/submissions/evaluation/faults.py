"""The worker's boundary: whatever stops a piece of work is written to its row, without quoting a text of anybody."""

from __future__ import annotations

import logging
import traceback
from types import TracebackType
from typing import Final, Protocol, Self

from django.db import connection

from malpan.core.errors import SystemFault
from malpan.submissions.errors import ModelMissing, ScoringCrashed
from malpan.submissions.evaluation.leases import LeaseLost
from scoring.errors import ModelUnavailable

logger = logging.getLogger(__name__)

RETRY_PAUSE_SECONDS: Final = 5  # times the attempt number: a fault that passes gets time to pass


class StepFailed(Exception):
    """A step that ran in a process of its own failed there, and was logged there. ``code`` says how."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


class Fail(Protocol):
    """What notes a fault: ``runs.fail_run`` or ``shards.fail_shard``, bound to its row and attempt."""

    def __call__(self, *, error_code: str, pause: float) -> bool: ...


class FaultsFail:
    """Hands every fault of the ``with`` block to ``fail``; a lost lease ends it quietly. ``what`` is for the log."""

    def __init__(self, what: str, attempt: int, fail: Fail) -> None:
        self._what = what
        self._attempt = attempt
        self._fail = fail

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):  # nothing wrong, or the process is being stopped: the lease will run out
            return False
        if isinstance(error, LeaseLost):
            logger.info("%s: attempt %s stops, it is in other hands", self._what, self._attempt)
            return True
        log_fault(f"{self._what}: attempt {self._attempt}", error)
        connection.close_if_unusable_or_obsolete()
        self._fail(error_code=code_of(error), pause=RETRY_PAUSE_SECONDS * self._attempt)
        return True


def code_of(error: Exception) -> str:
    """The code under which the fault is kept and shown."""
    if isinstance(error, SystemFault | StepFailed):
        return error.code
    return ModelMissing.code if isinstance(error, ModelUnavailable) else ScoringCrashed.code


def log_fault(what: str, error: Exception) -> None:
    """Where it stopped and on what kind of error. A missing model also says which command fetches it."""
    advice = f": {error}" if isinstance(error, ModelUnavailable | StepFailed) else ""
    places = "".join(traceback.format_tb(error.__traceback__))
    logger.error("%s: %s%s\n%s", what, type(error).__name__, advice, places)
