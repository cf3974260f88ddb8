"""Agreement of two lists of scores on 1-5: correlations and kappa, each with a bootstrap interval.

* ``pearson``: as scipy's ``pearsonr``. ``spearman``: that of average ranks, as scipy's ``spearmanr``.
* ``kappa``: Cohen's kappa with quadratic weights on the classes 1 to 5, scores of people rounded half up, as
  scikit-learn's ``cohen_kappa_score(weights="quadratic", labels=[1, 2, 3, 4, 5])``.

A correlation is undefined where a side is constant, and kappa where both sides are the same class everywhere (where one
side alone is constant it is 0 by its definition): there is neither a value nor an interval then. Intervals are
percentiles of 10,000 trials that draw as many items as there are (``scoring.significance.resampling``); a trial whose
draw leaves a figure undefined counts as 0. With few items they are wide, and that is what they should say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scoring.agreement.human import FEWEST_ITEMS
from scoring.significance.resampling import SEED, TRIALS, FloatArray, bootstrap_weights, percentiles
from scoring.text.essays import rounded

NAMES: Final = ("pearson", "spearman", "kappa")
REASONS: Final = ("constant_judge", "constant_people", "constant_both")
_ARRAYS: Final = 8  # of a trial's size that a block holds at once
_CONSTANT: Final = 1e-6  # scores on 1-5 that lie closer together differ by rounding alone


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval; where it is undefined there is the ``reason`` alone (a key of ``REASONS``)."""

    value: float | None
    low: float | None
    high: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """Agreement over ``items`` items."""

    items: int
    pearson: Estimate
    spearman: Estimate
    kappa: Estimate

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def figures(judged: Sequence[int], human: Sequence[float], *, trials: int = TRIALS, seed: int = SEED) -> Figures:
    """The agreement of aligned scores: ``judged`` are whole numbers. Raises ``ValueError`` for fewer than two items."""
    if len(judged) != len(human) or len(judged) < FEWEST_ITEMS:
        raise ValueError(f"expected two lists of one length, of two items or more: {len(judged)} and {len(human)}")
    one, other = np.asarray(judged, dtype=np.float64), np.asarray(human, dtype=np.float64)
    whole = np.asarray([rounded(score) for score in human], dtype=np.float64)
    observed = _all(np.ones((1, len(one))), one, other, whole)
    drawn: dict[str, list[FloatArray]] = {name: [] for name in NAMES}
    for weights in bootstrap_weights(len(one), trials, seed, cells=_ARRAYS * len(one)):
        for name, values in _all(weights, one, other, whole).items():
            drawn[name].append(np.nan_to_num(values, nan=0.0))
    reason = _reason(one, other)
    estimates = {name: _estimate(float(observed[name][0]), np.concatenate(drawn[name]), reason) for name in NAMES}
    return Figures(len(one), **estimates)


def _estimate(value: float, drawn: FloatArray, reason: str) -> Estimate:
    """``value`` with the interval of the ``drawn`` ones; without both, for ``reason``, where it is no number."""
    if math.isnan(value):
        return Estimate(None, None, None, reason)
    interval = percentiles(drawn)
    return Estimate(value, interval.low, interval.high)


def _reason(judged: FloatArray, human: FloatArray) -> str:
    """Why a figure of these scores is undefined, if one is: which side is constant. Kappa also is where people's scores
    only round to the judge's.
    """
    constant_judge, constant_people = (bool(np.ptp(side) < _CONSTANT) for side in (judged, human))
    if constant_judge != constant_people:
        return "constant_judge" if constant_judge else "constant_people"
    return "constant_both"


def _all(weights: FloatArray, one: FloatArray, other: FloatArray, whole: FloatArray) -> Mapping[str, FloatArray]:
    """Every figure of each row of ``weights`` (trials, items), which say how often an item counts: (trials,) each."""
    ranks = [_ranks(weights, side) for side in (one, other)]
    return {
        "pearson": _correlation(weights, *(np.broadcast_to(side, weights.shape) for side in (one, other))),
        "spearman": _correlation(weights, *ranks),
        "kappa": _kappa(weights, one, whole),
    }


def _correlation(weights: FloatArray, one: FloatArray, other: FloatArray) -> FloatArray:
    """Pearson's correlation of values (trials, items); NaN where a side is constant."""
    count = weights.sum(axis=1)
    left, right = (side - ((weights * side).sum(axis=1) / count)[:, None] for side in (one, other))
    products = (weights * left * right).sum(axis=1)
    squares = [(weights * side**2).sum(axis=1) for side in (left, right)]
    scale = np.sqrt(squares[0] * squares[1])
    # a constant side leaves squares of rounding only
    is_defined = np.minimum(*squares) > _CONSTANT**2 * count
    found = np.divide(products, scale, out=np.full_like(products, np.nan), where=is_defined)
    clipped: FloatArray = np.clip(found, -1.0, 1.0)
    return clipped


def _ranks(weights: FloatArray, values: FloatArray) -> FloatArray:
    """The average rank of each item in each trial, (trials, items), where it counts as often as its weight."""
    _levels, places = np.unique(values, return_inverse=True)
    order: NDArray[np.intp] = np.argsort(places, kind="stable")
    starts = np.flatnonzero(np.diff(places[order], prepend=-1))
    of_level = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks: FloatArray = (np.cumsum(of_level, axis=1) - of_level + (of_level + 1) / 2)[:, places]
    return ranks


def _kappa(weights: FloatArray, one: FloatArray, other: FloatArray) -> FloatArray:
    """Quadratic weighted kappa of classes that are whole numbers; NaN where all of both sides are one class."""
    count, left, right = weights.sum(axis=1), weights @ one, weights @ other
    observed = weights @ (one - other) ** 2
    expected = count * (weights @ (one**2 + other**2)) - 2 * left * right
    is_defined = expected > 0
    share = np.divide(observed * count, expected, out=np.full_like(expected, np.nan), where=is_defined)
    found: FloatArray = 1.0 - share
    return found
