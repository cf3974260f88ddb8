"""Scores of systems from votes that rate one output: rubrics, and outputs whose errors are marked.

* A vote's ``points`` are 0-1: the weighted mean of its criteria, each as a share of its scale; or the score / 100.
* They are standardised by judge, z = (points - mean) / deviation, with the judge's mean and variance drawn towards the
  panel's as if ``_SHRINKAGE`` more votes of the whole panel were the judge's own.
* z is the sum of a system, a judge, an item and an error, with judges and items as random effects (Henderson's mixed
  model equations); what items vary more than their votes is estimated by the analysis of variance of one factor, for
  judges likewise. An item that only good systems were seen on so helps none of them.
* Scores are the effects of the systems, with mean 0, in deviations of a judge. Intervals come from the influence of
  every vote, clustered by items and judges (``scoring.arena.intervals``).

The penalty of an output is the sum over its marked errors of ``WEIGHTS`` (the default of MQM); it is shown beside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scoring.arena.bradley_terry import FloatArray
from scoring.arena.comparisons import IntArray
from scoring.arena.intervals import Clustered, of_influence
from scoring.arena.vote_records import Criterion, Vote
from scoring.arena.vote_values import points_of

WEIGHTS: Final[Mapping[str, int]] = {"minor": 1, "major": 5, "critical": 25}

_SHRINKAGE: Final = 5.0
_LARGEST_RATIO: Final = 1e6  # of the error's variance to that of an effect: the effect is then none
_SMALLEST: Final = 1e-12


@dataclass(frozen=True, slots=True)
class Ratings:
    """One entry a vote, as aligned arrays: ``points`` 0-1, and indices into ``systems``, ``items`` and ``judges``."""

    systems: tuple[str, ...]
    items: tuple[str, ...]
    judges: tuple[str, ...]
    points: FloatArray
    system: IntArray
    item: IntArray
    judge: IntArray

    def __len__(self) -> int:
        return len(self.points)

    def mean_points(self) -> FloatArray:
        """(systems,): the plain mean of each system's points; NaN without votes."""
        return _means(self.points, self.system, len(self.systems))


def penalty_of(vote: Vote) -> int:
    """The weights of the errors marked, added up."""
    return sum(WEIGHTS[span["severity"]] for span in vote.value.get("spans", []))


def errors_of(votes: Sequence[Vote], name: str, keys: Iterable[str]) -> dict[str, float]:
    """How many errors a vote marks on average, by their ``name``: severity or category."""
    counts = Counter(span.get(name, "") for vote in votes for span in vote.value.get("spans", []))
    return {key: counts[key] / len(votes) for key in keys}


def ratings(votes: Sequence[Vote], systems: Sequence[str], criteria: Sequence[Criterion]) -> Ratings:
    """The ratings in votes of ``systems``."""
    items, judges = sorted({vote.item for vote in votes}), sorted({vote.judge for vote in votes})
    at = [{label: index for index, label in enumerate(labels)} for labels in (systems, items, judges)]
    rows = [(at[0][vote.systems[0]], at[1][vote.item], at[2][vote.judge]) for vote in votes]
    columns = np.asarray(rows, dtype=np.intp).reshape(-1, 3).T
    points = np.asarray([points_of(vote, criteria) for vote in votes], dtype=np.float64)
    return Ratings(tuple(systems), tuple(items), tuple(judges), points, *columns)


def standardised(given: Ratings) -> FloatArray:
    """z of every vote; all 0 where no judge's points differ."""
    count = np.bincount(given.judge, minlength=len(given.judges)).astype(np.float64)
    own = _means(given.points, given.judge, len(given.judges))
    squares = np.bincount(given.judge, (given.points - own[given.judge]) ** 2, len(given.judges))
    freedom = np.maximum(count - 1, 0)
    pooled = squares.sum() / max(freedom.sum(), 1.0)
    if pooled < _SMALLEST:
        return np.zeros(len(given))
    mean = (count * np.nan_to_num(own) + _SHRINKAGE * given.points.mean()) / (count + _SHRINKAGE)
    deviation = np.sqrt((squares + _SHRINKAGE * pooled) / (freedom + _SHRINKAGE))
    z: FloatArray = (given.points - mean[given.judge]) / deviation[given.judge]
    return z


def system_scores(given: Ratings) -> Clustered:
    """The scores of the systems, mean 0, with their covariances. Every system needs a vote."""
    z = standardised(given)
    systems, judges = len(given.systems), len(given.judges)
    residual = z - _means(z, given.system, systems)[given.system]
    ratio = [_variance_ratio(residual, cluster) for cluster in (given.item, given.judge)]
    fixed = np.zeros((len(given), systems + judges))  # systems, then judges; items are eliminated
    rows = np.arange(len(given))
    fixed[rows, given.system] = 1.0
    fixed[rows, systems + given.judge] = 1.0
    of_item = np.zeros((len(given.items), systems + judges))
    np.add.at(of_item, given.item, fixed)
    weight = np.bincount(given.item, minlength=len(given.items)) + ratio[0]
    reduced = fixed - (of_item / weight[:, None])[given.item]
    matrix = fixed.T @ reduced
    matrix[range(systems, systems + judges), range(systems, systems + judges)] += ratio[1]
    inverse = np.linalg.inv(matrix)
    effects = inverse @ (reduced.T @ z)
    of_items = np.bincount(given.item, z - fixed @ effects, len(given.items)) / weight
    error = z - fixed @ effects - of_items[given.item]
    influence = (reduced @ inverse[:, :systems]) * error[:, None]
    centred = influence - influence.mean(axis=1, keepdims=True)
    return of_influence(effects[:systems] - effects[:systems].mean(), centred, given.item, given.judge)


def _variance_ratio(residual: FloatArray, cluster: IntArray) -> float:
    """The variance of the error over that of the clusters, from the analysis of variance of one factor."""
    count = np.bincount(cluster).astype(np.float64)
    total, groups = count.sum(), len(count)
    if groups < 2 or total <= groups:
        return _LARGEST_RATIO
    own = np.bincount(cluster, residual) / count
    within = ((residual - own[cluster]) ** 2).sum() / (total - groups)
    between = (count * (own - residual.mean()) ** 2).sum() / (groups - 1)
    size = (total - (count**2).sum() / total) / (groups - 1)
    variance = (between - within) / size
    if variance * _LARGEST_RATIO <= within or within <= 0:
        return _LARGEST_RATIO
    return float(within / variance)


def _means(values: FloatArray, cluster: IntArray, count: int) -> FloatArray:
    sums, votes = np.bincount(cluster, values, count), np.bincount(cluster, minlength=count)
    found: FloatArray = np.divide(sums, votes, out=np.full(count, np.nan), where=votes > 0)
    return found
