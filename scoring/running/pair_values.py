"""Values of pairs that were scored before, whoever's they were: a pair of texts is scored once, not once a file.

The engine asks such a store before it runs a pair metric, and tells it what it computed. The site keeps one in its
database (``submissions.evaluation.pair_cache``); the one here lives in the memory of a process.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Protocol

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
        self.max_pairs = max_pairs
        self._values: OrderedDict[tuple[str, str, Pair], float] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, metric: str, signature: str, pairs: Sequence[Pair]) -> dict[Pair, float]:
        found: dict[Pair, float] = {}
        with self._lock:
            for pair in pairs:
                key = (metric, signature, pair)
                if key in self._values:
                    self._values.move_to_end(key)
                    found[pair] = self._values[key]
        return found

    def put(self, metric: str, signature: str, values: Mapping[Pair, float]) -> None:
        with self._lock:
            for pair, value in values.items():
                key = (metric, signature, pair)
                self._values[key] = value
                self._values.move_to_end(key)
            while len(self._values) > self.max_pairs:
                self._values.popitem(last=False)
