"""The base class of recipes, and the steps that all of them share.

Sums are exact (``math.fsum``): the order of the items cannot change a score.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from scoring.composite import Component
from scoring.errors import Language, Message, ScoringError, quoted
from scoring.figures import Figure
from scoring.metrics import METRICS, is_neural
from scoring.recipes.long_texts import Pairs as Pairs
from scoring.recipes.long_texts import cut_warnings, read_part
from scoring.recipes.normalization import AS_READ, normalization_warnings
from scoring.records import Item, Items, ScoreWarning
from scoring.text.answers import alternatives_of

Coverage = Mapping[str, float | int]
ItemValues = Mapping[str, float]

# What an item of a file holds: an answer text, captions of a picture or film, labels, a number, a label for each target
# in it, opinions on aspects, or scores of an essay.
AnswerForm = Literal["answers", "captions", "labels", "number", "targets", "opinions", "essays"]
ColumnGroup = Literal["main", "reference"]

NAMED_LABELS: Final = 5  # of those that a warning counts
NO_SCORES: Final[Mapping[str, float]] = {}


class MismatchedFiles(ScoringError):
    """Predictions and references do not belong together: their ids or question types differ."""


@dataclass(frozen=True, slots=True)
class Column:
    """One score of the board. ``key`` is a score name; ``is_main`` marks the score that ranks.

    ``is_scaled``: shown times the scale of the board; CIDEr-D (0-10) and errors are not. ``group`` separates the scores
    that judge from those shown for reference. ``decimals``: of a count 0, ``None`` for those of the board. Without
    ``has_direction`` neither more nor less is better: it describes, and ranks nobody.
    """

    key: str
    text: Message
    is_main: bool = False
    is_scaled: bool = True
    group: ColumnGroup = "main"
    higher_is_better: bool = True
    decimals: int | None = None
    has_direction: bool = True

    def label(self, language: Language = "ko") -> str:
        return self.text.text(language)


@dataclass(frozen=True, slots=True)
class Layout:
    """A predictions file laid out for the metrics of a recipe.

    ``item_ids`` are all items in reference order. ``pairs`` is what each metric must score. ``preset`` are values that
    the rule sets without a metric (a missing reason in a strict recipe is 0).

    Of a very long text a metric gets the beginning, unless it only compares texts; a warning names the items.
    """

    item_ids: tuple[str, ...]
    pairs: Mapping[str, Pairs]
    preset: Mapping[str, ItemValues] = field(default_factory=dict)
    coverage: Coverage = field(default_factory=dict)
    warnings: tuple[ScoreWarning, ...] = ()

    def __post_init__(self) -> None:
        given = self.pairs
        parts = {id(pairs): read_part(pairs) for metric, pairs in given.items() if not _reads_whole(metric)}
        read = {metric: pairs if _reads_whole(metric) else parts[id(pairs)] for metric, pairs in given.items()}
        object.__setattr__(self, "pairs", read)
        object.__setattr__(self, "warnings", (*self.warnings, *cut_warnings(given, read)))

    def item_values(self, metric: str, values: ItemValues) -> dict[str, float]:
        """The value of every item that counts for ``metric``: scored pairs from ``values``, and preset ones.

        Values of other items are left out. Raises ``KeyError`` if a pair has no value.
        """
        return {item: values[item] for item in self.pairs[metric].ids} | dict(self.preset.get(metric, {}))

    def same_items(self, min_chars: int) -> set[str]:
        """The items of which some metric reads a text of ``min_chars`` or more that is one of the references."""
        return {
            item
            for pairs in self.pairs.values()
            for item, accepted, given in zip(pairs.ids, pairs.references, pairs.candidates, strict=True)
            if len(given.strip()) >= min_chars and any(given.strip() in alternatives_of(text) for text in accepted)
        }


def _reads_whole(metric: str) -> bool:
    return metric in METRICS and METRICS[metric].reads_whole


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
    ``answer_form`` says how the files are read, ``takes_several_references`` whether a reference of the official format
    may be a list of texts, ``has_choices`` whether an answer may be the number of a choice. ``optional_metrics`` run
    only if what they need is configured. ``composite`` are the scores whose ranks among all teams make the order of a
    board (``scoring.composite``); empty: ``final_score`` orders it.
    """

    id: str
    name: Message
    metrics: tuple[str, ...]
    columns: tuple[Column, ...]
    tie_breaks: tuple[str, ...]
    question_types: tuple[str, ...]
    rule_text: Message
    scale: int = 100
    decimals: int = 7
    answer_form: AnswerForm = "answers"
    optional_metrics: tuple[str, ...] = ()
    takes_several_references: bool = False
    has_choices: bool = False
    composite: tuple[Component, ...] = ()

    @cached_property
    def model_scores(self) -> frozenset[str]:
        """The names of the scores that a model takes part in: those that a model's NaN would reach."""
        names = {metric: METRICS[metric].score_names for metric in (*self.metrics, *self.optional_metrics)}
        means = {score: math.nan if is_neural(metric) else 0.5 for metric in names for score in names[metric]}
        return frozenset(name for name, value in self.final_scores(means).items() if math.isnan(value))

    @property
    def file_shape(self) -> tuple[object, ...]:
        """Equal for recipes that read the same files."""
        is_multiple = getattr(self, "is_multiple", None)
        return self.answer_form, self.question_types, self.takes_several_references, self.has_choices, is_multiple

    @property
    def reads_input(self) -> bool:
        """Whether a score can change with the ``input`` of the references."""
        return False

    @cached_property
    def directed_scores(self) -> tuple[str, ...]:
        """The names of the scores of which more, or less, is better: only they may rank."""
        return tuple(column.key for column in self.columns if column.has_direction)

    def higher_is_better(self, score: str) -> bool:
        """Whether more of ``score`` is better: unless the composite, its column or its metric says otherwise."""
        metrics = [METRICS[name] for name in (*self.metrics, *self.optional_metrics)]
        return all(
            (
                *(component.higher_is_better for component in self.composite if component.score == score),
                *(column.higher_is_better for column in self.columns if column.key == score),
                *(metric.higher_is_better for metric in metrics if score in metric.score_names),
            )
        )

    def title(self, language: Language = "ko") -> str:
        return self.name.text(language)

    def rule(self, language: Language = "ko") -> str:
        """The rule in words, with what holds for every recipe."""
        return f"{self.rule_text.text(language)} {AS_READ.text(language)}"

    @abstractmethod
    def input_rule(self, metric: str) -> str:
        """The name of the rule by which ``metric`` gets its texts from the answers; part of the metric's signature."""

    @abstractmethod
    def prepare(self, references: Items, predictions: Items) -> Layout:
        """Lay out the pairs. Raises ``MismatchedFiles`` if the files do not hold the same ids."""

    def file_warnings(self, references: Items | None, predictions: Items | None) -> list[ScoreWarning]:
        """Warnings of ``prepare`` that a check of one of the files, or of both, gives too."""
        return []

    @abstractmethod
    def final_scores(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        """Every score, ``final_score`` first, from the metrics' own scores by name.

        Written with ``scoring.figures``, so that it works as well on arrays of resampled means. A score is missing from
        ``means`` if no item of the references needs it.
        """

    def aggregate(
        self, layout: Layout, values: Mapping[str, ItemValues], corpus: Mapping[str, float] = NO_SCORES
    ) -> Aggregate:
        """Final and partial scores from per-item ``values`` of the pair metrics and the ``corpus`` metrics' scores.

        Raises ``KeyError`` if a value is missing.
        """
        means: dict[str, float] = {}
        for metric in (*self.metrics, *self.optional_metrics):
            if metric in values and self.counts(layout, metric):
                rows = [(value,) for value in layout.item_values(metric, values[metric]).values()]
                means |= METRICS[metric].aggregate(rows)
        return Aggregate(self.final_scores({**means, **corpus}), layout.coverage, layout.warnings)

    def further_columns(self, scores: Mapping[str, float]) -> tuple[Column, ...]:
        """Columns of scores whose names depend on the file: a report shows them, a board does not."""
        return ()

    def score_name(self, metric: str) -> str:
        """The score under which the item values of ``metric`` are reported; its own name if it has no item values."""
        kind = METRICS.get(metric)
        return kind.score_names[0] if kind is not None and kind.has_item_values else metric

    def metric_label(self, metric: str, language: Language = "ko") -> str:
        """The name of ``metric`` for readers: the label of its column if it has one."""
        labels = {column.key: column.label(language) for column in self.columns}
        kind = METRICS.get(metric)
        return labels.get(self.score_name(metric), metric if kind is None else kind.label.text(language))

    def counts(self, layout: Layout, metric: str) -> bool:
        """Whether ``metric`` has a mean at all, even if only the 0 for no pair."""
        return True

    def has_empty_alternative(self, reference: Item) -> bool:
        """Whether one of the alternatives of ``reference`` for exact match is empty."""
        return False

    def is_free_text(self, reference: Item) -> bool:
        """Whether the answer to ``reference`` is a text of sentences, and not a choice or a name."""
        return True


def align(references: Items, predictions: Items) -> list[tuple[Item, Item]]:
    """(reference, prediction) of every item, in reference order. Raises ``MismatchedFiles``."""
    predicted = predictions.by_id()
    known = references.by_id()
    if (
        predicted.keys() != known.keys()
        or len(known) != len(references.items)
        or len(predictions.items) != len(predicted)
    ):
        raise MismatchedFiles("references and predictions must hold the same ids, each once")
    return [(reference, predicted[reference.id]) for reference in references.items]


def common_warnings(predictions: Items) -> list[ScoreWarning]:
    """Warnings that do not depend on the rule: normalised and empty answers."""
    warnings = normalization_warnings(predictions)
    empty = sum(not answer.text.strip() for answer in predictions.items)
    if empty:
        warnings.append(ScoreWarning("empty_answers", {"count": empty}))
    return warnings


def unknown_labels_warning(known: Collection[str], given: Iterable[str]) -> list[ScoreWarning]:
    """The warning of answers with a label that no reference has: a misspelt one, as often as not."""
    strange = Counter(label for label in given if label and label not in known)
    if not strange:
        return []
    named = ", ".join(f"«{quoted(label)}»" for label, _times in strange.most_common(NAMED_LABELS))
    return [ScoreWarning("unknown_labels", {"count": strange.total(), "labels": named})]


def empty_alternatives_warning(count: int) -> list[ScoreWarning]:
    """The warning that ``count`` published references have an empty alternative, which no answer matches."""
    return [ScoreWarning("empty_alternatives", {"count": count})] if count else []


def answered_count(predictions: Items) -> int:
    """How many answers are not blank."""
    return sum(bool(answer.text.strip()) for answer in predictions.items)


def pair_up(rows: Iterable[tuple[str, str, str]]) -> Pairs:
    """``Pairs`` of (id, reference, candidate) rows."""
    return pair_up_all((item, (reference,), candidate) for item, reference, candidate in rows)


def pair_up_all(rows: Iterable[tuple[str, tuple[str, ...], str]]) -> Pairs:
    """``Pairs`` of (id, references, candidate) rows."""
    listed = list(rows)
    return Pairs(tuple(row[0] for row in listed), tuple(row[1] for row in listed), tuple(row[2] for row in listed))
