"""The doorbell: a message to the workers that there is work, without saying which.

It is rung when work was added and committed, by a worker that takes a job while more is waiting, and by beat if
anything waits and no ring is pending. So a lost, late or doubled ring changes no order and loses no work: one too many
finds nothing, and a missing one is replaced within ``LOOK_SECONDS``. The messages are not stored.
"""

from __future__ import annotations

import logging
import time
from typing import Final

from celery import current_app
from django.conf import settings
from django.db import transaction
from kombu.exceptions import ChannelError
from kombu.exceptions import OperationalError as BrokerUnreachable

logger = logging.getLogger(__name__)

TASK: Final = "malpan.jobs.tasks.work"  # by name: the task imports this module
AGAIN_SECONDS: Final = 2.0

_failed_at: float | None = None  # when the last ring of this process failed; none since


def ring() -> bool:
    """Wake a worker. Returns false if the broker is down or hangs: beat rings again."""
    global _failed_at
    try:
        current_app.send_task(TASK, retry=False)
    except BrokerUnreachable:
        _failed_at = time.monotonic()
        logger.warning("the broker is unreachable; workers will be notified later")
        return False
    _failed_at = None
    return True


def ring_on_commit() -> None:
    """Wake a worker after the transaction has committed; a failure of the message does not undo the commit.

    A hanging broker costs a ring the time-out of its socket. So that uploads do not wait for it one after the other,
    nothing is sent for ``AGAIN_SECONDS`` after a ring of this process failed.
    """
    transaction.on_commit(_ring_unless_just_failed, robust=True)


def _ring_unless_just_failed() -> None:
    if _failed_at is None or time.monotonic() - _failed_at >= AGAIN_SECONDS:
        ring()


def is_ringing() -> bool:
    """Whether a ring is pending in the broker. Raises ``OperationalError`` if the broker is down or hangs.

    While every worker is busy for hours, one ring is enough.
    """
    with current_app.connection_for_read() as broker:
        broker.ensure_connection(max_retries=1, interval_start=0, interval_step=0)
        try:
            queue = broker.default_channel.queue_declare(settings.WORK_QUEUE, passive=True)
        except ChannelError:  # nobody has used the queue yet
            return False
        except broker.connection_errors as error:
            raise BrokerUnreachable(str(error)) from error
        return bool(queue.message_count)
