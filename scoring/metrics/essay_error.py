"""Root mean squared error of predicted essay scores, and how many answers could not be read (AI 말평 2026).

RMSE = sqrt(mean((prediction - average)²)) over all items, each once: 0.0 without items. The prediction is the mean of
the three traits rounded half up, 0 where the answer cannot be read (``scoring.text.essays``); ``average`` is that of
the reference as it is given, not the mean of its traits. Lower is better. The value is scikit-learn's
``root_mean_squared_error``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from scoring.errors import Message
from scoring.figures import Figure, ratio, root
from scoring.metrics.base import Row, RowMetric
from scoring.text.essays import RULE, answer_of, predicted_average


class EssayError(RowMetric):
    """RMSE and number of parse failures. A row is (squared error, 1 if the answer could not be read, 1)."""

    name = "essay_error"
    label = Message("RMSE", "RMSE")
    rule = "essay-rmse@1"
    group = "exact"
    card = "rmse"
    score_names = ("rmse", "parse_failures")
    texts = "essays"
    reads_whole = True
    is_cheap = True
    higher_is_better = False

    def parameters(self) -> dict[str, Any]:
        return {"answers": RULE}

    def row(self, references: Sequence[str], candidate: str) -> Row:
        answer = answer_of(candidate)
        error = predicted_average(answer) - json.loads(references[0])["average"]
        return error * error, float(answer is None), 1.0

    @classmethod
    def scores(cls, sums: Sequence[Figure]) -> dict[str, Figure]:
        squares, failures, items = sums
        return {"rmse": root(ratio(squares, items)), "parse_failures": failures}
