"""The culture task: choices (선다형), short answers (단답형) and descriptions (서술형)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from scoring.recipes.base import (
    Figure,
    MismatchedFiles,
    Pairs,
    Prepared,
    Recipe,
    align,
    alternatives_of,
    answered_count,
    average,
    common_warnings,
    empty_alternatives_warning,
    pair_up,
)
from scoring.records import Answer, AnswerFile, ScoreWarning


@dataclass(frozen=True)
class CultureQa(Recipe):
    """Accuracy of choices, EM of short answers, three similarities of descriptions; the mean of the types present.

    A type without an item in the references has no score and does not enter the final one.
    """

    CHOICE: ClassVar = "선다형"
    SHORT: ClassVar = "단답형"
    DESCRIPTIVE: ClassVar = "서술형"
    TYPE_KEYS: ClassVar[Mapping[str, str]] = {
        CHOICE: "multiple_choice",
        SHORT: "short_answer",
        DESCRIPTIVE: "descriptive",
    }
    description_metrics: tuple[str, ...] = ()

    def input_rule(self, metric: str) -> str:
        return f"culture-qa-{self.TYPE_KEYS[self._type_of(metric)]}@1"

    def prepare(self, references: AnswerFile, predictions: AnswerFile) -> Prepared:
        items = align(references, predictions)
        unknown = {r.question_type for r, _ in items} - set(self.TYPE_KEYS)
        if unknown:
            raise MismatchedFiles(f"question types {sorted(map(str, unknown))} are not of {self.id}")
        by_type = {
            kind: pair_up((r.id, r.text, p.text) for r, p in items if r.question_type == kind)
            for kind in self.TYPE_KEYS
        }
        coverage = {"items": len(items), "answered": answered_count(predictions)}
        return Prepared(
            item_ids=tuple(r.id for r, _ in items),
            pairs={metric: by_type[self._type_of(metric)] for metric in self.metrics},
            coverage=coverage | {key: len(by_type[kind]) for kind, key in self.TYPE_KEYS.items()},
            warnings=(
                *_padding_warning(by_type[self.CHOICE]),
                *empty_alternatives_warning(sum(self.has_empty_alternative(reference) for reference, _ in items)),
                *common_warnings(predictions),
            ),
        )

    def combine(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        scores = dict(means)
        if all(metric in scores for metric in self.description_metrics):
            scores["descriptive_avg"] = average([scores[metric] for metric in self.description_metrics])
        parts = [scores[part] for part in ("accuracy", "exact_match", "descriptive_avg") if part in scores]
        return {"final_score": average(parts), **scores}

    def counts(self, prepared: Prepared, metric: str) -> bool:
        return bool(len(prepared.pairs[metric]))

    def has_empty_alternative(self, reference: Answer) -> bool:
        return reference.question_type == self.SHORT and not all(alternatives_of(reference.text))

    def _type_of(self, metric: str) -> str:
        return {"accuracy": self.CHOICE, "exact_match": self.SHORT}.get(metric, self.DESCRIPTIVE)


def _padding_warning(choices: Pairs) -> list[ScoreWarning]:
    padded = sum(choice != choice.strip() for choice in choices.candidates)
    return [ScoreWarning("padded_choices", {"count": padded})] if padded else []
