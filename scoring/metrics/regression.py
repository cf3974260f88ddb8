"""Squared error of numbers. The mean over the items is scikit-learn's ``mean_squared_error`` with its defaults.

The values are in the square of the task's unit: 0 is perfect, the only upper limit is ``LARGEST_NUMBER`` squared, and
lower is better: of several references the one with the smallest error counts.
"""

from __future__ import annotations

from scoring.errors import Message
from scoring.metrics.base import LexicalMetric
from scoring.text.answers import number_of


def squared_error(reference: float, prediction: float) -> float:
    """(prediction - reference)², at least 0."""
    difference = prediction - reference
    return difference * difference


class SquaredError(LexicalMetric):
    """Squared error of each pair of number texts."""

    name = "squared_error"
    label = Message("제곱 오차", "Squared error")
    rule = "squared-error@1"
    group = "exact"
    card = "mse"
    score_names = ("mse",)
    texts = "number"
    is_cheap = True
    higher_is_better = False

    def value(self, reference: str, candidate: str) -> float:
        """Raises ``UnreadableAnswer`` for a text that is no decimal number: an error of the input, never a score."""
        return squared_error(number_of(reference), number_of(candidate))
