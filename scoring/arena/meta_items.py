"""How often a metric prefers, on single items, the output that people preferred: pairwise accuracy with ties.

Two outputs of an item are a pair if people compared them. People's verdict is the one that more votes gave (pairs,
rankings), or comes from the mean points of each output (rubrics, marked errors: as given and not levelled by judge,
which would leave no two outputs equal); else it is a tie. A metric's verdict is the sign of its difference, and a tie
where the difference is at most a threshold. The accuracy acc_eq is the share of equal verdicts, ties among them; every
item weighs the same. The threshold of each metric is the one with the highest accuracy, 0 or one of its differences:
tie calibration (Deutsch, Foster and Freitag, "Ties Matter: Meta-Evaluating Modern Metrics with Pairwise Accuracy and
Tie Calibration", EMNLP 2023). Without it a metric that never ties would lose all ties of people, and Kendall's tau-b
would reward metrics that tie seldom.

Intervals are percentiles of a bootstrap over items, whose pairs are drawn together; the threshold is calibrated again
in every draw. Two metrics are compared on the pairs that both have values of: a paired randomisation over items, each
metric keeping its threshold. The threshold is chosen on the pairs that it is judged by: with a few dozen pairs both
accuracy and interval are a little too high (see ``scoring.arena.meta`` for how much).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from scoring.arena.bradley_terry import FloatArray
from scoring.arena.comparisons import IntArray
from scoring.arena.vote_records import Votes
from scoring.arena.vote_values import is_of_pairs, pair_verdicts, points_of
from scoring.composite import COMPARED_DECIMALS
from scoring.significance.resampling import bootstrap_weights, swaps

TRIALS: Final = 10_000  # of the randomisation

_SLACK: Final = 1e-10  # what rounding may take from equal sums


@dataclass(frozen=True, slots=True)
class ItemPairs:
    """Pairs of outputs that people compared, as aligned arrays: indices into ``items`` and ``systems``; ``side`` is 1
    where people prefer ``one``, -1 for ``other``, 0 for a tie.
    """

    systems: tuple[str, ...]
    items: tuple[str, ...]
    item: IntArray
    one: IntArray
    other: IntArray
    side: IntArray

    def __len__(self) -> int:
        return len(self.side)


@dataclass(frozen=True, slots=True)
class ItemAccuracy:
    """acc_eq of one metric with its interval. ``threshold`` is in the metric's unit, ``ties`` the share of pairs that
    it makes ties of, items weighing the same.
    """

    value: float
    low: float
    high: float
    threshold: float
    ties: float
    pairs: int
    items: int


def item_pairs(votes: Votes, systems: Sequence[str]) -> ItemPairs:
    """The pairs of ``systems`` in the counted real votes."""
    at = {label: index for index, label in enumerate(systems)}
    found = _compared(votes) if is_of_pairs(votes.protocol) else _rated(votes)
    rows = sorted(row for row in found if row[1] in at and row[2] in at)
    items = sorted({row[0] for row in rows})
    place = {label: index for index, label in enumerate(items)}
    columns = [(place[item], at[one], at[other], side) for item, one, other, side in rows]
    return ItemPairs(tuple(systems), tuple(items), *np.asarray(columns, dtype=np.intp).reshape(-1, 4).T)


def _compared(votes: Votes) -> Iterator[tuple[str, str, str, int]]:
    """(item, one, other, side) of all pairs, by the majority of the verdicts."""
    sums: dict[tuple[str, str, str], int] = defaultdict(int)
    for vote in votes.real():
        for (one, other), side in pair_verdicts(vote):
            sums[vote.item, one, other] -= side
    for key, total in sums.items():
        yield *key, (total > 0) - (total < 0)


def _rated(votes: Votes) -> Iterator[tuple[str, str, str, int]]:
    """Likewise by the mean points."""
    points: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for vote in votes.real():
        points[vote.item][vote.systems[0]].append(points_of(vote, votes.criteria))
    for item, given in points.items():
        means = {label: round(sum(each) / len(each), COMPARED_DECIMALS) for label, each in sorted(given.items())}
        for one, other in combinations(means, 2):
            yield item, one, other, (means[one] > means[other]) - (means[one] < means[other])


def differences(pairs: ItemPairs, values: Mapping[str, Mapping[str, float]]) -> FloatArray:
    """(pairs,): the value of ``one`` minus that of ``other``, NaN where one is missing. ``values``: by system and item,
    higher is better.
    """
    table = np.full((len(pairs.systems), len(pairs.items)), np.nan)
    for row, label in enumerate(pairs.systems):
        of = values.get(label, {})
        table[row] = [of.get(item, np.nan) for item in pairs.items]
    found: FloatArray = np.round(table[pairs.one, pairs.item] - table[pairs.other, pairs.item], COMPARED_DECIMALS)
    return found


def accuracy(
    pairs: ItemPairs, difference: FloatArray, *, resamples: int, seed: int, level: float
) -> ItemAccuracy | None:
    """acc_eq of a metric with these differences; ``None`` if it has no pair."""
    known = ~np.isnan(difference)
    if not known.any():
        return None
    item, side, given = pairs.item[known], pairs.side[known], difference[known]
    items, item = np.unique(item, return_inverse=True)
    ordered = _Ordered(given, side, item, len(items))
    drawn = np.concatenate(
        [ordered.best(weights) for weights in bootstrap_weights(len(items), resamples, seed, cells=len(given))]
    )
    low, high = np.percentile(drawn, (50 * level, 100 - 50 * level))
    threshold = ordered.threshold()
    tied = float(ordered.weight[ordered.size <= threshold].sum() / len(items))
    value = float(ordered.best(np.ones((1, len(items))))[0])
    return ItemAccuracy(value, float(low), float(high), threshold, tied, len(given), len(items))


class _Ordered:
    """The pairs of a metric by the size of its difference, so that all thresholds are tried by one running sum."""

    def __init__(self, difference: FloatArray, side: IntArray, item: IntArray, items: int) -> None:
        order = np.argsort(np.abs(difference), kind="stable")
        self.size = np.abs(difference)[order]
        self.weight = (1.0 / np.bincount(item, minlength=items)[item])[order]
        self.item = item[order]
        right = (np.sign(difference) == side)[order] & (self.size > 0)
        tie = (side == 0)[order]
        self.by_item = np.bincount(self.item, self.weight * right, items)  # if no pair is called a tie
        # what calling it a tie adds; pairs that gain and lose nothing are left out
        gain = self.weight * (tie.astype(np.float64) - right)
        self._moves = np.flatnonzero(gain)
        self._gain = gain[self._moves]
        candidates = np.unique(np.concatenate([[0.0], self.size]))
        self._ends = np.searchsorted(self.size[self._moves], candidates, side="right")  # moves up to each candidate
        self.thresholds = candidates

    def gains(self, weights: FloatArray) -> FloatArray:
        """(trials, thresholds): what each threshold adds to the accuracy, times the items, when items are drawn so."""
        sums = np.zeros((len(weights), len(self._moves) + 1))
        np.cumsum(weights[:, self.item[self._moves]] * self._gain, axis=1, out=sums[:, 1:])
        found: FloatArray = sums[:, self._ends]
        return found

    def best(self, weights: FloatArray) -> FloatArray:
        """(trials,): the accuracy with the best threshold of each draw."""
        found: FloatArray = (weights @ self.by_item + self.gains(weights).max(axis=1)) / weights.sum(axis=1)
        return found

    def threshold(self) -> float:
        """The lowest of the best ones."""
        gains = self.gains(np.ones((1, len(self.by_item))))[0]
        return float(self.thresholds[np.flatnonzero(gains >= gains.max() - _SLACK)[0]])


def is_right(pairs: ItemPairs, difference: FloatArray, threshold: float) -> FloatArray:
    """(pairs,): 1 where the metric's verdict is people's, 0 where not, NaN where it has none."""
    verdict = np.where(np.abs(difference) <= threshold, 0, np.sign(difference))
    return np.where(np.isnan(difference), np.nan, verdict == pairs.side)


def compare(pairs: ItemPairs, right: Sequence[FloatArray], seed: int) -> list[tuple[int, int, float, float]]:
    """(one, other, difference of accuracy, p) of every two metrics, whose verdicts ``right`` tells (``is_right``), on
    the pairs of both. p is two-sided; 1 without such pairs.
    """
    places = list(combinations(range(len(right)), 2))
    if not places:
        return []
    by_item = np.column_stack([_by_item(pairs, right[one] - right[other]) for one, other in places])
    observed, counts = by_item.sum(axis=0), np.zeros(len(places), dtype=np.intp)
    for signs in swaps(len(pairs.items), TRIALS, seed, cells=max(len(pairs.items), len(places))):
        counts += (np.abs((1 - 2 * signs) @ by_item) >= np.abs(observed) - _SLACK).sum(axis=0)
    return [
        (*place, float(difference), float((count + 1) / (TRIALS + 1)))
        for place, difference, count in zip(places, observed, counts, strict=True)
    ]


def _by_item(pairs: ItemPairs, difference: FloatArray) -> FloatArray:
    """(items,): what each item adds to the difference of the two accuracies."""
    known = ~np.isnan(difference)
    count = np.bincount(pairs.item[known], minlength=len(pairs.items))
    sums = np.bincount(pairs.item[known], difference[known], len(pairs.items))
    found: FloatArray = sums / np.maximum(count, 1) / max(int(np.count_nonzero(count)), 1)
    return found


def tie_share(pairs: ItemPairs) -> float:
    """The share of people's ties, every item weighing the same; 0 without pairs."""
    if not len(pairs):
        return 0.0
    return float(np.mean(np.bincount(pairs.item, pairs.side == 0) / np.bincount(pairs.item)))
