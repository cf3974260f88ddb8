"""Whether two systems scored on the same items differ by more than chance. Pure functions of numpy arrays.

Everything uses additive statistics: each item has a row of numbers, and a score is a function of the summed rows. A
mean needs (value, 1), or (0, 0) for an item that has no value; BLEU needs its counts. One draw of items then serves all
scores at once, also a final score of several means, and a block of draws is a matrix product.

* Significance: paired approximate randomisation, two-sided. A trial swaps the two systems' whole rows item by item,
  each with probability 1/2; p = (c + 1) / (N + 1), where c of N trials differ at least as much as observed (Noreen
  1989, Computer-Intensive Methods for Testing Hypotheses; Riezler & Maxwell 2005).
* Intervals: paired bootstrap percentiles (Koehn 2004). A trial draws as many items as there are, with replacement,
  the same for both systems.
* Several tests at once: Holm's step-down correction (Holm 1979).

The random bits come from PCG64's raw stream, which numpy keeps the same in all its releases: a p-value can be
reproduced to its last digit. Swapping the two systems changes no p-value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Scorer = Callable[[FloatArray], Mapping[str, FloatArray]]  # sums (trials, width) -> scores by name, (trials,) each

TRIALS: Final = 10_000
SEED: Final = 20_261_120
CONFIDENCE: Final = 0.95
# What rounding may add to a difference; without it, a tie with the observed difference would count only by chance.
TOLERANCE: Final = 1e-10

_BLOCK_CELLS: Final = 1 << 20  # numbers in one (trials, items) or (trials, width) block: 8 MiB
_WORD_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class Interval:
    """A percentile interval, in the unit of its score."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairedResult:
    """One score of two systems. ``difference`` is B minus A; ``p`` is two-sided and not corrected."""

    a: float
    b: float
    difference: float
    p: float
    a_interval: Interval
    b_interval: Interval
    difference_interval: Interval


def compare_paired(
    a: FloatArray, b: FloatArray, score: Scorer, *, trials: int = TRIALS, seed: int = SEED
) -> dict[str, PairedResult]:
    """Every score of two systems, with p-value and intervals.

    ``a`` and ``b`` are (items, width): row i of each is of the same item. ``score`` turns sums (trials, width) into
    scores. A score that is not finite for the two systems is left out. Raises ``ValueError`` if the shapes differ or
    there is no item or no trial.
    """
    if a.shape != b.shape or a.ndim != 2 or not len(a) or trials < 1:
        raise ValueError(f"expected two arrays (items, width) of one shape and a trial, not {a.shape} and {b.shape}")
    observed = [_first(score(side.sum(axis=0, keepdims=True))) for side in (a, b)]
    names = [name for name, value in observed[0].items() if np.isfinite([value, observed[1][name]]).all()]
    counts = dict.fromkeys(names, 0)
    for swapped_a, swapped_b in _randomised(a, b, trials, seed):
        scores_a, scores_b = score(swapped_a), score(swapped_b)
        for name in names:
            counts[name] += _as_far(scores_a[name], scores_b[name], observed[0][name], observed[1][name])
    drawn: dict[str, list[tuple[FloatArray, FloatArray]]] = {name: [] for name in names}
    for weights in bootstrap_weights(len(a), trials, seed, cells=max(a.shape)):
        scores_a, scores_b = score(weights @ a), score(weights @ b)
        for name in names:
            drawn[name].append((scores_a[name], scores_b[name]))
    return {
        name: _result(observed[0][name], observed[1][name], (counts[name] + 1) / (trials + 1), drawn[name])
        for name in names
    }


def mean_columns(values: Sequence[Sequence[float | None]]) -> FloatArray:
    """Additive rows of means: (items, metrics) values, ``None`` where an item has none, to (items, 2 * metrics)."""
    table = np.array([[np.nan if value is None else value for value in row] for row in values], dtype=np.float64)
    present = ~np.isnan(table)
    return np.hstack([np.where(present, table, 0.0), present.astype(np.float64)])


def means(sums: FloatArray) -> FloatArray:
    """(trials, 2 * metrics) sums of ``mean_columns`` to (trials, metrics) means; 0 where no item has a value."""
    totals, counts = np.split(sums, 2, axis=1)
    return np.divide(totals, counts, out=np.zeros_like(totals), where=counts > 0)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given: significant at level q if at most q.

    The k-th smallest of m (from 0) is multiplied by m - k; the results never decrease with p and are at most 1.
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def _as_far(a: FloatArray, b: FloatArray, observed_a: float, observed_b: float) -> int:
    """How many trials differ, either way, at least as much as observed."""
    slack = TOLERANCE * (abs(observed_a) + abs(observed_b))
    return int(np.count_nonzero(np.abs(b - a) >= abs(observed_b - observed_a) - slack))


def _result(a: float, b: float, p: float, drawn: Sequence[tuple[FloatArray, FloatArray]]) -> PairedResult:
    drawn_a, drawn_b = (np.concatenate(side) for side in zip(*drawn, strict=True))
    return PairedResult(a, b, b - a, p, percentiles(drawn_a), percentiles(drawn_b), percentiles(drawn_b - drawn_a))


def percentiles(values: FloatArray) -> Interval:
    """The interval of ``CONFIDENCE`` between the percentiles of drawn values."""
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(values, (tail, 100 - tail))
    return Interval(float(low), float(high))


def _first(scores: Mapping[str, FloatArray]) -> dict[str, float]:
    return {name: float(values[0]) for name, values in scores.items()}


def _randomised(a: FloatArray, b: FloatArray, trials: int, seed: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Sums of both systems, (block of trials, width), after swapping items at random."""
    total_a, total_b = a.sum(axis=0), b.sum(axis=0)
    for moved in swapped_sums([b - a], trials, seed):
        yield total_a + moved[:, 0], total_b - moved[:, 0]


def swapped_sums(systems: Sequence[FloatArray], trials: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """(block of trials, systems, width): the sums of each system's rows over the items that a trial swaps, which are
    the same for all systems.
    """
    table = np.hstack(systems)
    for bits in swaps(len(table), trials, seed, cells=max(table.shape)):
        yield (bits @ table).reshape(len(bits), len(systems), -1)


def swaps(items: int, trials: int, seed: int, cells: int) -> Iterator[FloatArray]:
    """Which items are swapped, (block of trials, items) of 0 and 1 with equal chances; ``cells`` as below."""
    words = -(-items // _WORD_BITS)
    for raw in _random_words(words, trials, seed, stream=0, cells=cells):
        bits = np.unpackbits(raw.astype("<u8").view(np.uint8), axis=1, bitorder="little")[:, :items]
        yield bits.astype(np.float64)


def bootstrap_weights(items: int, trials: int, seed: int, cells: int) -> Iterator[FloatArray]:
    """How often each item was drawn, (block of trials, items); every row adds up to ``items``.

    ``cells``: how many numbers a trial makes, which limits the size of a block.
    """
    for raw in _random_words(items, trials, seed, stream=1, cells=cells):
        drawn = ((raw >> np.uint64(32)) * np.uint64(items)) >> np.uint64(32)  # below `items`, to 2^-32 uniform
        flat = drawn.astype(np.int64) + np.arange(len(raw))[:, None] * items
        yield np.bincount(flat.ravel(), minlength=len(raw) * items).reshape(len(raw), items).astype(np.float64)


def _random_words(words: int, trials: int, seed: int, stream: int, cells: int) -> Iterator[NDArray[np.uint64]]:
    """(block of trials, words) random 64-bit words; a trial makes arrays of ``cells`` numbers.

    The size of a block changes nothing that is drawn.
    """
    source = np.random.PCG64(np.random.SeedSequence((seed, stream)))
    block = max(1, _BLOCK_CELLS // cells)
    for start in range(0, trials, block):
        count = min(block, trials - start)
        yield source.random_raw(count * words).reshape(count, words)
