"""Paired randomisation, bootstrap intervals and Holm's correction, against enumeration, scipy and a table by hand."""

import itertools
import random
from dataclasses import astuple
from inspect import signature

import numpy as np
import pytest

from scoring.significance import resampling
from scoring.significance.resampling import (
    SEED,
    TRIALS,
    Interval,
    compare_paired,
    holm,
    mean_columns,
    means,
)

MONTE_CARLO = 4 * 0.5 / TRIALS**0.5  # four standard errors of a share estimated with TRIALS trials


def compare_means(a, b, **options):
    """One score, the mean of item values that all items have."""
    one, other = (mean_columns([[value] for value in side]) for side in (a, b))
    return compare_paired(one, other, lambda sums: {"mean": means(sums)[:, 0]}, **options)["mean"]


def systems(items, seed, shift=0.0):
    """Item values of two systems, the second better by about ``shift``."""
    source = random.Random(seed)
    a = [source.random() for _ in range(items)]
    return a, [min(1.0, max(0.0, value + source.gauss(shift, 0.2))) for value in a]


def exact_p(a, b):
    """The two-sided p-value over all 2^n ways to swap."""
    differences = [y - x for x, y in zip(a, b, strict=True)]
    observed = abs(sum(differences))
    flips = itertools.product((1, -1), repeat=len(differences))
    far = [abs(sum(s * d for s, d in zip(flip, differences, strict=True))) >= observed - 1e-12 for flip in flips]
    return sum(far) / len(far)


@pytest.mark.parametrize(("seed", "shift"), [(1, 0.0), (2, 0.1), (3, 0.2), (4, -0.1), (5, 0.05)])
def test_p_value_is_that_of_all_sign_flips(seed, shift):
    a, b = systems(10, seed, shift)
    assert compare_means(a, b).p == pytest.approx(exact_p(a, b), abs=MONTE_CARLO)


def test_p_value_of_right_and_wrong_items_counts_ties():
    """Zeros and ones: most trials tie with the observed difference, and a tie counts as at least as far."""
    a, b = [0, 0, 0, 1, 1, 0, 1, 0, 0, 1], [1, 1, 0, 1, 1, 1, 0, 0, 1, 1]
    assert exact_p(a, b) == 0.375
    assert compare_means(a, b).p == pytest.approx(0.375, abs=MONTE_CARLO)


@pytest.mark.parametrize("shift", [0.0, 0.02, 0.05])
def test_p_value_agrees_with_scipy(shift):
    from scipy import stats

    a, b = systems(60, 7, shift)
    witness = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(y, axis=axis) - np.mean(x, axis=axis),
        permutation_type="samples",
        n_resamples=TRIALS,
        vectorized=True,
        rng=np.random.default_rng(1),
    )
    assert compare_means(a, b).p == pytest.approx(witness.pvalue, abs=2 * MONTE_CARLO)


def test_intervals_agree_with_scipy():
    from scipy import stats

    a, b = systems(80, 11, 0.04)
    result = compare_means(a, b)

    def difference(x, y, axis):
        return np.mean(y, axis=axis) - np.mean(x, axis=axis)

    options = {"n_resamples": TRIALS, "method": "percentile", "rng": np.random.default_rng(1)}
    paired = stats.bootstrap((a, b), difference, paired=True, vectorized=True, **options)
    alone = stats.bootstrap((a,), np.mean, vectorized=True, **options)
    width = result.difference_interval.high - result.difference_interval.low
    assert astuple(result.difference_interval) == pytest.approx(paired.confidence_interval, abs=0.05 * width)
    width = result.a_interval.high - result.a_interval.low
    assert astuple(result.a_interval) == pytest.approx(alone.confidence_interval, abs=0.05 * width)
    assert result.difference_interval.low < result.difference < result.difference_interval.high


def test_equal_systems_have_p_1_and_no_width():
    a, _ = systems(50, 3)
    result = compare_means(a, a)
    assert (result.difference, result.p) == (0.0, 1.0)
    assert result.difference_interval == Interval(0.0, 0.0)


def test_smallest_p_is_one_of_all_trials_and_itself():
    a, b = [0.0] * 200, [1.0] * 200
    assert compare_means(a, b).p == 1 / (TRIALS + 1)


def test_one_item_cannot_be_significant():
    assert compare_means([0.0], [1.0]).p == 1.0


def test_swapping_the_systems_turns_the_sign_and_nothing_else():
    a, b = systems(70, 5, 0.03)
    forth, back = compare_means(a, b), compare_means(b, a)
    assert back.p == forth.p
    assert back.difference == -forth.difference
    assert back.a_interval == forth.b_interval
    assert back.difference_interval.low == pytest.approx(-forth.difference_interval.high, abs=1e-15)


def test_same_seed_same_result_whatever_the_block_size(monkeypatch):
    a, b = systems(70, 6, 0.03)
    first = compare_means(a, b)
    assert compare_means(a, b) == first
    assert compare_means(a, b, seed=SEED + 1) != first
    monkeypatch.setattr(resampling, "_BLOCK_CELLS", 70 * 17)
    again = compare_means(a, b)
    assert again.p == first.p
    assert astuple(again.difference_interval) == pytest.approx(astuple(first.difference_interval), abs=1e-15)


def test_random_bits_are_those_of_every_numpy_release():
    """Known values: were they to change, stored p-values could not be reproduced."""
    a, b = [0.1, 0.5, 0.3, 0.9, 0.2, 0.7, 0.4], [0.3, 0.4, 0.6, 0.8, 0.5, 0.9, 0.5]
    result = compare_means(a, b, trials=1000)
    assert exact_p(a, b) == 9 / 64
    assert result.p == 134 / 1001
    assert result.difference_interval.low == pytest.approx(0.1 / 7)
    assert result.difference_interval.high == pytest.approx(1.7 / 7)


def test_an_item_without_a_value_does_not_enter_the_mean():
    columns = mean_columns([[1.0, None], [0.5, 0.2], [None, 0.4]])
    assert means(columns.sum(axis=0, keepdims=True)).tolist() == [[0.75, pytest.approx(0.3)]]


def test_mean_of_nothing_is_0():
    assert means(mean_columns([[None], [None]]).sum(axis=0, keepdims=True)).tolist() == [[0.0]]


def test_swapping_takes_the_absence_of_a_value_with_it():
    """Official reason means: A answers two items well, B all four; the trials are those of whole records."""
    a = mean_columns([[0.9], [0.8], [None], [None]])
    b = mean_columns([[0.7], [0.6], [0.2], [0.1]])
    result = compare_paired(a, b, lambda sums: {"mean": means(sums)[:, 0]})["mean"]
    assert (result.a, result.b) == (pytest.approx(0.85), pytest.approx(0.4))
    rows = [(0.9, 0.7), (0.8, 0.6), (None, 0.2), (None, 0.1)]
    far = 0
    for flip in itertools.product((0, 1), repeat=4):
        sides = [
            [row[swap ^ side] for row, swap in zip(rows, flip, strict=True) if row[swap ^ side] is not None]
            for side in (0, 1)
        ]
        mean_a, mean_b = (sum(side) / len(side) if side else 0.0 for side in sides)
        far += abs(mean_a - mean_b) >= 0.45 - 1e-12
    assert result.p == pytest.approx(far / 16, abs=MONTE_CARLO)


def test_a_score_that_is_no_number_is_left_out():
    a, b = (mean_columns([[value] for value in side]) for side in systems(5, 1))
    scores = compare_paired(a, b, lambda sums: {"mean": means(sums)[:, 0], "none": np.full(len(sums), np.nan)})
    assert list(scores) == ["mean"]


@pytest.mark.parametrize(("a", "b"), [((0, 2), (0, 2)), ((3, 2), (4, 2))])
def test_no_items_or_unlike_shapes_are_refused(a, b):
    with pytest.raises(ValueError, match="one shape"):
        compare_paired(np.zeros(a), np.zeros(b), lambda sums: {})


def test_holm_by_hand():
    """m = 5, sorted 0.005 0.01 0.03 0.04 0.04: times 5, 4, 3, 2, 1 and never falling."""
    assert holm([0.01, 0.04, 0.03, 0.005, 0.04]) == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.09])


@pytest.mark.parametrize(
    ("given", "adjusted"),
    [([], []), ([0.03], [0.03]), ([0.6, 0.9], [1.0, 1.0]), ([0.02, 0.02], [0.04, 0.04]), ([1.0, 0.001], [1.0, 0.002])],
)
def test_holm_of_small_families(given, adjusted):
    assert holm(given) == pytest.approx(adjusted)


def _of_means(sums):
    return {"mean": means(sums)[:, 0]}


def test_one_item_and_one_trial_are_enough():
    found = compare_paired(mean_columns([[0.2]]), mean_columns([[0.6]]), _of_means, trials=1)["mean"]
    assert (found.a, found.b, found.p) == (0.2, 0.6, 1.0)  # swapped or not it differs as much
    with pytest.raises(ValueError, match="a trial"):
        compare_paired(mean_columns([[0.2]]), mean_columns([[0.6]]), _of_means, trials=0)


def test_a_score_that_is_not_finite_for_either_is_left_out():
    def score(sums):
        return {"mean": means(sums)[:, 0], "odds": np.where(sums[:, 0] > 1, np.inf, sums[:, 0])}

    low, high = mean_columns([[0.2], [0.3]]), mean_columns([[0.9], [0.8]])
    for one, other in ((low, high), (high, low)):
        assert set(compare_paired(one, other, score, trials=20)) == {"mean"}


def test_a_mean_of_a_single_value_is_that_value():
    assert means(mean_columns([[0.4, None], [None, None]]).sum(axis=0, keepdims=True)).tolist() == [[0.4, 0.0]]


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_unit_of_a_score_changes_no_p_value(scale):
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 3, (2, 40, 1)).astype(float)
    plain = compare_paired(mean_columns(a), mean_columns(b), _of_means, trials=400)["mean"]
    scaled = compare_paired(mean_columns(a * scale), mean_columns(b * scale), _of_means, trials=400)["mean"]
    assert scaled.p == plain.p < 1


def test_two_files_without_a_point_do_not_differ():
    nothing = mean_columns([[0.0]] * 10)
    assert compare_paired(nothing, nothing, _of_means, trials=50)["mean"].p == 1.0


def test_ten_thousand_trials_are_drawn_unless_said_otherwise():
    """As the pages say."""
    assert signature(compare_paired).parameters["trials"].default == 10_000
