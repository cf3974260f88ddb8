"""Mails as the site sends them, and whether the last ones went: what its operators are told of.

The state is in the cache, so that it is that of all processes, and a mail never waits for it or fails with it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from smtplib import SMTPRecipientsRefused
from typing import Any, Final

from django.conf import settings
from django.core.cache import cache
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.utils import timezone

logger = logging.getLogger(__name__)

_SENT: Final = "mail:sent"
_FAILED: Final = "mail:failed"
_KEPT_SECONDS: Final = 30 * 24 * 3600


@dataclass(frozen=True, slots=True)
class MailState:
    """When a mail last went, and when one last did not, with the kind of fault. ``None``: not in 30 days."""

    sent_at: datetime | None
    failed_at: datetime | None
    fault: str

    @property
    def is_failing(self) -> bool:
        """Whether the last mail did not go."""
        return self.failed_at is not None and (self.sent_at is None or self.sent_at < self.failed_at)


class EmailBackend(BaseEmailBackend):
    """That of ``MAIL_TRANSPORT``, whose successes and faults are noted."""

    def __init__(self, fail_silently: bool = False, **options: Any) -> None:
        super().__init__(fail_silently=fail_silently)
        self._transport = get_connection(settings.MAIL_TRANSPORT, fail_silently=False, **options)

    def open(self) -> bool | None:
        """As the transport's own."""
        return self._transport.open()

    def close(self) -> None:
        """As the transport's own."""
        self._transport.close()

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Send, and note what came of it. Raises what the transport raises, unless failures are ignored."""
        try:
            sent = self._transport.send_messages(email_messages)
        except Exception as error:
            if not _is_of_the_address(error):
                _note(_FAILED, (timezone.now(), type(error).__name__))
            if self.fail_silently:
                logger.warning("a mail was not sent: %s", type(error).__name__)
                return 0
            raise
        if sent:
            _note(_SENT, timezone.now())
        return int(sent or 0)


def _is_of_the_address(error: Exception) -> bool:
    """Whether the server takes mails, and knows no such address (X.1.X of RFC 3463): anybody can sign up with one."""
    return isinstance(error, SMTPRecipientsRefused) and all(
        reply.startswith(b"5.1.") for _code, reply in error.recipients.values()
    )


def mail_state() -> MailState:
    """What is known of the last mails. Raises what the cache raises where it is away."""
    found = cache.get_many([_SENT, _FAILED])
    failed_at, fault = found.get(_FAILED, (None, ""))
    return MailState(found.get(_SENT), failed_at, fault)


def _note(key: str, value: Any) -> None:
    try:
        cache.set(key, value, _KEPT_SECONDS)
    except Exception:
        logger.warning("the state of mails could not be noted", exc_info=True)
