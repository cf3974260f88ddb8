"""The culture task: choices (선다형), short answers (단답형) and descriptions (서술형)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from scoring.errors import Message, quoted
from scoring.figures import Figure, average
from scoring.recipes.base import (
    Column,
    Layout,
    MismatchedFiles,
    Pairs,
    Recipe,
    align,
    answered_count,
    common_warnings,
    empty_alternatives_warning,
    pair_up,
)
from scoring.recipes.columns import ACCURACY, BERTSCORE, BLEU_1, BLEURT, DESCRIPTIVE, EM, FINAL, ROUGE_1
from scoring.records import Item, Items, ScoreWarning
from scoring.text.answers import SHORT, alternatives_of


@dataclass(frozen=True)
class CultureQa(Recipe):
    """Accuracy of choices, EM of short answers, three similarities of descriptions; the mean of the types present.

    A type without an item in the references has no score and does not enter the final one.
    """

    CHOICE: ClassVar = "선다형"
    SHORT: ClassVar = SHORT
    DESCRIPTIVE: ClassVar = "서술형"
    TYPE_KEYS: ClassVar[Mapping[str, str]] = {
        CHOICE: "multiple_choice",
        SHORT: "short_answer",
        DESCRIPTIVE: "descriptive",
    }
    description_metrics: tuple[str, ...] = ()

    def input_rule(self, metric: str) -> str:
        return f"culture-qa-{self.TYPE_KEYS[self._type_of(metric)]}@1"

    def prepare(self, references: Items, predictions: Items) -> Layout:
        items = align(references, predictions)
        unknown = {r.question_type for r, _ in items} - set(self.TYPE_KEYS)
        if unknown:
            raise MismatchedFiles(f"question types {sorted(map(str, unknown))} are not of {self.id}")
        by_type = {
            kind: pair_up((r.id, r.text, p.text) for r, p in items if r.question_type == kind)
            for kind in self.TYPE_KEYS
        }
        coverage = {"items": len(items), "answered": answered_count(predictions)}
        return Layout(
            item_ids=tuple(r.id for r, _ in items),
            pairs={metric: by_type[self._type_of(metric)] for metric in self.metrics},
            coverage=coverage | {key: len(by_type[kind]) for kind, key in self.TYPE_KEYS.items()},
            warnings=(
                *_padding_warning(by_type[self.CHOICE]),
                *_wording_warning(by_type[self.CHOICE]),
                *empty_alternatives_warning(sum(self.has_empty_alternative(reference) for reference, _ in items)),
                *common_warnings(predictions),
            ),
        )

    def final_scores(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        scores = dict(means)
        described = [self.score_name(metric) for metric in self.description_metrics]
        if all(name in scores for name in described):
            scores["descriptive_avg"] = average([scores[name] for name in described])
        parts = [scores[part] for part in ("accuracy", "exact_match", "descriptive_avg") if part in scores]
        return {"final_score": average(parts), **scores}

    def counts(self, layout: Layout, metric: str) -> bool:
        return bool(len(layout.pairs[metric]))

    def has_empty_alternative(self, reference: Item) -> bool:
        return reference.question_type == self.SHORT and not all(alternatives_of(reference.text))

    def is_free_text(self, reference: Item) -> bool:
        return reference.question_type == self.DESCRIPTIVE

    def _type_of(self, metric: str) -> str:
        return {"accuracy": self.CHOICE, "exact_match": self.SHORT}.get(metric, self.DESCRIPTIVE)


def _padding_warning(choices: Pairs) -> list[ScoreWarning]:
    padded = sum(choice != choice.strip() for choice in choices.candidates)
    return [ScoreWarning("padded_choices", {"count": padded})] if padded else []


def _wording_warning(choices: Pairs) -> list[ScoreWarning]:
    """Choices with more than the number, where all references are numbers."""
    if not all(text.isdigit() for texts in choices.references for text in texts):
        return []
    worded = [choice for choice in choices.candidates if choice.strip() and not choice.strip().isdigit()]
    return [ScoreWarning("choices_not_numbers", {"count": len(worded), "example": quoted(worded[0])})] if worded else []


def _culture_qa(recipe_id: str, name: Message, third_metric: str, third: Column) -> CultureQa:
    description = ("rouge1_mecab", "bertscore", third_metric)
    return CultureQa(
        id=recipe_id,
        name=name,
        metrics=("accuracy", "exact_match", *description),
        columns=(FINAL, ACCURACY, EM, DESCRIPTIVE, ROUGE_1, BERTSCORE, third),
        tie_breaks=("accuracy", "exact_match"),
        question_types=tuple(CultureQa.TYPE_KEYS),
        rule_text=Message(
            "최종 점수 = 선다형 정확도, 단답형 EM, 서술형 평균을 평균한 값. "
            f"서술형 평균은 ROUGE-1 F1, BERTScore F1, {third.label('ko')}의 평균입니다. "
            "문항이 없는 유형은 빼고 평균을 냅니다.",
            "Final = mean of multiple-choice accuracy, short-answer EM and the descriptive mean, which is the "
            f"mean of ROUGE-1 F1, BERTScore F1 and {third.label('en')}. A type without items is left out.",
        ),
        has_choices=True,
        description_metrics=description,
    )


RECIPES: Final = (
    _culture_qa("culture-qa@1", Message("한국 문화 질의응답", "Korean culture, question answering"), "bleurt", BLEURT),
    _culture_qa(
        "culture-qa-bleu@1",
        Message("한국 문화 질의응답(BLEU)", "Korean culture, question answering (BLEU)"),
        "sentence_bleu1",
        BLEU_1,
    ),
)
