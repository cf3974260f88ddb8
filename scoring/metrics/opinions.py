"""F1 of opinions on aspects: 속성 기반 감성 분석 (2022).

After ``evaluation_sa_f1`` of the AI 말평 scorer. An opinion is (category, polarity). Each opinion of the reference is
compared with the *first* prediction of the same category, and counts as found where the polarities are equal; each
prediction is compared with the first opinion of the reference of its category likewise. With tp and fn the found and
missed opinions of the references, and fp the predictions that are not found: precision tp / (tp + fp), recall
tp / (tp + fn), F1 their harmonic mean, over all items. The same without polarities is the F1 of the categories.

So where a category occurs twice in an item with two polarities, only the first decides. tp is counted on the side of
the references, also in the precision.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from scoring.errors import Message
from scoring.figures import Figure, ratio
from scoring.metrics.base import Row, RowMetric

Opinion = Sequence[str]  # category, polarity


def opinion_counts(reference: Sequence[Opinion], predicted: Sequence[Opinion]) -> tuple[int, int, int, int, int, int]:
    """tp, fn and fp of opinions, then of categories alone."""
    return (*_counts(reference, predicted), *_counts(_categories(reference), _categories(predicted)))


def _counts(reference: Sequence[Opinion], predicted: Sequence[Opinion]) -> tuple[int, int, int]:
    found, confirmed = _matches(reference, predicted), _matches(predicted, reference)
    return found, len(reference) - found, len(predicted) - confirmed


def _matches(opinions: Iterable[Opinion], others: Sequence[Opinion]) -> int:
    """How many of ``opinions`` have the polarity of the first of ``others`` in their category."""
    first: dict[str, str] = {}
    for category, polarity in others:
        first.setdefault(category, polarity)
    return sum(first.get(category) == polarity for category, polarity in opinions)


def _categories(opinions: Iterable[Opinion]) -> list[Opinion]:
    return [(category, "") for category, _polarity in opinions]


class OpinionF1(RowMetric):
    """F1 of (category, polarity). Texts are JSON lists of such pairs, in the order of the file."""

    name = "opinion_f1"
    label = Message("속성 감성 F1", "Aspect sentiment F1")
    rule = "sa-f1@1"
    group = "exact"
    score_names = ("sa_f1", "sa_precision", "sa_recall", "category_f1")
    is_cheap = True
    texts = "opinions"
    reads_whole = True

    def row(self, references: Sequence[Any], candidate: Any) -> Row:
        return tuple(map(float, opinion_counts(json.loads(references[0]), json.loads(candidate))))

    @classmethod
    def scores(cls, sums: Sequence[Figure]) -> dict[str, Figure]:
        tp, fn, fp, category_tp, category_fn, category_fp = sums
        precision, recall = ratio(tp, tp + fp), ratio(tp, tp + fn)
        of_categories = ratio(category_tp, category_tp + category_fp), ratio(category_tp, category_tp + category_fn)
        return {
            "sa_f1": _harmonic(precision, recall),
            "sa_precision": precision,
            "sa_recall": recall,
            "category_f1": _harmonic(*of_categories),
        }


def _harmonic(precision: Figure, recall: Figure) -> Figure:
    return ratio(2 * precision * recall, precision + recall)
