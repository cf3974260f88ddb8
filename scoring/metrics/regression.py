"""Squared error of numbers. The mean over the items is scikit-learn's ``mean_squared_error`` with its defaults.

The values are in the square of the task's unit: 0 is perfect, there is no upper end below ``LARGEST_NUMBER`` squared,
and lower is better. With several references the engine's rule (best, that is highest, value) would be wrong here: a
recipe gives one reference an item.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scoring.metrics import PairProgress
from scoring.recipes.labels import number_of

if TYPE_CHECKING:
    from scoring.models.store import Resources


def squared_error(reference: float, prediction: float) -> float:
    """(prediction - reference)², at least 0."""
    difference = prediction - reference
    return difference * difference


class SquaredError:
    """Squared error of each pair of number texts."""

    name = "squared_error"

    def __init__(self, resources: Resources | None = None) -> None:
        """``resources`` is ignored: no model is needed."""

    def signature(self) -> dict[str, Any]:
        return {"metric": self.name, "rule": "squared-error@1"}

    def score_pairs(
        self, references: Sequence[str], candidates: Sequence[str], progress: PairProgress | None = None
    ) -> list[float]:
        """Raises ``UnreadableAnswer`` for a text that is no decimal number: an error of the input, never a score."""
        return [
            squared_error(number_of(reference), number_of(candidate))
            for reference, candidate in zip(references, candidates, strict=True)
        ]
