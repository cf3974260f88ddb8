"""The budget of a judge: requests and tokens, reserved before a request is sent and settled after its answer.

What is reserved is as much as the request can cost, so the budget is never exceeded, by however many workers together;
it ends at most one request too early.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID, uuid4


@dataclass(frozen=True, slots=True)
class Usage:
    """What was spent or is reserved."""

    requests: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """The budget; 0 means no limit."""

    requests: int = 0
    tokens: int = 0

    def allow(self, usage: Usage) -> bool:
        return not ((self.requests and usage.requests > self.requests) or (self.tokens and usage.tokens > self.tokens))


@dataclass(frozen=True, slots=True)
class Reservation:
    """A request that may be sent, of at most ``tokens``. By ``key`` a ledger knows it again."""

    tokens: int
    key: UUID = field(default_factory=uuid4)


class Ledger(Protocol):
    """Where what was spent is written down. Used from the thread that scores."""

    def reserve(self, limits: Limits, tokens: int) -> Reservation | None:
        """Reserve a request of at most ``tokens``; ``None`` if ``limits`` do not allow it."""

    def settle(self, reservation: Reservation, spent: Usage) -> None:
        """Count ``spent`` in the place of what was reserved. A second time for one reservation it does nothing."""

    def usage(self) -> Usage:
        """All that was spent or is reserved."""


class MemoryLedger:
    """A ledger for one process."""

    def __init__(self) -> None:
        self._usage = Usage()
        self._open: set[UUID] = set()

    def add(self, spent: Usage) -> None:
        """Count ``spent``, which another process spent before."""
        self._usage = Usage(self._usage.requests + spent.requests, self._usage.tokens + spent.tokens)

    def reserve(self, limits: Limits, tokens: int) -> Reservation | None:
        wanted = Usage(self._usage.requests + 1, self._usage.tokens + tokens)
        if not limits.allow(wanted):
            return None
        self._usage, made = wanted, Reservation(tokens)
        self._open.add(made.key)
        return made

    def settle(self, reservation: Reservation, spent: Usage) -> None:
        if reservation.key in self._open:
            self._open.remove(reservation.key)
            tokens = self._usage.tokens - reservation.tokens + spent.tokens
            self._usage = Usage(self._usage.requests - 1 + spent.requests, tokens)

    def usage(self) -> Usage:
        return self._usage
