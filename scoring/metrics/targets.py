"""Accuracy over targets: an item holds several things to label, each with an id (부적절 발언 탐지 2024-25).

After ``calc_multi_target_Accuracy`` of the AI 말평 scorer: the share of equal labels over all targets of all items, so
an item with many targets weighs more. Validation has made sure that both sides label the same targets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from scoring.errors import Message
from scoring.figures import Figure, ratio
from scoring.metrics.base import Row, RowMetric


def equal_labels(reference: Mapping[str, str], predicted: Mapping[str, str]) -> tuple[int, int]:
    """(targets with the label of the reference, targets of the reference)."""
    return sum(predicted.get(target) == label for target, label in reference.items()), len(reference)


class TargetAccuracy(RowMetric):
    """Share of targets labelled as in the reference. Texts are JSON objects {target id: label}."""

    name = "target_accuracy"
    label = Message("정확도(대상)", "Accuracy of targets")
    rule = "target-accuracy@1"
    group = "exact"
    score_names = ("accuracy",)
    is_cheap = True
    texts = "targets"
    reads_whole = True

    def row(self, references: Sequence[Any], candidate: Any) -> Row:
        equal, targets = equal_labels(json.loads(references[0]), json.loads(candidate))
        return float(equal), float(targets)

    @classmethod
    def scores(cls, sums: Sequence[Figure]) -> dict[str, Figure]:
        equal, targets = sums
        return {"accuracy": ratio(equal, targets)}
