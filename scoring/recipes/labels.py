"""Answers that are labels or numbers: classification with one or several labels an item, and regression.

How the AI 말평 tasks of this kind were ranked, according to their public baselines: 감정 분석 (2023), several labels,
by micro F1; 대화 맥락 추론 (2024), one label, by accuracy. Their scorer calls scikit-learn's ``f1_score`` and
``mean_squared_error``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scoring.errors import Message
from scoring.figures import Figure
from scoring.recipes.base import (
    Column,
    Layout,
    Recipe,
    align,
    answered_count,
    common_warnings,
    pair_up,
    unknown_labels_warning,
)
from scoring.recipes.columns import ACCURACY, F1_MACRO, F1_MICRO, F1_SAMPLES, F1_WEIGHTED, FINAL, MSE
from scoring.records import Item, Items, ScoreWarning
from scoring.text.answers import label_text, labels_of


@dataclass(frozen=True)
class Labels(Recipe):
    """Classification: ``ranking`` is the score that becomes the final one.

    With one label for each item the whole text is the label; an empty answer is a wrong label. With several
    (``is_multiple``) an empty answer has no labels.
    """

    ranking: str = "accuracy"
    is_multiple: bool = False

    def input_rule(self, metric: str) -> str:
        return "label-set@1" if self.is_multiple else "single-label@1"

    def prepare(self, references: Items, predictions: Items) -> Layout:
        """Raises ``MismatchedFiles``, and ``UnreadableAnswer`` for a text that validation should have refused."""
        items = align(references, predictions)
        pairs = pair_up((r.id, label_text(self.labels(r)), label_text(self.labels(p))) for r, p in items)
        return Layout(
            item_ids=pairs.ids,
            pairs=dict.fromkeys(self.metrics, pairs),
            coverage={"items": len(items), "answered": answered_count(predictions)},
            warnings=(*self._unknown(items), *common_warnings(predictions)),
        )

    def _unknown(self, items: Sequence[tuple[Item, Item]]) -> list[ScoreWarning]:
        known = frozenset().union(*(self.labels(reference) for reference, _ in items))
        return unknown_labels_warning(known, (label for _, given in items for label in self.labels(given)))

    def labels(self, answer: Item) -> frozenset[str]:
        """The labels of an answer, of all its texts together. Raises ``UnreadableAnswer``."""
        if not self.is_multiple:
            return frozenset({answer.text.strip()})
        return frozenset().union(*(labels_of(text) for text in answer.texts if text.strip()))

    def final_scores(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        shown = {column.key for column in self.columns}
        return {"final_score": means[self.ranking], **{name: means[name] for name in means if name in shown}}


@dataclass(frozen=True)
class Regression(Recipe):
    """Mean squared error of numbers. final = 1 / (1 + MSE): 1 without error, falling towards 0, in the same order."""

    def input_rule(self, metric: str) -> str:
        return "decimal-number@1"

    def prepare(self, references: Items, predictions: Items) -> Layout:
        items = align(references, predictions)
        pairs = pair_up((r.id, r.text.strip(), p.text.strip()) for r, p in items)
        return Layout(
            item_ids=pairs.ids,
            pairs=dict.fromkeys(self.metrics, pairs),
            coverage={"items": len(items), "answered": answered_count(predictions)},
            warnings=tuple(common_warnings(predictions)),
        )

    def final_scores(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        return {"final_score": 1 / (1 + means["mse"]), "mse": means["mse"]}


_CLASSES_KO: Final = (
    "F1은 정답이나 답변에 나온 모든 분류를 대상으로 계산하고, 정답에 없는 분류를 답하면 그 분류의 F1은 0입니다."
)
_CLASSES_EN: Final = (
    "F1 is over the classes that occur in references or answers; one that no reference has counts with an F1 of 0."
)


_SINGLE: Final = {
    F1_MACRO: "classification@1",
    ACCURACY: "classification-accuracy@1",
    F1_WEIGHTED: "classification-weighted@1",
}


def single_label(ranking: Column) -> Labels:
    """One label for each item, ranked by a key of ``_SINGLE``. Micro F1 equals the accuracy here."""
    columns = (ranking, *(column for column in (ACCURACY, F1_MACRO, F1_WEIGHTED) if column is not ranking))
    return Labels(
        id=_SINGLE[ranking],
        name=Message(f"분류({ranking.label('ko')})", f"Classification ({ranking.label('en')})"),
        metrics=("classification",),
        columns=(FINAL, *columns, F1_MICRO),
        tie_breaks=tuple(column.key for column in columns[1:]),
        question_types=(),
        rule_text=Message(
            f"최종 점수 = {ranking.label('ko')}. 한 문항의 답은 분류 이름 하나이고, 앞뒤 공백을 뺀 전체가 "
            f"정답과 같아야 합니다. {_CLASSES_KO}",
            f"Final = {ranking.label('en')}. An answer is one label, which must equal the reference apart from white "
            f"space around it. {_CLASSES_EN}",
        ),
        answer_form="labels",
        ranking=ranking.key,
    )


def multi_label() -> Labels:
    """Several labels for each item, ranked by micro F1 like 감정 분석 (2023)."""
    return Labels(
        id="multi-label@1",
        name=Message("다중 분류(마이크로 F1)", "Multi-label classification (micro F1)"),
        metrics=("classification",),
        columns=(FINAL, F1_MICRO, F1_MACRO, F1_WEIGHTED, F1_SAMPLES, ACCURACY),
        tie_breaks=("f1_macro", "accuracy"),
        question_types=(),
        rule_text=Message(
            "최종 점수 = 마이크로 F1. 한 문항의 답은 분류 이름의 목록이며, 순서는 상관없습니다. 정확도는 목록이 "
            f"정답과 똑같은 문항의 비율입니다. {_CLASSES_KO}",
            "Final = Micro F1. An answer is a list of labels in any order; accuracy is the share of items whose "
            f"list is exactly the reference's. {_CLASSES_EN}",
        ),
        answer_form="labels",
        ranking="f1_micro",
        is_multiple=True,
    )


def regression() -> Regression:
    """A number for each item, ranked by mean squared error."""
    return Regression(
        id="regression@1",
        name=Message("수치 예측(MSE)", "Regression (MSE)"),
        metrics=("squared_error",),
        columns=(FINAL, MSE),
        tie_breaks=(),
        question_types=(),
        rule_text=Message(
            "최종 점수 = 1 ÷ (1 + MSE). MSE는 답변과 정답의 차를 제곱한 값의 평균으로 낮을수록 좋고, 최종 점수는 "
            "오차가 없을 때 가장 높습니다. 답은 십진수 하나입니다.",
            "Final = 1 / (1 + MSE), highest without error. MSE is the mean of the squared differences between "
            "answer and reference; lower is better. An answer is one decimal number.",
        ),
        answer_form="number",
    )


RECIPES: Final = (*map(single_label, _SINGLE), multi_label(), regression())
