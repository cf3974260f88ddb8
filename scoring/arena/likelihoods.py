"""Evidence against judges, as likelihood ratios of two ways to vote (e-values), in natural logarithms.

* ``log_random``: the probability of the judge's votes if they are clicks that do not depend on the outputs, over that
  if they follow the systems' strengths as the other judges see them. Either way the judge may have habits of its own
  (prefer the first side, tie often), which are integrated out: for clicks with Dirichlet priors, at even odds of 1/2
  each (a habit) and of 4 each (clicks here and there, as most are), with normal priors for the order effect and the tie
  parameter of a reader.
* ``log_position``: likewise of a preference for one side far beyond the others' (deviation ``_BIASED``) over one near
  theirs (``_USUAL``).

An e-value of k arises under the second hypothesis with a probability of at most 1 / k, however many votes there are:
that is what bounds the false alarms.
"""

from __future__ import annotations

from math import lgamma, log
from typing import Final

import numpy as np

from scoring.arena.bradley_terry import FIRST, SECOND, TIE, FloatArray
from scoring.arena.comparisons import IntArray

_CLICKS: Final = (0.5, 4.0)  # Dirichlet distributions: of who clicks by habit, of who clicks here and there
_USUAL: Final = 0.3  # logits by which readers differ in their order effect
_HABIT: Final = 1.0  # … and by which a reader with a habit may
_BIASED: Final = 2.0
_TIES: Final = 1.0  # deviation of a reader's log tie parameter from the panel's
_ORDERS: Final = np.linspace(-4.0, 4.0, 33)
_TIE_STEPS: Final = np.linspace(-3.0, 3.0, 13)
_LEAST: Final = 1e-300


def click_counts(outcome: IntArray) -> FloatArray:
    """How often each outcome (``FIRST``, ``TIE``, ``SECOND``) was chosen."""
    return np.bincount(outcome, minlength=3).astype(np.float64)


def log_clicks(counts: FloatArray) -> float:
    """Log-probability of choices that depend on nothing, their shares drawn from one of ``_CLICKS`` by chance."""
    return float(np.logaddexp.reduce([_log_drawn(counts, each) for each in _CLICKS]) - log(len(_CLICKS)))


def _log_drawn(counts: FloatArray, alpha: float) -> float:
    """Log-probability of choices whose shares are drawn from a Dirichlet distribution of ``alpha`` each."""
    every = alpha * len(counts)
    return lgamma(every) - lgamma(every + counts.sum()) + sum(lgamma(each + alpha) - lgamma(alpha) for each in counts)


class Reader:
    """The probability of a judge's choices, given the strengths that the other judges see."""

    def __init__(self, difference: FloatArray, outcome: IntArray, order: float, tie: float, weight: float) -> None:
        """``difference`` of the strengths (first minus second); ``weight`` of each comparison, below 1 where several
        are of one vote.
        """
        with_ties = np.isfinite(tie)
        ties = tie + _TIE_STEPS if with_ties else np.zeros(1)
        half = (difference[None, :] + (order + _ORDERS)[:, None]) / 2
        chosen = np.where(outcome == FIRST, half, 0.0) - np.where(outcome == SECOND, half, 0.0)
        whole = np.exp(half) + np.exp(-half)
        self._logs = np.empty((len(_ORDERS), len(ties)))
        for at, each in enumerate(ties):
            given = np.exp(each) if with_ties else 0.0
            logs = chosen + (each * (outcome == TIE) if with_ties else 0.0) - np.log(whole + given)
            self._logs[:, at] = weight * logs.sum(axis=1)
        self._ties = _normal(_TIE_STEPS, _TIES) if with_ties else np.ones(1)

    def log_probability(self, deviation: float = _HABIT) -> float:
        """Log-probability with an order effect that differs from the others' by ``deviation``."""
        prior = np.log(_normal(_ORDERS, deviation)[:, None] * self._ties[None, :] + _LEAST)
        return _log_sum(self._logs + prior)

    def log_position(self) -> float:
        """Evidence for a preference of one side."""
        return self.log_probability(_BIASED) - self.log_probability(_USUAL)


def log_ratings(z: FloatArray, expected: FloatArray, correlation: float) -> float:
    """Evidence for random scores over those that correlate with what the others gave: both with mean 0, variance 1."""
    rest = max(1 - correlation**2, _LEAST)
    logs = -(z**2) / 2 + (z - correlation * expected) ** 2 / (2 * rest) + np.log(rest) / 2
    return float(logs.sum())


def _normal(steps: FloatArray, deviation: float) -> FloatArray:
    """The shares of a normal distribution on ``steps``."""
    weights = np.exp(-((steps / deviation) ** 2) / 2)
    shares: FloatArray = weights / weights.sum()
    return shares


def _log_sum(logs: FloatArray) -> float:
    highest = logs.max()
    return float(highest + np.log(np.exp(logs - highest).sum()))
