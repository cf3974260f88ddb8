"""Values of pairs that were scored before, whoever's they were: a pair of texts is scored once, not once a file.

The engine asks such a store before it runs a pair metric, and tells it what it computed. The site keeps one in its
database (``submissions.evaluation.pair_cache``).
"""

from __future__ import annotations

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
