"""How workers hold the messages of Redis: one that could not be acknowledged is not held any longer.

kombu keeps such a message in hand for ever. A worker that may hold one would take no other, send nothing to Redis, and
so never notice that its connection is gone: it would wait until somebody starts it again.
"""

from __future__ import annotations

from typing import Any

from kombu.transport import redis


class QoS(redis.QoS):
    """The messages that a worker holds. A message that Redis still knows comes again later; it is only a doorbell."""

    def ack(self, delivery_tag: Any) -> None:
        """Acknowledge; the connection's error tells that it failed."""
        try:
            super().ack(delivery_tag)
        except Exception:
            self._quick_ack(delivery_tag)
            raise

    def reject(self, delivery_tag: Any, requeue: bool = False) -> None:
        """Give back or drop; the connection's error tells that it failed."""
        try:
            super().reject(delivery_tag, requeue=requeue)
        except Exception:
            self._quick_ack(delivery_tag)
            raise


def install() -> None:
    """Let every connection of this process to Redis hold its messages so."""
    redis.Channel.QoS = QoS
