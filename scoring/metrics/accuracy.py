"""Accuracy of choices by string equality, as the culture task's scorer counts it: no trimming, no alternatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scoring.metrics import PairProgress

if TYPE_CHECKING:
    from scoring.models.store import Resources


def accuracy(reference: str, candidate: str) -> float:
    """1.0 if the two strings are equal, white space included, else 0.0."""
    return float(reference == candidate)


class Accuracy:
    """Share of choices equal to the reference. Score 0 or 1 a pair."""

    name = "accuracy"

    def __init__(self, resources: Resources | None = None) -> None:
        """``resources`` is ignored: no model is needed."""

    def signature(self) -> dict[str, Any]:
        return {"metric": self.name, "rule": "string-equality@1"}

    def score_pairs(
        self, references: Sequence[str], candidates: Sequence[str], progress: PairProgress | None = None
    ) -> list[float]:
        return [accuracy(reference, candidate) for reference, candidate in zip(references, candidates, strict=True)]
