"""The doorbell on a real broker: rung, seen as long as nobody heard it, and harmless where the broker is away."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import settings

from malpan.celery import app
from malpan.jobs import doorbell
from tests.submissions.conftest import broker_unreachable

__all__ = ["broker_unreachable"]


@pytest.fixture
def broker() -> Iterator[None]:
    """The broker in memory, its queue empty."""
    with app.connection_for_write() as connection:
        connection.default_channel.queue_delete(settings.WORK_QUEUE)
        yield
        connection.default_channel.queue_delete(settings.WORK_QUEUE)


@pytest.mark.usefixtures("broker")
def test_a_ring_waits_until_a_worker_hears_it():
    assert not doorbell.is_ringing()
    assert doorbell.ring()
    assert doorbell.is_ringing()

    with app.connection_for_read() as connection, connection.SimpleQueue(settings.WORK_QUEUE) as queue:
        message = queue.get(block=False)
        message.ack()

    assert (message.headers["task"], message.payload[:2]) == (doorbell.TASK, [[], {}])
    assert not doorbell.is_ringing()


@pytest.mark.usefixtures("broker_unreachable")
def test_a_broker_that_is_away_is_no_error_for_who_rings():
    assert not doorbell.ring()
