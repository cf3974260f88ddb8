"""The doorbell on a real broker: rung, seen until somebody hears it, harmless where the broker is away or hangs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.core.cache.backends.redis import RedisCache
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from malpan import settings as site
from malpan.celery import app
from malpan.jobs import doorbell
from tests.hanging import hanging_server
from tests.submissions.conftest import broker_unreachable, pointed_at

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


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_hangs_costs_one_commit_the_time_out_of_its_socket_and_the_next_ones_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doorbell, "AGAIN_SECONDS", 60.0)  # no test takes as long
    with hanging_server() as port, pointed_at(f"redis://127.0.0.1:{port}/0"):
        assert 1 < seconds_of(doorbell.ring_on_commit) < 3 * settings.REDIS_SECONDS
        assert seconds_of(doorbell.ring_on_commit) < 1
        doorbell._failed_at -= doorbell.AGAIN_SECONDS
        assert seconds_of(doorbell.ring_on_commit) > 1, "tried again"
        with pytest.raises(OperationalError):
            doorbell.is_ringing()


def test_a_cache_that_hangs_costs_the_time_out_of_its_socket() -> None:
    with hanging_server() as port:
        cache = RedisCache(f"redis://127.0.0.1:{port}/0", site.CACHES["default"])
        with pytest.raises(RedisError):
            cache.get("key")
        began = time.monotonic()
        with pytest.raises(RedisError):
            cache.get("key")
        assert 1 < time.monotonic() - began < 2 * settings.REDIS_SECONDS


def seconds_of(act: Callable[[], None]) -> float:
    began = time.monotonic()
    act()
    return time.monotonic() - began
