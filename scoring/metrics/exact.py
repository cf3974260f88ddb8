"""Exact match against ``#``-separated alternatives, as the AI 말평 scorer counts it.

The candidate, stripped, must equal one alternative of the reference, stripped. A candidate is never split on ``#``: a
list of guesses does not match. What an answer *is* (the part before the reason, without quotation marks) is decided by
the recipe.

One difference on purpose: an empty alternative (``"짜장면#"``) is none. The AI 말평 scorer takes it for a text of its
own, which a blank answer equals. Reference files with one are refused; what was published before is scored like this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scoring.metrics import PairProgress
from scoring.recipes.base import ALTERNATIVE_SEPARATOR, alternatives_of

if TYPE_CHECKING:
    from scoring.models.store import Resources


def exact_match(reference: str, candidate: str) -> float:
    """1.0 if ``candidate`` equals an alternative of ``reference``, both without surrounding white space, else 0.0."""
    answer = candidate.strip()
    return float(bool(answer) and answer in alternatives_of(reference))


class ExactMatch:
    """Share of answers equal to an accepted one. Score 0 or 1 a pair."""

    name = "exact_match"

    def __init__(self, resources: Resources | None = None) -> None:
        """``resources`` is ignored: no model is needed."""

    def signature(self) -> dict[str, Any]:
        return {"metric": self.name, "rule": "exact-match@2", "separator": ALTERNATIVE_SEPARATOR}

    def score_pairs(
        self, references: Sequence[str], candidates: Sequence[str], progress: PairProgress | None = None
    ) -> list[float]:
        return [exact_match(reference, candidate) for reference, candidate in zip(references, candidates, strict=True)]
