"""The p-values of all pairs of results on one board, by paired approximate randomisation (``resampling``)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring.composite import Component
from scoring.significance.composed import composites_of, swapped_composites
from scoring.significance.resampling import TOLERANCE, FloatArray
from scoring.significance.rows import AdditiveRows


class Pairs:
    """Counts, for every pair of the results at ``tested``, the trials that differ as much as observed.

    ``field`` (components, ranked) are the observed values of all ranked results; the first of them are ``tested``.
    """

    def __init__(
        self,
        rows: AdditiveRows,
        tested: Sequence[int],
        names: Sequence[str],
        components: tuple[Component, ...],
        field: FloatArray,
    ) -> None:
        self._rows, self._tested, self._names = rows, tested, names
        self._components, self._field = components, field
        self._totals = np.array([rows.systems[at].sum(axis=0) for at in tested])
        values = composites_of(field[:, None, :], components)[0] if components else field[0]
        self._observed = values[: len(tested)]
        self._counts = np.zeros((len(tested), len(tested)), dtype=np.int64)
        self._squares = np.zeros((len(tested), len(tested)))

    def add(self, moved: NDArray[Any]) -> None:
        """A block of trials: ``moved`` (trials, tested, width) are the sums of each result's swapped items."""
        for one in range(len(self._tested) - 1):
            others = range(one + 1, len(self._tested))
            taken = moved[:, one + 1 :] - moved[:, one : one + 1]  # what the better one gets, and the worse one gives
            gained, lost = self._totals[one] + taken, self._totals[one + 1 :] - taken
            difference = self._difference(one, gained, lost)
            observed = self._observed[one] - self._observed[one + 1 :]
            slack = TOLERANCE * (abs(self._observed[one]) + np.abs(self._observed[one + 1 :]))
            self._counts[one, others] += np.count_nonzero(np.abs(difference) >= np.abs(observed) - slack, axis=0)
            self._squares[one, others] += (difference**2).sum(axis=0)

    def _difference(self, one: int, gained: NDArray[Any], lost: NDArray[Any]) -> FloatArray:
        """(trials, others): what result ``one`` is ahead of each other one after the swaps."""
        shape = gained.shape[:2]
        sides = [self._rows.score(side.reshape(-1, side.shape[2])) for side in (gained, lost)]
        values = [np.array([side[name].reshape(shape) for name in self._names]) for side in sides]
        if not self._components:
            return np.asarray(values[0][0] - values[1][0])
        return np.stack(
            [
                swapped_composites(
                    self._field, self._components, (one, other), values[0][:, :, at], values[1][:, :, at]
                )
                for at, other in enumerate(range(one + 1, len(self._tested)))
            ],
            axis=1,
        )

    def p_values(self, trials: int) -> dict[tuple[int, int], float]:
        return {
            (self._tested[one], self._tested[other]): self._p_value(one, other, trials)
            for one, other in combinations(range(len(self._tested)), 2)
        }

    def _p_value(self, one: int, other: int, trials: int) -> float:
        count = int(self._counts[one, other])
        p = (count + 1) / (trials + 1)
        square = self._squares[one, other] / trials
        if count or self._components or not square:
            return p
        return min(p, float(2 * np.exp(-((self._observed[one] - self._observed[other]) ** 2) / (2 * square))))
