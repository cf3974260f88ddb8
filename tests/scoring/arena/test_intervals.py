"""Two-way clustered variances beside the formula written out, and their coverage on means that are known."""

from __future__ import annotations

import numpy as np
import pytest

from scoring.arena.intervals import Clustered, Entries, clustered, of_influence
from scoring.arena.student import quantile


def mean_of(sums):
    return sums[:, :1] / sums[:, 1:2]


def entries_of(values, item, judge) -> Entries:
    """Entries whose sums are the total and the number of the votes."""
    count = len(values)
    return Entries(
        np.r_[np.zeros(count, int), np.ones(count, int)],
        np.r_[values, np.ones(count)],
        np.r_[item, item],
        np.r_[judge, judge],
        2,
    )


def made(random, items=30, judges=12, by_item=0.5, by_judge=0.5):
    item, judge = (each.ravel() for each in np.meshgrid(np.arange(items), np.arange(judges), indexing="ij"))
    keep = random.random(len(item)) < 0.5
    item, judge = item[keep], judge[keep]
    of_item, of_judge = random.normal(0, by_item, items), random.normal(0, by_judge, judges)
    return of_item[item] + of_judge[judge] + random.normal(0, 1, len(item)), item, judge


def written_out(influence, cluster) -> float:
    """Sum of squares of the clusters' sums, by a plain loop."""
    sums: dict[int, float] = {}
    for value, label in zip(influence, cluster, strict=True):
        sums[label] = sums.get(label, 0.0) + value
    mean = sum(sums.values()) / len(sums)
    return sum((each - mean) ** 2 for each in sums.values()) * len(sums) / (len(sums) - 1)


def test_the_variance_is_that_of_the_formula():
    values, item, judge = made(np.random.default_rng(1))
    influence = (values - values.mean()) / len(values)
    found = of_influence(np.asarray([values.mean()]), influence[:, None], item, judge)
    items, judges, votes = (written_out(influence, each) for each in (item, judge, item * 1000 + judge))
    assert found.groups == (len(set(item)), len(set(judge)), len(values))
    np.testing.assert_allclose([found.items[0, 0], found.judges[0, 0], found.votes[0, 0]], [items, judges, votes])
    estimate = found.figure(0, 0.05)
    variance = max(items + judges - votes, votes / 4)
    assert estimate.error == pytest.approx(variance**0.5)
    freedom = variance**2 / sum(v**2 / (n - 1) for v, n in zip((items, judges, votes), found.groups, strict=True))
    assert estimate.freedom == pytest.approx(freedom)
    assert freedom > found.clusters - 1
    assert estimate.high - estimate.value == pytest.approx(quantile(0.05, round(freedom, 6)) * estimate.error)


def test_the_bootstrap_tends_to_it():
    values, item, judge = made(np.random.default_rng(2))
    drawn = clustered(entries_of(values, item, judge), mean_of, resamples=4000, seed="a")
    influence = (values - values.mean()) / len(values)
    exact = of_influence(np.asarray([values.mean()]), influence[:, None], item, judge)
    assert drawn.values[0] == pytest.approx(values.mean())
    for name in ("items", "judges", "votes"):
        assert getattr(drawn, name)[0, 0] == pytest.approx(getattr(exact, name)[0, 0], rel=0.12)


def test_equal_seeds_draw_equally_and_the_block_changes_nothing(monkeypatch):
    values, item, judge = made(np.random.default_rng(3))
    given = entries_of(values, item, judge)
    one, other = (clustered(given, mean_of, resamples=50, seed="a") for _ in range(2))
    np.testing.assert_array_equal(one.items, other.items)
    assert clustered(given, mean_of, resamples=50, seed="b").items[0, 0] != one.items[0, 0]
    monkeypatch.setattr("scoring.significance.resampling._BLOCK_CELLS", 1000)
    np.testing.assert_allclose(clustered(given, mean_of, resamples=50, seed="a").items, one.items, rtol=1e-12)


def test_a_table_and_adding_up_give_the_same_sums(monkeypatch):
    """Counts, as of comparisons: whole numbers, of which many clusters have none in most cells."""
    random = np.random.default_rng(6)
    cell, item, judge = (random.integers(0, high, 500) for high in (30, 60, 9))
    given = Entries(cell, np.ones(500), item, judge, 30)

    def every(sums):
        return sums

    found = []
    for filled in (0, 10**9):
        monkeypatch.setattr("scoring.arena.intervals._FILLED", filled)
        found.append(clustered(given, every, resamples=40, seed="a"))
    for name in ("values", "items", "judges", "votes"):
        np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name))
    assert found[0].values.tolist() == np.bincount(cell, minlength=30).tolist()


@pytest.mark.parametrize(("by_item", "by_judge"), [(0.0, 0.0), (0.5, 0.5), (0.0, 1.0)])
def test_ninety_five_percent_intervals_cover_about_that_often(by_item, by_judge):
    random = np.random.default_rng(4)
    covered = []
    for _ in range(600):
        values, item, judge = made(random, items=40, judges=15, by_item=by_item, by_judge=by_judge)
        influence = (values - values.mean()) / len(values)
        found = of_influence(np.asarray([values.mean()]), influence[:, None], item, judge).figure(0, 0.05)
        covered.append(found.low <= 0 <= found.high)
    assert 0.92 <= np.mean(covered) <= 0.985  # 600 panels: a standard error of 0.9 points


def test_a_single_judge_leaves_the_variance_of_items():
    random = np.random.default_rng(5)
    values, item = random.normal(size=40), np.repeat(np.arange(10), 4)
    found = of_influence(np.zeros(1), ((values - values.mean()) / 40)[:, None], item, np.zeros(40, int))
    assert found.groups[1] == 1
    assert found.figure(0, 0.05).error == pytest.approx(written_out((values - values.mean()) / 40, item) ** 0.5)


@pytest.mark.parametrize(("groups", "least"), [((20, 5, 90), 4), ((6, 20, 90), 5), ((1, 5, 5), 4), ((20, 1, 20), 19)])
def test_the_freedom_is_at_least_that_of_the_smaller_number_of_clusters(groups, least):
    """Where the variances cancel nearly, Satterthwaite's would be 1 or fewer."""
    items, judges, votes = (np.full((1, 1), each) for each in (0.6, 0.6, 1.0))
    found = Clustered(np.ones(1), items, judges, votes, groups).figure(0, 0.05)
    assert found.freedom == least
    assert found.high - 1 == pytest.approx(quantile(0.05, least) * found.error)


def test_no_variance_is_no_certainty():
    """Draws that all give the same show the sign only; of ratings without a rest nothing is known."""
    none = np.zeros((1, 1))
    drawn = Clustered(np.ones(1), none, none, none, (30, 4, 120)).figure(0, 0.05)
    assert (drawn.error, drawn.low, drawn.high, drawn.p) == (np.inf, -np.inf, np.inf, 2**-3)
    assert Clustered(np.ones(1), none, none, none, (30, 1, 30)).figure(0, 0.05).p == 2**-29
    assert Clustered(np.ones(1), none, none, none, (1, 1, 1)).figure(0, 0.05).p == 1
    assert Clustered(np.zeros(1), none, none, none, (30, 4, 120)).figure(0, 0.05).p == 1
    at = np.arange(5)
    assert of_influence(np.ones(1), np.zeros((5, 1)), at, at).figure(0, 0.05).p == 1


def test_a_difference_has_the_variance_of_the_contrast():
    covariance = np.asarray([[2.0, 0.5], [0.5, 1.0]])
    found = Clustered(np.asarray([3.0, 1.0]), covariance, covariance, covariance, (10, 10, 100))
    difference = found.difference(0, 1, 0.05)
    assert difference.value == 2
    assert difference.error == pytest.approx((2 + 1 - 2 * 0.5) ** 0.5)


def test_without_votes_there_is_nothing_to_draw():
    none = np.empty(0, dtype=int)
    with pytest.raises(ValueError, match="no votes"):
        clustered(Entries(none, np.empty(0), none, none, 2), mean_of, resamples=10, seed="a")
