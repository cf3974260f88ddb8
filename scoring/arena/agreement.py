"""How far the judges agree: Krippendorff's alpha and Gwet's AC2, each with an interval over items.

A *table* counts, for every unit, how often each category was given: (units, categories), the categories in their order.

* alpha = 1 - observed / expected disagreement (Krippendorff 2011, "Computing Krippendorff's alpha-reliability"), with
  the squared ordinal distance of that paper, or 1 for all that differ (nominal). Units with one rating do not count.
* AC2 with ordinal weights (Gwet 2014, "Handbook of inter-rater reliability", 4th ed., chapters 3 and 5). It stays high
  where nearly all ratings are one category, where alpha drops to 0.

Intervals are percentiles of draws of items with all their units. The ordinal distance, which depends on how often each
category was given, is that of all votes in every draw.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Final, Literal

import numpy as np

from scoring.arena.bradley_terry import FloatArray
from scoring.arena.comparisons import IntArray
from scoring.significance.resampling import bootstrap_weights

Metric = Literal["ordinal", "nominal"]
_Figure = Callable[[FloatArray], FloatArray]

_FEWEST: Final = 2  # ratings of a unit that can agree


@dataclass(frozen=True, slots=True)
class Reliability:
    """A coefficient with its interval; all three ``None`` where it is undefined (nothing was judged twice, or all
    ratings are one category).
    """

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Table:
    """``counts`` (units, categories); ``item`` is the index of each unit's item."""

    counts: FloatArray
    item: IntArray

    @property
    def pairable(self) -> int:
        """How many units have two ratings or more."""
        return int((self.counts.sum(axis=1) >= _FEWEST).sum())

    def same_share(self) -> float | None:
        """The share of the pairs of ratings of one unit that are equal, ``None`` without any pair."""
        ratings = self.counts.sum(axis=1)
        pairs = (ratings * (ratings - 1)).sum()
        return float((self.counts * (self.counts - 1)).sum() / pairs) if pairs else None


def table_of(rated: Sequence[tuple[Hashable, str | int, float]], categories: Sequence[float]) -> Table:
    """The table of ratings (unit, item, category); the order of the ratings changes no interval."""
    units: dict[Hashable, int] = {}
    items = {item: at for at, item in enumerate(sorted({item for _unit, item, _category in rated}))}
    place = {category: at for at, category in enumerate(categories)}
    of_item: list[int] = []
    flat = np.empty(len(rated), dtype=np.intp)
    for at, (unit, item, category) in enumerate(rated):
        if unit not in units:
            units[unit] = len(units)
            of_item.append(items[item])
        flat[at] = units[unit] * len(categories) + place[category]
    counts = np.bincount(flat, minlength=len(units) * len(categories)).reshape(len(units), len(categories))
    return Table(counts.astype(np.float64), np.asarray(of_item, dtype=np.intp))


def alpha_interval(table: Table, metric: Metric, *, resamples: int, seed: str, level: float) -> Reliability:
    """Alpha with its interval of 1 - ``level``."""
    return _with_interval(table, *_alpha(table, metric), resamples=resamples, seed=seed, level=level)


def ac2_interval(table: Table, *, resamples: int, seed: str, level: float) -> Reliability:
    """AC2 with ordinal weights, with its interval of 1 - ``level``."""
    return _with_interval(table, *_ac2(table), resamples=resamples, seed=seed, level=level)


def _alpha(table: Table, metric: Metric) -> tuple[FloatArray, _Figure]:
    """What each unit adds, (units, width), and alpha (trials,) of sums (trials, width)."""
    ratings = table.counts.sum(axis=1, keepdims=True)
    counts = table.counts * (ratings >= _FEWEST)
    distance = _distance(counts.sum(axis=0), metric)
    observed = ((counts @ distance) * counts).sum(axis=1, keepdims=True) / np.maximum(ratings - 1, 1)

    def figure(sums: FloatArray) -> FloatArray:
        given = sums[:, 1:]
        expected = ((given @ distance) * given).sum(axis=1)
        disagreement = (given.sum(axis=1) - 1) * sums[:, 0]
        found = np.divide(disagreement, expected, out=np.full_like(expected, np.nan), where=expected > 0)
        return np.asarray(1 - found)

    return np.hstack([observed, counts]), figure


def _distance(given: FloatArray, metric: Metric) -> FloatArray:
    """Squared distances of categories that were given so often."""
    size = len(given)
    if metric == "nominal":
        return 1.0 - np.eye(size)
    below = np.cumsum(given) - given / 2  # half of one's own and all below: differences are the distances
    found: FloatArray = (below[:, None] - below[None, :]) ** 2
    return found


def _ac2(table: Table) -> tuple[FloatArray, _Figure]:
    size = table.counts.shape[1]
    weights = _ordinal_weights(size)
    ratings = table.counts.sum(axis=1, keepdims=True)
    is_pair = ratings >= _FEWEST
    agreeing = (table.counts * (table.counts @ weights - 1)).sum(axis=1, keepdims=True)
    share = np.where(is_pair, agreeing / np.maximum(ratings * (ratings - 1), 1), 0.0)
    given = table.counts / np.maximum(ratings, 1)
    total_weight = weights.sum()

    def figure(sums: FloatArray) -> FloatArray:
        pairs, units = sums[:, 1], sums[:, 2]
        observed = np.divide(sums[:, 0], pairs, out=np.full_like(pairs, np.nan), where=pairs > 0)
        common = sums[:, 3:] / np.maximum(units, 1)[:, None]
        chance = total_weight / max(size * (size - 1), 1) * (common * (1 - common)).sum(axis=1)
        return np.asarray((observed - chance) / (1 - chance))

    return np.hstack([share, is_pair.astype(np.float64), np.ones_like(ratings), given]), figure


def _ordinal_weights(size: int) -> FloatArray:
    """1 - C(d + 1, 2) / C(size, 2) for categories d apart."""
    most = comb(size, 2) or 1
    row = np.asarray([1 - comb(apart + 1, 2) / most for apart in range(size)])
    places = np.arange(size)
    found: FloatArray = row[np.abs(places[:, None] - places[None, :])]
    return found


def _with_interval(
    table: Table, rows: FloatArray, figure: _Figure, *, resamples: int, seed: str, level: float
) -> Reliability:
    value = float(figure(rows.sum(axis=0, keepdims=True))[0])
    if not np.isfinite(value):
        return Reliability(None, None, None)
    items = int(table.item.max()) + 1
    by_item = np.zeros((items, rows.shape[1]))
    np.add.at(by_item, table.item, rows)
    number = int.from_bytes(hashlib.sha256(f"{seed}:agreement".encode()).digest()[:16], "big")
    draws = bootstrap_weights(items, resamples, number, cells=max(by_item.shape))
    drawn = np.concatenate([figure(weights @ by_item) for weights in draws])
    drawn = drawn[np.isfinite(drawn)]
    low, high = np.percentile(drawn, (50 * level, 100 - 50 * level)) if len(drawn) else (value, value)
    return Reliability(value, float(low), float(high))
