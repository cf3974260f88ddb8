"""The budget of a judge: requests and tokens, reserved before a request is sent and settled after its answer.

What is reserved is as much as the request can cost, so the budget is never exceeded, by however many workers together;
it ends at most one request too early.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Usage:
    """What was spent or is reserved."""

    requests: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """The budget; 0 stands for no limit."""

    requests: int = 0
    tokens: int = 0

    def allow(self, usage: Usage) -> bool:
        return not ((self.requests and usage.requests > self.requests) or (self.tokens and usage.tokens > self.tokens))


class Ledger(Protocol):
    """Where what was spent is written down. Used from the thread that scores."""

    def reserve(self, limits: Limits, tokens: int) -> bool:
        """Reserve a request of at most ``tokens``, unless ``limits`` do not allow it."""

    def settle(self, change: Usage) -> None:
        """Correct what was reserved by ``change``, whose numbers are negative where less was spent."""

    def usage(self) -> Usage:
        """All that was spent or is reserved."""


class MemoryLedger:
    """A ledger for one process."""

    def __init__(self) -> None:
        self._usage = Usage()

    def reserve(self, limits: Limits, tokens: int) -> bool:
        wanted = Usage(self._usage.requests + 1, self._usage.tokens + tokens)
        if not limits.allow(wanted):
            return False
        self._usage = wanted
        return True

    def settle(self, change: Usage) -> None:
        self._usage = Usage(self._usage.requests + change.requests, self._usage.tokens + change.tokens)

    def usage(self) -> Usage:
        return self._usage
