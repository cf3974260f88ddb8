"""Alpha beside krippendorff; AC2 beside loops over the handbook's formula, and a value of the package irrCAC.

irrCAC asks for libraries older than ours, so it is not installed with the tests; the figure here is of 0.4.4.
"""

from __future__ import annotations

from math import comb

import krippendorff
import numpy as np
import pytest

from scoring.arena.agreement import (
    Metric,
    Table,
    ac2_interval,
    alpha_interval,
    table_of,
)

OPTIONS = {"resamples": 400, "seed": "s", "level": 0.05}


def rated(units: int, raters: int, categories: int, seed: int, missing: float = 0.3) -> np.ndarray:
    """(raters, units) of 1, 2, …, with NaN where one did not rate."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, categories, units)
    noisy = np.clip(truth + random.integers(-1, 2, (raters, units)), 0, categories - 1) + 1.0
    noisy[random.random((raters, units)) < missing] = np.nan
    noisy[:2, 0] = (1.0, categories)
    return noisy


def table(ratings: np.ndarray, categories: int) -> Table:
    rows = [(unit, unit // 3, value) for (_, unit), value in np.ndenumerate(ratings) if not np.isnan(value)]
    return table_of(rows, range(1, categories + 1))


def alpha(found: Table, metric: Metric = "ordinal") -> float | None:
    return alpha_interval(found, metric, **OPTIONS).value


def ac2(found: Table) -> float | None:
    return ac2_interval(found, **OPTIONS).value


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("metric", ["ordinal", "nominal"])
def test_alpha_is_that_of_the_package(seed, metric):
    ratings = rated(40, 5, 2 + seed, seed)
    expected = krippendorff.alpha(reliability_data=ratings, level_of_measurement=metric)
    assert alpha(table(ratings, 2 + seed), metric) == pytest.approx(expected, abs=1e-9)


def test_alpha_of_a_scale_with_unused_categories_is_that_of_the_used_ones():
    ratings = rated(30, 4, 4, 9) * 7
    expected = krippendorff.alpha(reliability_data=ratings, level_of_measurement="ordinal")
    assert alpha(table(ratings, 40), "ordinal") == pytest.approx(expected, abs=1e-9)


def by_loops(ratings: np.ndarray, categories: int) -> float:
    """Gwet's AC2 with ordinal weights, sum by sum."""

    def weight(one, other):
        return 1 - comb(abs(one - other) + 1, 2) / comb(categories, 2)

    scale = range(1, categories + 1)
    agreed, shares = [], []
    for unit in ratings.T:
        given = [int(each) for each in unit if not np.isnan(each)]
        if given:
            shares.append([given.count(k) / len(given) for k in scale])
        if len(given) > 1:
            pairs = [(a, b) for i, a in enumerate(given) for j, b in enumerate(given) if i != j]
            agreed.append(sum(weight(a, b) for a, b in pairs) / len(pairs))
    common = np.mean(shares, axis=0)
    total = sum(weight(a, b) for a in scale for b in scale)
    chance = total / (categories * (categories - 1)) * sum(p * (1 - p) for p in common)
    return (np.mean(agreed) - chance) / (1 - chance)


@pytest.mark.parametrize("seed", range(5))
def test_ac2_is_the_handbooks(seed):
    ratings = rated(30, 4, 3 + seed, seed)
    assert ac2(table(ratings, 3 + seed)) == pytest.approx(by_loops(ratings, 3 + seed), abs=1e-12)


def test_ac2_is_that_of_irrcac():
    rows = ["112", "333", "23.", "545", "121", "44.", "222", "554", "3..", "111", "423", ".55"]
    ratings = np.asarray([[np.nan if each == "." else float(each) for each in row] for row in rows]).T
    assert ac2(table(ratings, 5)) == pytest.approx(0.828245555183, abs=1e-12)


def test_where_nearly_all_agree_alpha_drops_and_ac2_stays():
    ratings = np.ones((3, 60))
    ratings[0, :3] = 2
    one = table(ratings, 5)
    assert alpha(one) < 0.1
    assert ac2(one) > 0.95


def test_full_agreement_is_one_and_one_category_alone_is_undefined_for_alpha():
    ratings = np.tile(np.arange(1.0, 5), (3, 1))
    assert alpha(table(ratings, 4)) == pytest.approx(1)
    assert ac2(table(ratings, 4)) == pytest.approx(1)
    assert alpha(table(np.ones((3, 5)), 4)) is None


def test_nothing_judged_twice_has_no_agreement():
    single = table_of([(unit, unit, 1 + unit % 3) for unit in range(9)], (1, 2, 3))
    assert single.pairable == 0
    assert single.same_share() is None
    for found in (alpha_interval(single, "ordinal", **OPTIONS), ac2_interval(single, **OPTIONS)):
        assert (found.value, found.low, found.high) == (None, None, None)
    assert table_of([], (1, 2)).same_share() is None
    assert alpha_interval(table_of([], (1, 2)), "nominal", **OPTIONS).value is None


def test_the_same_share_is_of_all_pairs_of_one_unit():
    found = table_of([("u", 0, 1), ("u", 0, 1), ("u", 0, 2), ("v", 1, 3)], (1, 2, 3))
    assert found.same_share() == pytest.approx(1 / 3)
    assert found.pairable == 1


def test_intervals_hold_the_value_and_narrow_with_more_items():
    few, many = (table(rated(units, 4, 5, 1), 5) for units in (60, 1200))
    for make in (lambda one: alpha_interval(one, "ordinal", **OPTIONS), lambda one: ac2_interval(one, **OPTIONS)):
        narrow, wide = make(many), make(few)
        assert narrow.low < narrow.value < narrow.high
        assert narrow.high - narrow.low < (wide.high - wide.low) / 2


def test_the_interval_of_alpha_is_that_of_drawing_items():
    """Beside the package, on drawn items, in plain loops."""
    ratings = rated(60, 4, 4, 3)
    random, drawn = np.random.default_rng(1), []
    for _ in range(400):
        units = [3 * item + k for item in random.integers(0, 20, 20) for k in range(3)]
        drawn.append(krippendorff.alpha(reliability_data=ratings[:, units], level_of_measurement="ordinal"))
    found = alpha_interval(table(ratings, 4), "ordinal", resamples=2000, seed="s", level=0.05)
    np.testing.assert_allclose([found.low, found.high], np.percentile(drawn, (2.5, 97.5)), atol=0.03)
