"""Answers with several annotations an item: a label for each target, and opinions on aspects.

부적절 발언 탐지 (2024-25) labels several targets of a document and is ranked by their accuracy; 속성 기반 감성 분석
(2022) finds (category, polarity) pairs and is ranked by ``sa_f1``. ``metrics.targets`` and ``metrics.opinions`` have
the rules of the AI 말평 scorer.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from scoring.errors import Message
from scoring.figures import Figure
from scoring.recipes.base import Layout, Pairs, Recipe, align, common_warnings, pair_up, unknown_labels_warning
from scoring.recipes.columns import ACCURACY, CATEGORY_F1, FINAL, SA_F1, SA_PRECISION, SA_RECALL
from scoring.records import Items, ScoreWarning

_NOTHING: Final = ("[]", "{}")


@dataclass(frozen=True)
class Annotations(Recipe):
    """Final = ``ranking``, one of the scores of its one metric."""

    ranking: str = "accuracy"

    def input_rule(self, metric: str) -> str:
        return f"{self.answer_form}@1"

    def prepare(self, references: Items, predictions: Items) -> Layout:
        items = align(references, predictions)
        pairs = pair_up((r.id, r.text, p.text) for r, p in items)
        answered = sum(text not in _NOTHING for text in pairs.candidates)
        return Layout(
            item_ids=pairs.ids,
            pairs=dict.fromkeys(self.metrics, pairs),
            coverage={"items": len(items), "answered": answered},
            warnings=(*self._unknown(pairs), *common_warnings(predictions)),
        )

    def _unknown(self, pairs: Pairs) -> list[ScoreWarning]:
        known = {label for texts in pairs.references for label in self._labels(texts[0])}
        return unknown_labels_warning(known, (label for text in pairs.candidates for label in self._labels(text)))

    def _labels(self, text: str) -> Collection[str]:
        """The labels in the text of an answer: of its targets, or the categories and polarities of its opinions."""
        found = json.loads(text)
        return list(found.values()) if isinstance(found, dict) else [part for opinion in found for part in opinion]

    def final_scores(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        return {"final_score": means[self.ranking], **means}


RECIPES: Final = (
    Annotations(
        id="target-accuracy@1",
        name=Message("여러 대상 분류(정확도)", "Labels of several targets (accuracy)"),
        metrics=("target_accuracy",),
        columns=(FINAL, ACCURACY),
        tie_breaks=(),
        question_types=(),
        rule_text=Message(
            "최종 점수 = 정확도. 한 문항에 대상이 여럿이고, 모든 문항의 모든 대상 가운데 분류가 정답과 같은 대상의 "
            "비율입니다. 대상이 많은 문항이 더 무겁습니다.",
            "Final = accuracy: of all targets of all items, the share whose label is the reference's. An item with "
            "many targets weighs more.",
        ),
        answer_form="targets",
    ),
    Annotations(
        id="aspect-sentiment@1",
        name=Message("속성 기반 감성 분석(F1)", "Aspect-based sentiment analysis (F1)"),
        metrics=("opinion_f1",),
        columns=(FINAL, SA_F1, SA_PRECISION, SA_RECALL, CATEGORY_F1),
        tie_breaks=("category_f1",),
        question_types=(),
        rule_text=Message(
            "최종 점수 = (속성 범주, 극성) 쌍의 F1. 한 문항에서 같은 범주가 거듭되면 상대편의 첫 쌍만 견줍니다. "
            "범주 F1은 극성을 보지 않은 값입니다.",
            "Final = F1 of (category, polarity) pairs. Where a category occurs more than once in an item, only the "
            "first pair of the other side is compared. Category F1 leaves the polarity out.",
        ),
        answer_form="opinions",
        ranking="sa_f1",
    ),
)
