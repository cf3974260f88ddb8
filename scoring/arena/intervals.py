"""Intervals of figures whose votes are clustered twice: votes on one item agree, and so do votes of one judge.

The variance is V(items) + V(judges) - V(items and judges), the two-way formula of Cameron, Gelbach and Miller (2011):
each V is the variance of a bootstrap that draws whole clusters, the last one drawing the votes of one judge on one item
together; the first two count its part twice. Each is multiplied by G / (G - 1) for its G clusters. With few judges the
sum may come out too small by chance; it is never taken as less than ``_LEAST_SHARE`` of the last V. (A bootstrap that
draws items and judges at once counts the last part three times, and its intervals are too wide.)

The interval is symmetric with a quantile of Student's t. Its degrees of freedom are Satterthwaite's for the sum, each V
having G - 1: the smaller the sum beside its parts, the less is known of it. They are never fewer than G - 1 of the
smaller number of clusters, which Cameron, Gelbach and Miller take for two-way clusters: where the parts cancel by
chance Satterthwaite's go down to 1, and with 5 to 8 judges intervals were several times as wide as in panels alike. Of
60 panels each of 6 systems and 5, 8 and 20 judges intervals of differences held the truth in 97.6, 95.8 and 94.7 % with
that least number, in 99.8, 97.6 and 96.4 % without; 27 instead of 13 % of the pairs were told apart by 8 judges.
``python -m tests.benchmarks arena`` measures how often intervals hold the truth in simulated panels.

Where nothing varies the error is unknown, not 0: the votes of one judge on one item, draws that all give the same,
ratings without a rest. The interval is then without ends. If every draw gives the same difference, all clusters agree
on its sign; of signs alone that has the probability 2^(1 - G) for the smaller number of clusters G, which is p. Of
ratings without a rest nothing is known, and p is 1.

For a figure that is linear in the votes the bootstrap needs no drawing: ``of_influence`` is what it tends to.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from scoring.arena.bradley_terry import FloatArray
from scoring.arena.comparisons import IntArray
from scoring.arena.student import quantile, two_sided_p
from scoring.significance.resampling import bootstrap_weights

Estimator = Callable[[FloatArray], FloatArray]  # sums (trials, width) -> figures (trials, K)

_SMALLEST: Final = 1e-300
_LEAST_SHARE: Final = 0.25
_LEAST_ERROR: Final = 1e-8  # what is smaller is of rounding
_FILLED: Final = 32  # cells of a table for each that is filled, up to which a product is faster than adding up


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its standard error, the degrees of freedom of that, and its interval; where the error is unknown it
    and the ends are infinite, and 2^-freedom is the probability that all clusters agree by chance.
    """

    value: float
    error: float
    freedom: float
    low: float
    high: float

    @property
    def p(self) -> float:
        """Two-sided, of the value being 0."""
        if math.isinf(self.error):
            return 1.0 if abs(self.value) < _LEAST_ERROR else 0.5**self.freedom
        return two_sided_p(self.value / self.error, self.freedom)


@dataclass(frozen=True, slots=True)
class Clustered:
    """Figures (K,) with their covariances (K, K) when items, judges, or both at once are drawn; ``groups`` are the
    numbers of clusters in that order. ``is_drawn``: without variance every draw gave the same.
    """

    values: FloatArray
    items: FloatArray
    judges: FloatArray
    votes: FloatArray
    groups: tuple[int, int, int]
    is_drawn: bool = True

    @property
    def clusters(self) -> int:
        """The smaller number of items and of judges; a single one of them counts for nothing."""
        return min((count for count in self.groups[:2] if count > 1), default=1)

    def contrast(self, weights: FloatArray, level: float) -> Estimate:
        """The sum of the figures times ``weights`` (K,), with the interval of 1 - ``level``."""
        items, judges, votes = (float(weights @ each @ weights) for each in (self.items, self.judges, self.votes))
        variance = max(items + judges - votes, _LEAST_SHARE * votes)
        value, error = float(weights @ self.values), math.sqrt(max(variance, 0.0))
        if error < _LEAST_ERROR:
            return Estimate(value, math.inf, self.clusters - 1.0 if self.is_drawn else 0.0, -math.inf, math.inf)
        parts = zip((items, judges, votes), self.groups, strict=True)
        noise = sum(each**2 / (count - 1) for each, count in parts if count > 1)
        freedom = max(1.0, self.clusters - 1.0, variance**2 / max(noise, _SMALLEST))
        half = quantile(level, round(freedom, 6)) * error
        return Estimate(value, error, freedom, value - half, value + half)

    def figure(self, index: int, level: float) -> Estimate:
        """One of the figures."""
        return self.contrast(np.eye(len(self.values))[index], level)

    def difference(self, one: int, other: int, level: float) -> Estimate:
        """Figure ``one`` minus figure ``other``."""
        eye = np.eye(len(self.values))
        return self.contrast(eye[one] - eye[other], level)


@dataclass(frozen=True, slots=True)
class Entries:
    """Votes as additive statistics: entry e adds ``amount[e]`` to sum ``cell[e]`` of ``width``; clusters as indices."""

    cell: IntArray
    amount: FloatArray
    item: IntArray
    judge: IntArray
    width: int


def clustered(entries: Entries, estimate: Estimator, *, resamples: int, seed: str) -> Clustered:
    """The figures that ``estimate`` makes of the sums, and their covariances from ``resamples`` draws of each kind.

    ``seed`` is any text; equal ones give equal draws. Raises ``ValueError`` without entries.
    """
    if not len(entries.cell):
        raise ValueError("no votes to draw from")
    whole = np.bincount(entries.cell, weights=entries.amount, minlength=entries.width).astype(np.float64)
    values = estimate(whole[None])[0]
    found, groups = [], []
    for name, cluster in _clusters(entries.item, entries.judge).items():
        count = int(cluster.max()) + 1
        groups.append(count)
        drawn = _drawn(entries, cluster, count, estimate, resamples, _number(seed, name)) if count > 1 else None
        found.append(None if drawn is None else _covariance(drawn) * count / (count - 1))
    return _whole(values, found, groups, is_drawn=True)


def of_influence(values: FloatArray, influence: FloatArray, item: IntArray, judge: IntArray) -> Clustered:
    """Figures (K,) that are linear in the votes; ``influence`` (votes, K) is what each vote adds to them."""
    found: list[FloatArray | None] = []
    groups = []
    for cluster in _clusters(item, judge).values():
        count = int(cluster.max()) + 1
        sums = np.zeros((count, len(values)))
        np.add.at(sums, cluster, influence)
        sums -= sums.mean(axis=0)
        groups.append(count)
        found.append(sums.T @ sums * count / (count - 1) if count > 1 else None)
    return _whole(values, found, groups, is_drawn=False)


def _clusters(item: IntArray, judge: IntArray) -> dict[str, IntArray]:
    """Cluster indices 0, 1, … of every entry for items, judges, and the two together."""
    both = item * (int(judge.max()) + 1) + judge
    named = {"items": item, "judges": judge, "votes": both}
    return {name: np.unique(labels, return_inverse=True)[1] for name, labels in named.items()}


def _whole(values: FloatArray, found: list[FloatArray | None], groups: list[int], *, is_drawn: bool) -> Clustered:
    """A single cluster has no variance of its own to show; that of the votes takes its place."""
    votes = found[2] if found[2] is not None else np.zeros((len(values), len(values)))
    items, judges = (votes if each is None else each for each in found[:2])
    return Clustered(values, items, judges, votes, (groups[0], groups[1], groups[2]), is_drawn)


def _drawn(
    entries: Entries, cluster: IntArray, count: int, estimate: Estimator, resamples: int, seed: int
) -> FloatArray:
    """The figures (resamples, K) of draws of ``count`` clusters with replacement."""
    sums = _Sums(entries, cluster, count)
    draws = bootstrap_weights(count, resamples, seed, cells=max(count, sums.cells, entries.width))
    return np.concatenate([estimate(sums.of(weights)) for weights in draws])


class _Sums:
    """The sums of drawn clusters. Entries of one cluster and cell are one entry: what is drawn is drawn whole.

    Few clusters are a table, and draws a product of matrices; of many, most cells of a table would be empty, and the
    entries are added up cell by cell.
    """

    def __init__(self, entries: Entries, cluster: IntArray, count: int) -> None:
        keys, places = np.unique(entries.cell * count + cluster, return_inverse=True)
        amounts = np.bincount(places, weights=entries.amount)
        cell, group = keys // count, keys % count
        used, starts = np.unique(cell, return_index=True)
        self._width, self._used = entries.width, used
        is_dense = count * len(used) <= _FILLED * len(keys)
        self.cells = len(used) if is_dense else len(keys)  # numbers that a draw makes
        self._table: FloatArray | None = None
        if is_dense:
            self._table = np.zeros((count, len(used)))
            self._table[group, np.searchsorted(used, cell)] = amounts
        else:
            self._group, self._amounts, self._starts = group, amounts, starts

    def of(self, weights: FloatArray) -> FloatArray:
        """(trials, width) of how often each cluster was drawn, (trials, clusters)."""
        found = np.zeros((len(weights), self._width))
        if self._table is not None:
            found[:, self._used] = weights @ self._table
        else:
            found[:, self._used] = np.add.reduceat(weights[:, self._group] * self._amounts, self._starts, axis=1)
        return found


def _covariance(drawn: FloatArray) -> FloatArray:
    centred = drawn - drawn.mean(axis=0)
    found: FloatArray = centred.T @ centred / (len(drawn) - 1)
    return found


def _number(seed: str, name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{name}".encode()).digest()[:16], "big")
