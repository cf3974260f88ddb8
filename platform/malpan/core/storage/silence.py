"""A store that takes requests and does not answer: one thread of a process at a time waits for it.

The others are refused at once. Else a few uploads would hold every thread of a web process for as long as each waits,
and pages that need no file would stand still with them.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import datetime
from typing import Any, Final

from botocore.exceptions import BotoCoreError
from django.utils import timezone

from malpan.core.storage.stores import listeners

logger = logging.getLogger(__name__)

REFUSED_SECONDS: Final = 5.0  # after a request without an answer, until one is let through again
PROBE_SECONDS: Final = 30.0  # for that one; the longest that a request waits is less


class StoreSilent(BotoCoreError):
    """The store did not answer a moment ago; this request was not sent."""

    fmt = "the store does not answer"


def _outcome(exception: Exception | None, answer: dict[str, Any] | None) -> str:
    """How a request ended, as ``stores.listeners`` are told it."""
    if exception is not None:
        return "refused" if isinstance(exception, StoreSilent) else "no_answer"
    status = (answer or {}).get("ResponseMetadata", {}).get("HTTPStatusCode", 200)
    return "error" if status >= 500 or status in (401, 403) else "answered"  # 404 is an answer: there is no such file


class Watch:
    """What a process knows of the store at ``endpoint``. ``silent_since``: when a request first had no answer, ``None``
    while the store answers. ``patience``: seconds after which a request that failed counts as one without an answer.
    """

    def __init__(self, endpoint: str, patience: float) -> None:
        self.endpoint = endpoint
        self.patience = patience
        self.silent_since: datetime | None = None
        self._refused_until = 0.0
        self._lock = threading.Lock()
        self._begun = threading.local()

    def watch(self, client: Any) -> None:
        """Look at every request of ``client``, also those that it repeats."""
        client.meta.events.register("before-send.s3", self._before)
        client.meta.events.register("response-received.s3", self._after)

    def _before(self, **_request: Any) -> None:
        """Raises ``StoreSilent``."""
        now = self._begun.at = time.monotonic()
        with self._lock:
            if self.silent_since is not None:
                if now < self._refused_until:
                    raise StoreSilent
                self._refused_until = now + PROBE_SECONDS

    def _after(
        self,
        *,
        event_name: str,
        exception: Exception | None = None,
        parsed_response: dict[str, Any] | None = None,
        **_response: Any,
    ) -> None:
        seconds, operation = time.monotonic() - self._begun.at, event_name.rpartition(".")[2]
        for tell in listeners:
            tell(operation, _outcome(exception, parsed_response), seconds)
        if isinstance(exception, StoreSilent):
            return
        now = time.monotonic()
        with self._lock:
            if exception is not None and now - self._begun.at >= self.patience:
                if self.silent_since is None:
                    self.silent_since = timezone.now()
                    logger.error("the store at %s does not answer: no file can be stored or read", self.endpoint)
                self._refused_until = now + REFUSED_SECONDS
            elif self.silent_since is not None:
                self.silent_since = None
                logger.warning("the store at %s answers again", self.endpoint)
