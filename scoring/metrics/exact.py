"""Exact match against ``#``-separated alternatives, as the AI 말평 scorer counts it.

The candidate, stripped, must equal one alternative of the reference, stripped. A candidate is never split on ``#``: a
list of guesses does not match. What an answer *is* (the part before the reason, without quotation marks) is the
recipe's affair.
"""

from __future__ import annotations

from typing import Any, Final

from scoring.errors import Message
from scoring.metrics.base import LexicalMetric

ALTERNATIVE_SEPARATOR: Final = "#"


def exact_match(reference: str, candidate: str) -> float:
    """1.0 if ``candidate`` equals an alternative of ``reference``, both without surrounding white space, else 0.0."""
    answer = candidate.strip()
    return float(any(answer == alternative.strip() for alternative in reference.split(ALTERNATIVE_SEPARATOR)))


class ExactMatch(LexicalMetric):
    """Share of answers equal to an accepted one. Score 0 or 1 a pair."""

    name = "exact_match"
    label = Message("EM", "EM")
    rule = "exact-match@1"
    group = "exact"
    is_cheap = True

    def parameters(self) -> dict[str, Any]:
        return {"separator": ALTERNATIVE_SEPARATOR}

    def value(self, reference: str, candidate: str) -> float:
        return exact_match(reference, candidate)
