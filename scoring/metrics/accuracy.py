"""Accuracy of choices by string equality, as in the culture task's scorer: no trimming, no alternatives."""

from __future__ import annotations

from scoring.errors import Message
from scoring.metrics.base import LexicalMetric


def accuracy(reference: str, candidate: str) -> float:
    """1.0 if the two strings are equal, white space included, else 0.0."""
    return float(reference == candidate)


class Accuracy(LexicalMetric):
    """Share of choices equal to the reference. Score 0 or 1 for each pair."""

    name = "accuracy"
    label = Message("정확도", "Accuracy")
    rule = "string-equality@1"
    group = "exact"
    is_cheap = True
    reads_whole = True

    def value(self, reference: str, candidate: str) -> float:
        return accuracy(reference, candidate)
