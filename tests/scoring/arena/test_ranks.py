"""Ranks, their ranges and clusters, on differences that are put in."""

from __future__ import annotations

import numpy as np
import pytest

from scoring.arena.influence import influences, tau_b
from scoring.arena.intervals import Clustered, Estimate
from scoring.arena.ranks import Pair, pairs, standings


def independent(values, error, groups=(10_000, 10_000, 10_000)) -> Clustered:
    """Independent figures with one standard error."""
    square = np.eye(len(values)) * error**2
    return Clustered(np.asarray(values, dtype=float), square, square, square, groups)


def placed(values, error, level=0.05):
    return standings(values, pairs(independent(values, error), len(values), level), level)


def test_clear_differences_give_one_rank_each():
    found = placed([3.0, 1.0, 2.0], 0.01)
    assert [(each.rank, each.best, each.worst, each.cluster) for each in found] == [
        (1, 1, 1, 1),
        (3, 3, 3, 3),
        (2, 2, 2, 2),
    ]


def test_differences_of_chance_give_the_whole_range_and_one_cluster():
    found = placed([0.1, 0.0, -0.1], 1.0)
    assert {(each.best, each.worst, each.cluster) for each in found} == {(1, 3, 1)}
    assert [each.rank for each in found] == [1, 2, 3]


def test_a_chain_without_significant_neighbours_is_one_cluster():
    # ends differ by 3 standard errors of a difference, neighbours by 1.5: the middle joins both
    found = placed([3.0, 1.5, 0.0], 2**-0.5)
    assert [each.cluster for each in found] == [1, 1, 1]
    assert [(each.best, each.worst) for each in found] == [(1, 2), (1, 3), (2, 3)]


def test_equal_scores_share_a_rank():
    assert [each.rank for each in placed([1.0, 1.0, 0.0], 0.1)] == [1, 1, 3]
    exact = standings([1.0, 1.0], pairs(independent([1.0, 1.0], 0.0), 2, 0.05), 0.05)
    assert [(each.rank, each.cluster) for each in exact] == [(1, 1), (1, 1)]


def test_a_difference_at_the_level_itself_is_significant():
    at_level = [Pair(0, 1, Estimate(value=1.0, error=0.5, freedom=10, low=0.0, high=2.0), adjusted=0.05)]
    assert [(each.best, each.worst, each.cluster) for each in standings([2.0, 1.0], at_level, 0.05)] == [
        (1, 1, 1),
        (2, 2, 2),
    ]
    assert [each.cluster for each in standings([2.0, 1.0], at_level, 0.049)] == [1, 1]


def test_p_values_are_corrected_over_all_pairs():
    tested = pairs(independent([0.0, 2.5, 0.0], 2**-0.5), 3, 0.05)
    raw = {(each.one, each.other): each.difference.p for each in tested}
    assert raw[0, 1] == pytest.approx(0.0124, abs=2e-4)
    adjusted = {(each.one, each.other): each.adjusted for each in tested}
    assert adjusted[0, 1] == pytest.approx(3 * raw[0, 1])
    assert adjusted[0, 2] == 1


def test_all_true_ranks_lie_in_their_ranges():
    """Over many draws the ranges hold all true ranks at once at least as often as the level says."""
    random, truth, held = np.random.default_rng(1), np.asarray([0.0, 0.3, 0.6, 1.5]), 0
    for _ in range(300):
        found = placed((truth + random.normal(0, 0.2, 4)).tolist(), 0.2)
        held += all(each.best <= rank <= each.worst for each, rank in zip(found, (4, 3, 2, 1), strict=True))
    assert held >= 0.95 * 300


def test_influence_is_the_largest_move_of_a_rank():
    full = np.asarray([3.0, 2.0, 1.0, 0.0])
    found = influences(full, np.asarray([full, [0.5, 2.0, 1.0, 0.0]]), ["J1", "J2"])
    assert [(each.judge, each.rank_change, each.first_changes) for each in found] == [("J1", 0, False), ("J2", 2, True)]
    assert found[0].tau == 1


def test_tau_is_scipys():
    from scipy.stats import kendalltau

    random = np.random.default_rng(2)
    for _ in range(20):
        one, other = random.integers(0, 5, 8).astype(float), random.integers(0, 5, 8).astype(float)
        assert tau_b(one, other) == pytest.approx(kendalltau(one, other).statistic)
    assert tau_b(np.ones(3), np.arange(3.0)) is None
