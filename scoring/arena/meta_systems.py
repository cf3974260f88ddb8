"""How far a metric orders whole systems as people do: Kendall's tau-b and pairwise accuracy.

People's scores are those of the published result, and equal ones are ties. The accuracy is the share of pairs of
systems on which the metric's order is people's, where a tie agrees with a tie alone; beside it is the accuracy over
the pairs that people told apart (Holm's adjusted p at most the level), as Kocmi et al. (WMT 2021) advise: on the others
people's own order may be chance.

There are two intervals, as there are two questions.

* ``systems``: how the metric would agree with people on other systems like these, in a campaign of the same size. A
  bootstrap draws the systems with replacement; pairs of a system with itself say nothing and are left out. None is
  given for fewer than ``FEWEST`` systems, and readers are warned below ``meta_warnings.ENOUGH``.
* ``votes``: how the metric agrees with what people think of these very systems, which other items and judges would show
  a little differently. People's scores are drawn from their normal distribution, whose covariance is clustered over
  items and judges (``scoring.arena.intervals``); the metric's scores, of the whole test set, stay. As noise in people's
  scores only takes from an agreement, that of the draws too, the interval reaches to the percentiles of the draws or
  to their mirror images about the value, whichever is farther.

Two metrics are compared by permutation over systems (PERM-SYS of Deutsch, Dror and Roth, TACL 2021): both are
standardised and change places in each system with probability 1/2; all permutations for up to ``_EXACT`` systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from scoring.arena.bradley_terry import FloatArray
from scoring.arena.comparisons import IntArray
from scoring.arena.intervals import Clustered
from scoring.arena.meta_warnings import FEWEST
from scoring.arena.ranks import Pair
from scoring.composite import COMPARED_DECIMALS
from scoring.significance.resampling import bootstrap_weights, swaps

TRIALS: Final = 2000  # of the permutation where not all are tried

_EXACT: Final = 12  # systems
_SLACK: Final = 1e-10
_LEAST_VARIANCE: Final = 1e-16  # what is smaller is of rounding


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its intervals (see above); the value is ``None`` where a side has no order at all."""

    value: float | None
    systems: Interval | None
    votes: Interval | None


@dataclass(frozen=True, slots=True)
class SystemAgreement:
    """tau-b and accuracy of one metric. ``decided``: the accuracy over the pairs that people told apart; ``None``
    without any.
    """

    tau: Figure
    accuracy: Figure
    decided: float | None


@dataclass(frozen=True, slots=True)
class SystemPairs:
    """All pairs of n systems: indices ``one`` < ``other``; people's ``side`` (1, 0, -1), and whether they told the two
    apart. ``scores`` (n,) and ``covariance`` (n, n) are people's.
    """

    scores: FloatArray
    covariance: FloatArray
    one: IntArray
    other: IntArray
    side: FloatArray
    decided: FloatArray

    def signs(self, scores: FloatArray) -> FloatArray:
        """(…, pairs): which of each pair has the higher of ``scores`` (…, n)."""
        rounded = np.round(scores, COMPARED_DECIMALS)
        found: FloatArray = np.sign(rounded[..., self.one] - rounded[..., self.other])
        return found


def system_pairs(found: Clustered, chosen: Sequence[int], tested: Sequence[Pair], level: float) -> SystemPairs:
    """The pairs of the figures at the places ``chosen``, of which ``tested`` has the tests."""
    at = np.asarray(chosen, dtype=np.intp)
    one, other = np.triu_indices(len(at), 1)
    apart = {frozenset((each.one, each.other)) for each in tested if each.adjusted <= level}
    rounded = np.round(found.values[at], COMPARED_DECIMALS)
    whole = found.items + found.judges - found.votes
    return SystemPairs(
        scores=found.values[at],
        covariance=whole[np.ix_(at, at)],
        one=one,
        other=other,
        side=np.sign(rounded[one] - rounded[other]),
        decided=np.asarray([frozenset((at[i], at[j])) in apart for i, j in zip(one, other, strict=True)], dtype=float),
    )


def agreements(
    pairs: SystemPairs, metrics: FloatArray, *, resamples: int, seed: int, level: float
) -> list[SystemAgreement]:
    """The agreement of each of ``metrics`` (metrics, n; higher is better)."""
    signs = pairs.signs(metrics)
    taus, shares = _tau(pairs.side, signs), (pairs.side == signs).mean(axis=1)
    over_systems = _over_systems(pairs, signs, resamples, seed) if metrics.shape[1] >= FEWEST else None
    is_error_known = bool((np.diag(pairs.covariance) > _LEAST_VARIANCE).any())
    over_votes = _over_votes(pairs, signs, resamples, seed) if is_error_known else None
    told = pairs.decided.sum()
    decided = ((pairs.side == signs) * pairs.decided).sum(axis=1) / max(told, 1)

    def figure(values: FloatArray, which: int, at: int, least: float) -> Figure:
        if not np.isfinite(values[at]):
            return Figure(None, None, None)
        value = float(values[at])
        systems = None if over_systems is None else _interval(over_systems[which][:, at], level)
        votes = None if over_votes is None else _interval(over_votes[which][:, at], level)
        return Figure(value, systems, None if votes is None else _mirrored(votes, value, least))

    return [
        SystemAgreement(figure(taus, 0, at, -1.0), figure(shares, 1, at, 0.0), float(decided[at]) if told else None)
        for at in range(len(metrics))
    ]


def _tau(side: FloatArray, signs: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """tau-b of ``side`` (…, pairs) with each of ``signs`` (metrics, pairs): (…, metrics); NaN without an order."""
    if weights is None:
        weights = np.ones_like(side)
    scale = np.sqrt((weights * side**2).sum(axis=-1)[..., None] * (weights @ (signs**2).T))
    agreeing = (weights * side) @ signs.T
    found: FloatArray = np.divide(agreeing, scale, out=np.full_like(scale, np.nan), where=scale > 0)
    return found


def _over_systems(
    pairs: SystemPairs, signs: FloatArray, resamples: int, seed: int
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """tau and accuracy (draws, metrics) when systems are drawn."""
    taus, shares = [], []
    for counts in bootstrap_weights(len(pairs.scores), resamples, seed, cells=len(pairs.one)):
        weights = counts[:, pairs.one] * counts[:, pairs.other]
        taus.append(_tau(pairs.side, signs, weights))
        total = weights.sum(axis=1, keepdims=True)
        right = weights @ (pairs.side == signs).T.astype(np.float64)
        shares.append(np.divide(right, total, out=np.full_like(right, np.nan), where=total > 0))
    return np.concatenate(taus), np.concatenate(shares)


def _over_votes(pairs: SystemPairs, signs: FloatArray, resamples: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """tau and accuracy (draws, metrics) when people's scores are drawn."""
    values, vectors = np.linalg.eigh(pairs.covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, 2))))
    scores = pairs.scores + random.standard_normal((resamples, len(pairs.scores))) @ root.T
    side = pairs.signs(scores)
    right = [(side == each).mean(axis=1) for each in signs]
    return _tau(side, signs), np.column_stack(right)


def _interval(drawn: FloatArray, level: float) -> Interval | None:
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn):
        return None
    low, high = np.percentile(drawn, (50 * level, 100 - 50 * level))
    return Interval(float(low), float(high))


def _mirrored(drawn: Interval, value: float, least: float) -> Interval:
    low, high = min(drawn.low, 2 * value - drawn.high), max(drawn.high, 2 * value - drawn.low)
    return Interval(max(low, least), min(high, 1.0))


def compare(pairs: SystemPairs, metrics: FloatArray, seed: int) -> list[tuple[int, int, float, float]]:
    """(one, other, difference of tau, p) of every two metrics; a metric without an order counts as tau 0."""
    standard = _standardised(metrics)
    taus = np.nan_to_num(_tau(pairs.side, pairs.signs(standard)))
    masks, is_exact = _masks(metrics.shape[1], seed)
    found = []
    for one, other in combinations(range(len(metrics)), 2):
        given = [np.where(masks > 0, standard[b], standard[a]) for a, b in ((one, other), (other, one))]
        drawn = [np.nan_to_num(_tau(pairs.side, pairs.signs(each))) for each in given]
        observed = float(taus[one] - taus[other])
        count = int((np.abs(drawn[0] - drawn[1]) >= abs(observed) - _SLACK).sum())
        p = count / len(masks) if is_exact else (count + 1) / (len(masks) + 1)
        found.append((one, other, observed, p))
    return found


def _standardised(metrics: FloatArray) -> FloatArray:
    """Mean 0 and deviation 1 of every row; a constant one is 0."""
    centred = metrics - metrics.mean(axis=1, keepdims=True)
    deviation = centred.std(axis=1, keepdims=True)
    found: FloatArray = np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 0)
    return found


def _masks(systems: int, seed: int) -> tuple[FloatArray, bool]:
    """(trials, systems) of 0 and 1: which systems change places, and whether these are all ways. The complement of a
    way only turns the sign of the difference, so half of them are enough.
    """
    if systems <= _EXACT:
        numbers = np.arange(2 ** max(systems - 1, 0))
        return ((numbers[:, None] >> np.arange(systems)) & 1).astype(np.float64), True
    return np.concatenate(list(swaps(systems, TRIALS, seed, cells=systems))), False
