"""Values of pairs that were scored before, for any submission: a pair of texts is scored once, not once for each file.

The engine reads from such a store before it runs a pair metric, and writes the values it computed. The site keeps one
in its database (``submissions.evaluation.pair_cache``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

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
