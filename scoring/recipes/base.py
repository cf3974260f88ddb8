"""What every recipe is made of, and the steps that all of them share.

Sums are exact (``math.fsum``): the order of the items cannot change a score.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scoring.errors import Language, ScoringError
from scoring.records import Answer, AnswerFile, ScoreWarning

Coverage = Mapping[str, float | int]
ItemValues = Mapping[str, float]


class MismatchedFiles(ScoringError):
    """Predictions and references were not read against each other: their ids or question types disagree."""


@dataclass(frozen=True, slots=True)
class Column:
    """One score of the board. ``key`` is a score name; ``is_main`` marks the score that ranks."""

    key: str
    label_ko: str
    label_en: str
    is_main: bool = False

    def label(self, language: Language = "ko") -> str:
        return self.label_ko if language == "ko" else self.label_en


@dataclass(frozen=True, slots=True)
class Pairs:
    """What one metric scores: three aligned sequences, one entry a scored item."""

    ids: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A predictions file laid out for the metrics of a recipe.

    ``item_ids`` are all items in reference order. ``pairs`` is what each metric must score. ``fixed`` holds the values
    that the rule itself sets without running a metric (a missing reason in a strict recipe is 0).
    """

    item_ids: tuple[str, ...]
    pairs: Mapping[str, Pairs]
    fixed: Mapping[str, ItemValues] = field(default_factory=dict)
    coverage: Coverage = field(default_factory=dict)
    warnings: tuple[ScoreWarning, ...] = ()

    def item_values(self, metric: str, values: ItemValues) -> dict[str, float]:
        """The value of every item that counts for ``metric``: scored pairs from ``values``, and fixed ones.

        Values of other items are left out. Raises ``KeyError`` if a pair has no value.
        """
        return {item: values[item] for item in self.pairs[metric].ids} | dict(self.fixed.get(metric, {}))


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Scores by name, all 0-1, ``final_score`` among them."""

    scores: Mapping[str, float]
    coverage: Coverage
    warnings: tuple[ScoreWarning, ...]


@dataclass(frozen=True)
class Recipe(ABC):
    """A scoring rule. ``prepare``, then the metrics on its pairs, then ``aggregate``; the last is pure.

    ``columns`` are in board order, the final score first. ``tie_breaks`` are score names compared after it, higher
    first. ``question_types`` are those allowed (empty: any). Scores are shown times ``scale`` with ``decimals``.
    """

    id: str
    title_ko: str
    title_en: str
    metrics: tuple[str, ...]
    columns: tuple[Column, ...]
    tie_breaks: tuple[str, ...]
    question_types: tuple[str, ...]
    rule_ko: str
    rule_en: str
    scale: int = 100
    decimals: int = 7

    def title(self, language: Language = "ko") -> str:
        return self.title_ko if language == "ko" else self.title_en

    def rule(self, language: Language = "ko") -> str:
        return self.rule_ko if language == "ko" else self.rule_en

    @abstractmethod
    def input_rule(self, metric: str) -> str:
        """The named rule by which ``metric`` gets its texts out of the answers; part of the metric's signature."""

    @abstractmethod
    def prepare(self, references: AnswerFile, predictions: AnswerFile) -> Prepared:
        """Lay out the pairs. Raises ``MismatchedFiles`` if the files do not hold the same ids."""

    @abstractmethod
    def aggregate(self, prepared: Prepared, values: Mapping[str, ItemValues]) -> Aggregate:
        """Final and partial scores from per-item ``values`` of each metric. Raises ``KeyError`` if one is missing."""


def mean(values: Iterable[float]) -> float:
    """Arithmetic mean with an exact sum; 0.0 of nothing."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else 0.0


def align(references: AnswerFile, predictions: AnswerFile) -> list[tuple[Answer, Answer]]:
    """(reference, prediction) of every item, in reference order. Raises ``MismatchedFiles``."""
    predicted = predictions.by_id()
    known = references.by_id()
    if (
        predicted.keys() != known.keys()
        or len(known) != len(references.answers)
        or len(predictions.answers) != len(predicted)
    ):
        raise MismatchedFiles("references and predictions must hold the same ids, each once")
    return [(reference, predicted[reference.id]) for reference in references.answers]


def common_warnings(predictions: AnswerFile) -> list[ScoreWarning]:
    """Warnings that do not depend on the rule: normalised and empty answers."""
    warnings = []
    if predictions.normalized_ids:
        warnings.append(ScoreWarning("nfc_normalized", {"count": len(predictions.normalized_ids)}))
    empty = sum(not answer.text.strip() for answer in predictions.answers)
    if empty:
        warnings.append(ScoreWarning("empty_answers", {"count": empty}))
    return warnings


def answered_count(predictions: AnswerFile) -> int:
    """How many answers are not blank."""
    return sum(bool(answer.text.strip()) for answer in predictions.answers)


def pair_up(rows: Iterable[tuple[str, str, str]]) -> Pairs:
    """``Pairs`` of (id, reference, candidate) rows."""
    columns: Sequence[tuple[str, ...]] = list(zip(*rows, strict=True)) or [(), (), ()]
    return Pairs(*columns)
