"""Exact match against ``#``-separated alternatives, as the AI 말평 scorer counts it.

The candidate, stripped, must equal one alternative of the reference, stripped. A candidate is never split on ``#``: a
list of guesses does not match. The recipe decides what the answer is (the part before the reason, without quotation
marks).

One difference on purpose: an empty alternative (``"짜장면#"``) does not count. The AI 말평 scorer accepts a blank
answer there. Reference files with one are refused; files published earlier are scored by this rule.
"""

from __future__ import annotations

from typing import Any

from scoring.errors import Message
from scoring.metrics.base import LexicalMetric
from scoring.text.answers import ALTERNATIVE_SEPARATOR, alternatives_of


def exact_match(reference: str, candidate: str) -> float:
    """1.0 if ``candidate`` equals an alternative of ``reference``, both without surrounding white space, else 0.0."""
    answer = candidate.strip()
    return float(bool(answer) and answer in alternatives_of(reference))


class ExactMatch(LexicalMetric):
    """Share of answers equal to an accepted one. Score 0 or 1 for each pair."""

    name = "exact_match"
    label = Message("EM", "EM")
    rule = "exact-match@2"
    group = "exact"
    is_cheap = True
    reads_whole = True

    def parameters(self) -> dict[str, Any]:
        return {"separator": ALTERNATIVE_SEPARATOR}

    def value(self, reference: str, candidate: str) -> float:
        return exact_match(reference, candidate)
