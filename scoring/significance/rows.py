"""The stored items of several results as rows that can be summed, and every score of their sums.

Items are summed with all their values, present or absent, so that the final score and every other score of several
means follow as the recipe computes them (``Recipe.final_scores``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from scoring.metrics import METRICS, CorpusMetric, Metric
from scoring.recipes import Recipe
from scoring.records import ItemScores, ScoreReport
from scoring.significance.resampling import FloatArray, mean_columns

Reason = Literal[
    "other_references",
    "other_signature",
    "not_resampled",
    "no_statistics",
    "too_many_classes",
    "one_side",
    "depends",
    "items_disagree",
]
Refusal = Callable[[str, Sequence[str]], Reason | None]  # of a metric's name and those of its scores in the reports
Sums = FloatArray  # (trials, width) of one system

STORED_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class _Part:
    """The additive rows (items, width) of one metric for every system; their sums are what its ``scores`` takes."""

    metric: type[Metric]
    systems: tuple[FloatArray, ...]


class AdditiveRows:
    """The additive rows of several results of the same items, and every score of their sums.

    ``reasons`` are why a metric's score cannot be resampled; its value is then NaN, which makes every score that
    depends on it NaN too. ``refusal`` names further reasons; ``metrics``: only these are read, the scores of others are
    NaN.
    """

    def __init__(
        self, recipe: Recipe, reports: Sequence[ScoreReport], refusal: Refusal, metrics: Collection[str] | None = None
    ) -> None:
        self._recipe, self._reports, self._refusal = recipe, reports, refusal
        self._items = _items_by_id(reports)
        self.reasons: dict[str, Reason] = {}
        self._parts: list[_Part] = []
        for metric in (*recipe.metrics, *recipe.optional_metrics):
            self._add(metric, is_read=metrics is None or metric in metrics)
        count = len(self._items[0])
        sides = ([part.systems[at] for part in self._parts] for at in range(len(reports)))
        self.systems = tuple(np.hstack([np.empty((count, 0)), *side]) for side in sides)
        self.known = frozenset(self.score(self.systems[0].sum(axis=0, keepdims=True)))

    @property
    def width(self) -> int:
        """Numbers of an item; 0 where no score can be resampled."""
        return int(self.systems[0].shape[1])

    def score(self, sums: Sums) -> Mapping[str, FloatArray]:
        """Every score of the recipe, (trials,) each, of sums (trials, width)."""
        scores: dict[str, FloatArray] = {}
        start = 0
        for part in self._parts:
            end = start + part.systems[0].shape[1]
            scores |= part.metric.scores(list(np.ascontiguousarray(sums[:, start:end].T)))
            start = end
        scores.update({name: np.full(len(sums), np.nan) for name in self.reasons})
        return self._recipe.final_scores(scores)

    def metrics_of(self, names: Collection[str]) -> frozenset[str]:
        """The metrics with rows that one of the scores called ``names`` depends on."""
        means = {name: 0.5 for part in self._parts for name in part.metric.score_names}
        means |= dict.fromkeys(self.reasons, 0.5)

        def is_needed(metric: type[Metric]) -> bool:
            scores = self._recipe.final_scores({**means, **dict.fromkeys(metric.score_names, math.nan)})
            return any(math.isnan(scores.get(name, 0.0)) for name in names)

        return frozenset(part.metric.name for part in self._parts if is_needed(part.metric))

    def why_not(self, key: str) -> Reason:
        """Why the score called ``key`` cannot be resampled."""
        return self.reasons.get(key, "depends" if key in self.known else "not_resampled")

    def _add(self, name: str, *, is_read: bool) -> None:
        """Add the metric called ``name``, or note why its scores cannot be resampled; nothing if it has no values."""
        metric = METRICS[name]
        known = [score for score in metric.score_names if any(score in report.scores for report in self._reports)]
        if not known:
            return
        reason = self._refusal(name, known) if is_read else "depends"
        if reason:
            self.reasons.update(dict.fromkeys(known, reason))
        elif metric.has_item_values:
            values = ([[item.scores.get(known[0])] for item in side] for side in self._items)
            self._parts.append(_Part(metric, tuple(mean_columns(side) for side in values)))
        elif issubclass(metric, CorpusMetric) and metric.is_resampled:
            self._add_statistics(name, metric, known)

    def _add_statistics(self, name: str, metric: type[CorpusMetric], known: Sequence[str]) -> None:
        if any(name not in item.statistics for side in self._items for item in side):
            self.reasons.update(dict.fromkeys(known, "no_statistics"))
            return
        rows = metric.summable(*([item.statistics[name] for item in side] for side in self._items))
        self._parts.append(_Part(metric, tuple(np.asarray(side, dtype=float) for side in rows.systems)))
        self.reasons.update(dict.fromkeys(rows.approximate, "too_many_classes"))


def _items_by_id(reports: Sequence[ScoreReport]) -> list[list[ItemScores]]:
    """The items of every report in one order."""
    return [sorted(report.items, key=lambda item: item.id) for report in reports]


def is_stored(computed: float, stored: float) -> bool:
    """Whether the score computed from the items equals the stored one."""
    return math.isclose(computed, stored, rel_tol=STORED_TOLERANCE, abs_tol=STORED_TOLERANCE)
