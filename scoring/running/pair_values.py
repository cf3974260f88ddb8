"""Values of pairs that were scored before, for any submission: a pair of texts is scored once, not once for each file.

The engine reads from such a store before it runs a pair metric, and writes the values it computed. The site keeps one
in its database (``submissions.evaluation.pair_cache``). A store may also let scorings that run at once take turns at
what costs money (``Turns``), so that two that hold the same pair pay for it once.
"""

from __future__ import annotations

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


def as_bytes(*texts: str) -> Iterator[bytes]:
    """The bytes to hash for the key of ``texts``: each follows its length, so that different lists differ."""
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")  # a score must not fail because of lone surrogates
        yield len(encoded).to_bytes(8, "big")
        yield encoded
