"""Values of pairs that were scored before, whoever's they were: a pair of texts is scored once, not once a file.

The engine asks such a store before it runs a pair metric, and tells it what it computed. The site keeps one in its
database (``submissions.evaluation.pair_cache``); the one here lives in the memory of a process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from scoring.lru import LruCache

Pair = tuple[str, str]  # (reference, candidate)


class PairValues(Protocol):
    """A store of values by metric, metric signature hash and pair. The engine uses it from the thread that scores.

    It may forget anything at any time. It must not raise: a store that is out of order answers nothing.
    """

    def get(self, metric: str, signature: str, pairs: Sequence[Pair]) -> dict[Pair, float]:
        """The values of those of ``pairs`` that are known."""

    def put(self, metric: str, signature: str, values: Mapping[Pair, float]) -> None:
        """Keep ``values``; all are finite."""


class MemoryPairValues:
    """The values of at most ``max_pairs`` pairs, the least recently used forgotten first. Threads may share it."""

    def __init__(self, max_pairs: int) -> None:
        self._values: LruCache[tuple[str, str, Pair], float] = LruCache(max_pairs)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, metric: str, signature: str, pairs: Sequence[Pair]) -> dict[Pair, float]:
        values = ((pair, self._values.get((metric, signature, pair))) for pair in pairs)
        return {pair: value for pair, value in values if value is not None}

    def put(self, metric: str, signature: str, values: Mapping[Pair, float]) -> None:
        for pair, value in values.items():
            self._values.put((metric, signature, pair), value)
