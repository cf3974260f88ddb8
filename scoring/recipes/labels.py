"""Answers that are labels or numbers: classification with one or several labels an item, and regression.

What the AI 말평 tasks of this kind were ranked by, after their public baselines: 감정 분석 (2023), several labels, by
micro F1; 대화 맥락 추론 (2024), one label, by accuracy. Their scorer calls scikit-learn's ``f1_score`` and
``mean_squared_error``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from scoring.errors import ScoringError
from scoring.recipes.base import (
    Column,
    Figure,
    Prepared,
    Recipe,
    align,
    answered_count,
    common_warnings,
    pair_up,
)
from scoring.records import Answer, AnswerFile

MAX_LABELS: Final = 200
MAX_NUMBER_CHARS: Final = 100
LARGEST_NUMBER: Final = 1e100  # its square, and the sum of many, are still finite

_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_TRUE: Final[frozenset[str | bool]] = frozenset({True, "True", "true"})
_FALSE: Final[frozenset[str | bool]] = frozenset({False, "False", "false"})


class UnreadableAnswer(ScoringError):
    """An answer is not of the form that its recipe calls for. ``code`` and ``params`` are those of a ``FileError``.

    Says nothing of the text itself: it may be a reference.
    """

    def __init__(self, code: str, **params: Any) -> None:
        self.code = code
        self.params = params
        super().__init__(code)


def labels_of(text: str) -> frozenset[str]:
    """The labels of a label text, without surrounding white space.

    ``text`` is a JSON list of strings (the labels), a JSON object from labels to truth values (the labels that are
    ``true``, ``"True"`` or ``"true"``: 감정 분석 2023), or else one label as it stands; an empty one is a label as any
    other. Raises ``UnreadableAnswer`` with code ``bad_label_list`` or ``too_many_labels``.
    """
    stripped = text.strip()
    if not stripped.startswith(("[", "{")):
        return frozenset({stripped})
    labels = frozenset(label.strip() for label in _listed(_decoded(stripped)))
    if len(labels) > MAX_LABELS:
        raise UnreadableAnswer("too_many_labels", limit=MAX_LABELS)
    return labels


def label_text(labels: Iterable[str]) -> str:
    """The one text of a set of labels that ``labels_of`` reads back: a sorted JSON list."""
    return json.dumps(sorted(labels), ensure_ascii=False)


def number_of(text: str) -> float:
    """The number that ``text`` is: decimal ASCII digits, with sign, point and exponent as they may be.

    Raises ``UnreadableAnswer`` with code ``not_decimal`` or ``number_out_of_range`` (beyond ``LARGEST_NUMBER``).
    """
    stripped = text.strip()
    if len(stripped) > MAX_NUMBER_CHARS or not _DECIMAL.fullmatch(stripped):
        raise UnreadableAnswer("not_decimal")
    number = float(stripped)
    if abs(number) > LARGEST_NUMBER:
        raise UnreadableAnswer("number_out_of_range", limit=f"{LARGEST_NUMBER:g}")
    return number


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableAnswer("bad_label_list") from None


def _listed(value: Any) -> list[str]:
    """The labels of a decoded list or object."""
    if isinstance(value, dict) and all(map(_is_truth, value.values())):
        return [label for label, truth in value.items() if truth in _TRUE]
    if isinstance(value, list) and all(isinstance(label, str) for label in value):
        return value
    raise UnreadableAnswer("bad_label_list")


def _is_truth(value: Any) -> bool:
    return isinstance(value, (str, bool)) and value in _TRUE | _FALSE


@dataclass(frozen=True)
class Labels(Recipe):
    """Classification: ``ranking`` is the score that becomes the final one.

    With one label an item the whole text is the label, whatever it looks like; an empty answer is a wrong label. With
    several (``is_multiple``) an empty answer is no label.
    """

    ranking: str = "accuracy"
    is_multiple: bool = False

    def input_rule(self, metric: str) -> str:
        return "label-set@1" if self.is_multiple else "single-label@1"

    def prepare(self, references: AnswerFile, predictions: AnswerFile) -> Prepared:
        """Raises ``MismatchedFiles``, and ``UnreadableAnswer`` for a text that validation should have refused."""
        items = align(references, predictions)
        pairs = pair_up((r.id, label_text(self.labels(r)), label_text(self.labels(p))) for r, p in items)
        return Prepared(
            item_ids=pairs.ids,
            pairs=dict.fromkeys(self.metrics, pairs),
            coverage={"items": len(items), "answered": answered_count(predictions)},
            warnings=tuple(common_warnings(predictions)),
        )

    def labels(self, answer: Answer) -> frozenset[str]:
        """The labels of an answer; those of several texts count together. Raises ``UnreadableAnswer``."""
        if not self.is_multiple:
            return frozenset({answer.text.strip()})
        return frozenset().union(*(labels_of(text) for text in answer.texts if text.strip()))

    def combine(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        shown = {column.key for column in self.columns}
        return {"final_score": means[self.ranking], **{name: means[name] for name in means if name in shown}}


@dataclass(frozen=True)
class Regression(Recipe):
    """Mean squared error of numbers. final = 1 / (1 + MSE): 1 without error, falling towards 0, in the same order."""

    def input_rule(self, metric: str) -> str:
        return "decimal-number@1"

    def prepare(self, references: AnswerFile, predictions: AnswerFile) -> Prepared:
        items = align(references, predictions)
        pairs = pair_up((r.id, r.text.strip(), p.text.strip()) for r, p in items)
        return Prepared(
            item_ids=pairs.ids,
            pairs=dict.fromkeys(self.metrics, pairs),
            coverage={"items": len(items), "answered": answered_count(predictions)},
            warnings=tuple(common_warnings(predictions)),
        )

    def score_name(self, metric: str) -> str:
        return "mse"

    def combine(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        return {"final_score": 1 / (1 + means["mse"]), "mse": means["mse"]}


FINAL: Final = Column("final_score", "최종 점수", "Final score", is_main=True)
ACCURACY: Final = Column("accuracy", "정확도", "Accuracy")
F1_MICRO: Final = Column("f1_micro", "마이크로 F1", "Micro F1")
F1_MACRO: Final = Column("f1_macro", "매크로 F1", "Macro F1")
F1_WEIGHTED: Final = Column("f1_weighted", "가중 F1", "Weighted F1")
F1_SAMPLES: Final = Column("f1_samples", "문항 평균 F1", "Mean F1 of items")
MSE: Final = Column("mse", "MSE(낮을수록 좋음)", "MSE (lower is better)", is_scaled=False)

_CLASSES_KO: Final = (
    "F1은 정답이나 답변에 나온 모든 분류를 대상으로 계산하고, 정답에 없는 분류를 답하면 그 분류의 F1은 0입니다."
)
_CLASSES_EN: Final = (
    "F1 is over the classes that occur in references or answers; one that no reference has counts with an F1 of 0."
)


def single_label(ranking: Column) -> Labels:
    """One label an item, ranked by ``ranking``: ``ACCURACY`` or ``F1_MACRO``. Micro F1 equals the accuracy here."""
    by_accuracy = ranking is ACCURACY
    columns = (ACCURACY, F1_MACRO, F1_WEIGHTED) if by_accuracy else (F1_MACRO, ACCURACY, F1_WEIGHTED)
    return Labels(
        id="classification-accuracy@1" if by_accuracy else "classification@1",
        title_ko=f"분류({ranking.label_ko})",
        title_en=f"Classification ({ranking.label_en})",
        metrics=("classification",),
        columns=(FINAL, *columns, F1_MICRO),
        tie_breaks=tuple(column.key for column in columns[1:]),
        question_types=(),
        rule_ko=f"최종 점수 = {ranking.label_ko}. 한 문항의 답은 분류 이름 하나이고, 앞뒤 공백을 뺀 전체가 "
        f"정답과 같아야 합니다. {_CLASSES_KO}",
        rule_en=f"Final = {ranking.label_en}. An answer is one label, which must equal the reference apart from white "
        f"space around it. {_CLASSES_EN}",
        answer_form="labels",
        ranking=ranking.key,
    )


def multi_label() -> Labels:
    """Several labels an item, ranked by micro F1 as 감정 분석 (2023) was."""
    return Labels(
        id="multi-label@1",
        title_ko="다중 분류(마이크로 F1)",
        title_en="Multi-label classification (micro F1)",
        metrics=("classification",),
        columns=(FINAL, F1_MICRO, F1_MACRO, F1_WEIGHTED, F1_SAMPLES, ACCURACY),
        tie_breaks=("f1_macro", "accuracy"),
        question_types=(),
        rule_ko="최종 점수 = 마이크로 F1. 한 문항의 답은 분류 이름의 목록이며, 순서는 상관없습니다. 정확도는 목록이 "
        f"정답과 똑같은 문항의 비율입니다. {_CLASSES_KO}",
        rule_en="Final = Micro F1. An answer is a list of labels in any order; accuracy is the share of items whose "
        f"list is exactly the reference's. {_CLASSES_EN}",
        answer_form="labels",
        ranking="f1_micro",
        is_multiple=True,
    )


def regression() -> Regression:
    """A number an item, ranked by mean squared error."""
    return Regression(
        id="regression@1",
        title_ko="수치 예측(MSE)",
        title_en="Regression (MSE)",
        metrics=("squared_error",),
        columns=(FINAL, MSE),
        tie_breaks=(),
        question_types=(),
        rule_ko="최종 점수 = 1 ÷ (1 + MSE). MSE는 답변과 정답의 차를 제곱한 값의 평균으로 낮을수록 좋고, 최종 점수는 "
        "오차가 없을 때 가장 높습니다. 답은 십진수 하나입니다.",
        rule_en="Final = 1 / (1 + MSE), highest without error. MSE is the mean of the squared differences between "
        "answer and reference; lower is better. An answer is one decimal number.",
        answer_form="number",
    )
