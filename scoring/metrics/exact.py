"""Exact match against ``#``-separated alternatives, as the AI 말평 scorer counts it.

The candidate, stripped, must equal one alternative of the reference, stripped. A candidate is never split on ``#``: a
list of guesses does not match. What an answer *is* (the part before the reason, without quotation marks) is the
recipe's affair.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from scoring.metrics import PairProgress

if TYPE_CHECKING:
    from scoring.models.store import Resources

ALTERNATIVE_SEPARATOR: Final = "#"


def exact_match(reference: str, candidate: str) -> float:
    """1.0 if ``candidate`` equals an alternative of ``reference``, both without surrounding white space, else 0.0."""
    answer = candidate.strip()
    return float(any(answer == alternative.strip() for alternative in reference.split(ALTERNATIVE_SEPARATOR)))


class ExactMatch:
    """Share of answers equal to an accepted one. Score 0 or 1 a pair."""

    name = "exact_match"

    def __init__(self, resources: Resources | None = None) -> None:
        """``resources`` is ignored: no model is needed."""

    def signature(self) -> dict[str, Any]:
        return {"metric": self.name, "rule": "exact-match@1", "separator": ALTERNATIVE_SEPARATOR}

    def score_pairs(
        self, references: Sequence[str], candidates: Sequence[str], progress: PairProgress | None = None
    ) -> list[float]:
        return [exact_match(reference, candidate) for reference, candidate in zip(references, candidates, strict=True)]
