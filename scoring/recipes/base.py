"""What every recipe is made of, and the steps that all of them share.

Sums are exact (``math.fsum``): the order of the items cannot change a score.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from scoring.errors import Language, ScoringError
from scoring.records import Answer, AnswerFile, ScoreWarning

Coverage = Mapping[str, float | int]
ItemValues = Mapping[str, float]
Figure = Any  # a float, or a numpy array with one value a resampling: ``Recipe.combine`` only adds, multiplies, divides

# What an item of a file holds: an answer text, captions of a picture or film, labels, or a number.
AnswerForm = Literal["answers", "captions", "labels", "number"]
ColumnGroup = Literal["main", "reference"]

# Metrics under whose own name no score is reported, (Korean, English): what a progress line calls them.
METRIC_LABELS: Final = {
    "meteor": ("METEOR", "METEOR"),
    "bleu": ("BLEU", "BLEU"),
    "diversity": ("다양성", "Diversity"),
    "classification": ("분류 지표", "Classification"),
    "squared_error": ("제곱 오차", "Squared error"),
}


ALTERNATIVE_SEPARATOR: Final = "#"

NO_SCORES: Final[Mapping[str, float]] = {}


class MismatchedFiles(ScoringError):
    """Predictions and references were not read against each other: their ids or question types disagree."""


@dataclass(frozen=True, slots=True)
class Column:
    """One score of the board. ``key`` is a score name; ``is_main`` marks the score that ranks.

    ``is_scaled``: shown times the scale of the board. CIDEr-D (0-10) and errors are not. ``group`` sets the scores
    that judge apart from those that stand beside them for reference.
    """

    key: str
    label_ko: str
    label_en: str
    is_main: bool = False
    is_scaled: bool = True
    group: ColumnGroup = "main"

    def label(self, language: Language = "ko") -> str:
        return self.label_ko if language == "ko" else self.label_en


@dataclass(frozen=True, slots=True)
class Pairs:
    """What one metric scores: three aligned sequences, one entry a scored item. An item has one or more references."""

    ids: tuple[str, ...] = ()
    references: tuple[tuple[str, ...], ...] = ()
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
    ``answer_form`` says how the files are read, and ``takes_several_references`` whether a reference of the official
    format may be a list of texts. ``optional_metrics`` run only where what they need is configured.
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
    answer_form: AnswerForm = "answers"
    optional_metrics: tuple[str, ...] = ()
    takes_several_references: bool = False

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
    def combine(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        """Every score, ``final_score`` first, from the metrics' own scores by name.

        Only sums, products and quotients, so that it works as well on arrays of resampled means. A score may be
        missing from ``means`` where no item of the references calls for it.
        """

    def aggregate(
        self, prepared: Prepared, values: Mapping[str, ItemValues], corpus: Mapping[str, float] = NO_SCORES
    ) -> Aggregate:
        """Final and partial scores from per-item ``values`` of the pair metrics and the ``corpus`` metrics' scores.

        Raises ``KeyError`` if a value is missing.
        """
        means = {
            self.score_name(metric): mean(prepared.item_values(metric, values[metric]).values())
            for metric in self.metrics
            if metric in values and self.counts(prepared, metric)
        }
        return Aggregate(self.combine({**means, **corpus}), prepared.coverage, prepared.warnings)

    def score_name(self, metric: str) -> str:
        """The score under which the mean of ``metric`` is reported."""
        return metric

    def metric_label(self, metric: str, language: Language = "ko") -> str:
        """What a reader calls ``metric``: the label of its column where it has one."""
        labels = {column.key: column.label(language) for column in self.columns}
        korean, english = METRIC_LABELS.get(metric, (metric, metric))
        return labels.get(self.score_name(metric), korean if language == "ko" else english)

    def counts(self, prepared: Prepared, metric: str) -> bool:
        """Whether ``metric`` has a mean at all, were it only the 0 of no pair."""
        return True

    def has_empty_alternative(self, reference: Answer) -> bool:
        """Whether ``reference`` names nothing as one of the answers that exact match accepts."""
        return False


def mean(values: Iterable[float]) -> float:
    """Arithmetic mean with an exact sum; 0.0 of nothing."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else 0.0


def average(figures: Sequence[Figure]) -> Figure:
    """Arithmetic mean of floats, as ``mean``, or of arrays, one by one; 0.0 of nothing."""
    if all(isinstance(figure, (int, float)) for figure in figures):
        return mean(figures)
    return sum(figures) / len(figures)


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


def alternatives_of(text: str) -> list[str]:
    """The answers that a reference accepts, separated by ``#``, without surrounding white space; some may be empty."""
    return [alternative.strip() for alternative in text.split(ALTERNATIVE_SEPARATOR)]


def empty_alternatives_warning(count: int) -> list[ScoreWarning]:
    """That ``count`` published references name an empty alternative, which no answer matches."""
    return [ScoreWarning("empty_alternatives", {"count": count})] if count else []


def answered_count(predictions: AnswerFile) -> int:
    """How many answers are not blank."""
    return sum(bool(answer.text.strip()) for answer in predictions.answers)


def pair_up(rows: Iterable[tuple[str, str, str]]) -> Pairs:
    """``Pairs`` of (id, reference, candidate) rows."""
    return pair_up_all((item, (reference,), candidate) for item, reference, candidate in rows)


def pair_up_all(rows: Iterable[tuple[str, tuple[str, ...], str]]) -> Pairs:
    """``Pairs`` of (id, references, candidate) rows."""
    listed = list(rows)
    return Pairs(tuple(row[0] for row in listed), tuple(row[1] for row in listed), tuple(row[2] for row in listed))
