"""The doorbell: a message that says there is work, not which.

It is rung when work was added and committed, by whoever takes a job while more waits, and by beat when anything waits
and no ring is still to be heard. So a ring that is lost, late or doubled takes nobody's turn and loses no work: one too
many finds nothing, and one too few is made up for within ``LOOK_SECONDS``. Nothing is kept of the messages.
"""

from __future__ import annotations

import logging
from typing import Final

from celery import current_app
from django.conf import settings
from django.db import transaction
from kombu.exceptions import ChannelError
from kombu.exceptions import OperationalError as BrokerAway

logger = logging.getLogger(__name__)

TASK: Final = "malpan.jobs.tasks.work"  # by name: the task imports what rings


def ring() -> bool:
    """Wake a worker. False when the broker is away: beat rings again."""
    try:
        current_app.send_task(TASK, retry=False)
    except BrokerAway:
        logger.warning("the broker is away; workers are told later")
        return False
    return True


def ring_on_commit() -> None:
    """Wake a worker once the transaction has committed; whatever happens to the message, the commit stands."""
    transaction.on_commit(ring, robust=True)


def is_ringing() -> bool:
    """Whether a ring waits in the broker for a worker to hear it. Raises ``OperationalError`` where the broker is away.

    While every worker is busy for hours, one ring is enough.
    """
    with current_app.connection_for_read() as broker:
        broker.ensure_connection(max_retries=1, interval_start=0, interval_step=0)
        try:
            queue = broker.default_channel.queue_declare(settings.WORK_QUEUE, passive=True)
        except ChannelError:  # nobody has used the queue yet
            return False
        return bool(queue.message_count)
