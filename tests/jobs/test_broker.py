"""A message that a worker could not acknowledge does not keep it from the next one."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from kombu.transport.redis import Channel
from redis.exceptions import ConnectionError as BrokerGone

from malpan.broker import QoS


@pytest.mark.parametrize("answer", [lambda held: held.ack("tag"), lambda held: held.reject("tag", requeue=True)])
def test_a_worker_whose_answer_is_lost_may_take_the_next_message(answer) -> None:
    channel = Mock()
    channel.conn_or_acquire.side_effect = channel.pipe_or_acquire.side_effect = BrokerGone
    channel._sem = None
    held = QoS(channel, prefetch_count=1)
    held._quick_append("tag", Mock())
    assert not held.can_consume()

    with pytest.raises(BrokerGone):
        answer(held)

    assert held.can_consume()


def test_every_process_of_the_site_holds_its_messages_so() -> None:
    assert Channel.QoS is QoS
