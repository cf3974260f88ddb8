"""Values of pairs that were scored before, for any submission: a pair of texts is scored once, not once for each file.

The engine reads from such a store before it runs a pair metric, and writes the values it computed. The site keeps one
in its database (``submissions.evaluation.pair_cache``). A store may also let scorings that run at once take turns at
what costs money (``Turns``), so that two that hold the same pair pay for it once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

Pair = tuple[str, str]  # (reference, candidate)


class PairValues(Protocol):
    """A store of values by metric, metric signature hash and pair. The engine uses it from the thread that scores.

    It may drop anything at any time, and returns nothing where it is broken. It raises only for values that cost money
    (``RemoteMetric``), which are better not asked for than lost; that ends the scoring.
    """

    def get(self, metric: str, signature: str, pairs: Sequence[Pair]) -> dict[Pair, float]:
        """The values of those of ``pairs`` that are known."""

    def put(self, metric: str, signature: str, values: Mapping[Pair, float]) -> None:
        """Keep ``values``; all are finite."""


@runtime_checkable
class Turns(Protocol):
    """A store of values that a server is paid for, and at which several scorings may work at once."""

    def take(self, metric: str, signature: str, pairs: Sequence[Pair], seconds: float) -> set[Pair]:
        """Those of ``pairs`` that the caller may ask about now: nobody else is asking, and no value is stored for all.

        Nobody else may before a value is put or the pair is given back, or within ``seconds``. Taking again what one
        holds is allowed, and begins anew.
        """

    def give_back(self, metric: str, signature: str, pairs: Sequence[Pair]) -> None:
        """Let others ask about those of ``pairs`` that the caller took and that have no value. Raises nothing."""


class OfMetric:
    """The values of one metric in a store of pair values; empty without a store."""

    def __init__(self, store: PairValues | None, metric: str, signature: str) -> None:
        self._store, self._metric, self._signature = store, metric, signature

    def get(self, pairs: Sequence[Pair]) -> dict[Pair, float]:
        """Finite values of those of ``pairs`` that are known; other values from the store are ignored."""
        if self._store is None or not pairs:
            return {}
        found = self._store.get(self._metric, self._signature, pairs)
        return {pair: found[pair] for pair in pairs if pair in found and math.isfinite(found[pair])}

    def put(self, values: Mapping[Pair, float]) -> None:
        if self._store is not None and values:
            self._store.put(self._metric, self._signature, values)

    def take(self, pairs: Sequence[Pair], seconds: float) -> set[Pair]:
        """Those of ``pairs`` that may be asked about now; all, unless the store has turns."""
        if not isinstance(self._store, Turns):
            return set(pairs)
        return self._store.take(self._metric, self._signature, pairs, seconds)

    def give_back(self, pairs: Sequence[Pair]) -> None:
        if isinstance(self._store, Turns) and pairs:
            self._store.give_back(self._metric, self._signature, pairs)


def as_bytes(*texts: str) -> Iterator[bytes]:
    """The bytes to hash for the key of ``texts``: each follows its length, so that different lists differ."""
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")  # a score must not fail because of lone surrogates
        yield len(encoded).to_bytes(8, "big")
        yield encoded
