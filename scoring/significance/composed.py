"""Places and composites of ranks (``scoring.composite``) in thousands of resamplings at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scoring.composite import COMPARED_DECIMALS, Component

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def shared_places(levels: FloatArray) -> tuple[IntArray, IntArray]:
    """The first and the last place, from 1, that each of ``levels`` (trials, results) holds in its row; lower is
    better, and equal ones share their places.
    """
    order = np.argsort(levels, axis=1, kind="stable")
    ordered = np.take_along_axis(levels, order, axis=1)
    is_new = np.ones(ordered.shape, dtype=bool)
    is_new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    numbers = np.arange(1, levels.shape[1] + 1)
    first = np.maximum.accumulate(np.where(is_new, numbers, 0), axis=1)
    is_last = np.ones(ordered.shape, dtype=bool)
    is_last[:, :-1] = is_new[:, 1:]
    last = np.minimum.accumulate(np.where(is_last, numbers, levels.shape[1])[:, ::-1], axis=1)[:, ::-1]
    best, worst = np.empty_like(first), np.empty_like(first)
    np.put_along_axis(best, order, first, axis=1)
    np.put_along_axis(worst, order, last, axis=1)
    return best, worst


def composites_of(values: FloatArray, components: Sequence[Component]) -> FloatArray:
    """The composites (trials, results) of ``values`` (components, trials, results), all of them ranked."""
    count = values.shape[2]
    total = np.zeros(values.shape[1:])
    for component, of_score in zip(components, values, strict=True):
        best, worst = shared_places(_levels(of_score, component))
        total += component.weight * _normalised((best + worst) / 2, count)
    return total / sum(component.weight for component in components)


def swapped_composites(
    field: FloatArray, components: Sequence[Component], pair: tuple[int, int], one: FloatArray, other: FloatArray
) -> FloatArray:
    """How far the first of ``pair`` is ahead in the composite, (trials,), where the two have the values ``one`` and
    ``other`` (components, trials) and all other results those in ``field`` (components, results).
    """
    count = field.shape[1]
    ahead = np.zeros(one.shape[1])
    for component, observed, left, right in zip(components, field, one, other, strict=True):
        rest = np.sort(np.delete(_levels(observed, component), pair))
        levels = _levels(left, component), _levels(right, component)
        ranks = [_rank(rest, mine, theirs) for mine, theirs in (levels, levels[::-1])]
        ahead += component.weight * (_normalised(ranks[0], count) - _normalised(ranks[1], count))
    return np.asarray(ahead / sum(component.weight for component in components))


def _rank(rest: FloatArray, mine: FloatArray, theirs: FloatArray) -> FloatArray:
    """The average rank of ``mine`` among the sorted ``rest`` and ``theirs``."""
    better = np.searchsorted(rest, mine, side="left") + (theirs < mine)
    as_good = np.searchsorted(rest, mine, side="right") + (theirs <= mine)
    return np.asarray((better + 1 + as_good + 1) / 2)


def _levels(values: FloatArray, component: Component) -> FloatArray:
    return np.asarray(np.round(-values if component.higher_is_better else values, COMPARED_DECIMALS))


def _normalised(ranks: FloatArray, count: int) -> FloatArray:
    return np.ones_like(ranks) if count == 1 else np.asarray((count - ranks) / (count - 1))
