"""The fit beside choix, a general optimiser on the likelihood written out, and what was drawn from."""

from __future__ import annotations

from dataclasses import replace

import choix
import numpy as np
import pytest
from scipy.optimize import minimize

from scoring.arena import bradley_terry
from scoring.arena.bradley_terry import (
    FIRST,
    SECOND,
    TIE,
    _has_order_told,
    _is_connected,
    fit,
    outcome_probabilities,
    point_shares,
)

RANDOM = np.random.default_rng(5)
STEPS = 7


def drawn(systems: int, votes: int, order: float = 0.0, tie: float = -np.inf, seed: int = 0) -> np.ndarray:
    """Counts (1, systems, systems, 3) of ``votes`` votes."""
    random = np.random.default_rng(seed)
    strengths = random.normal(0, 0.8, systems)
    counts = np.zeros((1, systems, systems, 3))
    for _ in range(votes):
        first, second = random.choice(systems, 2, replace=False)
        shares = outcome_probabilities(np.asarray(strengths[first] - strengths[second]), order, tie)
        counts[0, first, second, random.choice(3, p=shares)] += 1
    return counts


@pytest.mark.parametrize("seed", range(4))
def test_without_ties_and_order_it_is_choix(seed):
    counts = drawn(8, 900, seed=seed)
    wins = counts[0, ..., FIRST] + counts[0, ..., SECOND].T
    pairs = [(one, other) for one, other in np.ndindex(8, 8) for _ in range(int(wins[one, other]))]
    expected = choix.ilsr_pairwise(8, pairs, max_iter=1000, tol=1e-12)
    found = fit(counts, has_order=False)
    assert not found.is_regularised[0]
    np.testing.assert_allclose(found.strengths[0], expected - expected.mean(), atol=1e-6)
    assert found.order[0] == 0
    assert found.tie[0] == -np.inf


def test_a_model_without_ties_leaves_ties_out():
    counts = drawn(5, 400, 0.2, -0.5)
    decided = counts * np.asarray([1, 0, 1])
    np.testing.assert_array_equal(fit(counts, has_ties=False).strengths, fit(decided).strengths)
    assert counts[..., TIE].sum() > 50


def log_likelihood(parameters: np.ndarray, counts: np.ndarray) -> float:
    """Written out vote by vote kind: Davidson's probabilities with an order factor."""
    systems = counts.shape[1]
    strengths, order, tie = parameters[:systems], parameters[systems], parameters[systems + 1]
    total = 0.0
    for first, second in np.ndindex(systems, systems):
        if first != second:
            a, b = np.exp(strengths[first] + order), np.exp(strengths[second])
            parts = np.asarray([a, np.exp(tie) * np.sqrt(a * b), b])
            total += counts[0, first, second] @ np.log(parts / parts.sum())
    return total - strengths.mean() ** 2


@pytest.mark.parametrize("seed", range(3))
def test_with_ties_and_order_it_is_the_maximum_of_the_likelihood(seed):
    counts = drawn(5, 600, order=0.4, tie=-0.5, seed=seed)
    best = minimize(lambda p: -log_likelihood(p, counts), np.zeros(7), method="BFGS", options={"gtol": 1e-8})
    found = fit(counts)
    np.testing.assert_allclose(found.strengths[0], best.x[:5] - best.x[:5].mean(), atol=1e-5)
    np.testing.assert_allclose([found.order[0], found.tie[0]], best.x[5:], atol=1e-5)


def test_many_sets_of_counts_are_fitted_as_each_alone():
    counts = np.concatenate([drawn(6, 300, 0.2, -1.0, seed) for seed in range(5)])
    together = fit(counts)
    for at in range(5):
        alone = fit(counts[at : at + 1])
        np.testing.assert_allclose(together.strengths[at], alone.strengths[0], atol=1e-10)
        np.testing.assert_allclose(together.tie[at], alone.tie[0], atol=1e-10)


@pytest.mark.parametrize("has_ties", [True, False])
def test_where_a_fit_begins_changes_no_digit(has_ties):
    counts = np.concatenate([drawn(6, 300, 0.2, -1.0, seed) for seed in range(5)])
    begun = fit(counts.sum(axis=0, keepdims=True), has_ties=has_ties)
    from_there, from_zero = (fit(counts, has_ties=has_ties, start=start) for start in (begun, None))
    np.testing.assert_allclose(from_there.strengths, from_zero.strengths, atol=1e-13)
    np.testing.assert_allclose(from_there.order, from_zero.order, atol=1e-13)
    np.testing.assert_allclose(from_there.tie, from_zero.tie, atol=1e-13)


def test_what_is_said_of_a_system_and_itself_does_not_count():
    counts = drawn(5, 400, 0.2, -1.0)
    with_itself = counts.copy()
    with_itself[0, range(5), range(5)] = (3, 2, 1)
    one, other = fit(counts), fit(with_itself)
    np.testing.assert_array_equal(one.strengths, other.strengths)
    np.testing.assert_array_equal(one.order, other.order)


def test_weights_count_like_votes():
    counts = drawn(5, 400, 0.1, -1.0)
    np.testing.assert_allclose(fit(counts).strengths, fit(counts * 0.01).strengths, atol=1e-9)


def test_swapping_the_sides_turns_the_order_effect_alone():
    counts = drawn(5, 500, 0.5, -1.0)
    turned = np.swapaxes(counts, 1, 2)[..., ::-1]
    one, other = fit(counts), fit(turned)
    np.testing.assert_allclose(one.strengths, other.strengths, atol=1e-9)
    np.testing.assert_allclose(one.order, -other.order, atol=1e-9)


def all_wins(systems: int) -> np.ndarray:
    counts = np.zeros((1, systems, systems, 3))
    for one in range(systems):
        for other in range(one + 1, systems):
            counts[0, one, other, FIRST] += 3
            counts[0, other, one, SECOND] += 3
    return counts


def test_a_system_that_wins_everything_has_a_finite_strength_and_the_order_of_wins():
    found = fit(all_wins(5))
    assert found.is_regularised[0]
    assert np.isfinite(found.strengths).all()
    assert (np.diff(found.strengths[0]) < 0).all()
    assert abs(found.order[0]) < 1e-9


@pytest.mark.parametrize(
    "counts",
    [
        np.zeros((1, 3, 3, 3)),
        np.ones((1, 3, 3, 3)) * (np.arange(3) == FIRST),
        np.ones((1, 3, 3, 3)) * (np.arange(3) == TIE),
        np.ones((1, 3, 3, 3)) * (np.arange(3) == SECOND),
    ],
    ids=["nothing", "first always", "ties only", "second always"],
)
def test_counts_without_a_maximum_are_regularised(counts):
    found = fit(counts)
    assert found.is_regularised[0]
    assert np.isfinite(found.strengths).all()
    np.testing.assert_allclose(found.strengths, 0, atol=1e-9)
    assert np.isfinite(found.order).all()


def test_two_groups_that_never_met_are_regularised_and_others_are_not():
    counts = np.zeros((2, 4, 4, 3))
    for one, other in ((0, 1), (1, 0), (2, 3), (3, 2)):
        counts[:, one, other] = (4, 1, 3)
    counts[1, 1, 2] = counts[1, 2, 1] = (2, 1, 2)
    assert fit(counts).is_regularised.tolist() == [True, False]


def test_a_set_without_a_tie_in_a_model_with_ties_stays_finite():
    counts = np.concatenate([drawn(4, 200, 0.0, -1.0), drawn(4, 200)])
    found = fit(counts)
    assert np.isfinite(found.tie).all()
    assert found.tie[1] < found.tie[0]


def test_point_shares_are_wins_and_half_the_ties():
    counts = np.zeros((1, 3, 3, 3))
    counts[0, 0, 1] = (3, 2, 1)
    counts[0, 1, 0] = (1, 0, 1)
    shares = point_shares(counts)[0]
    assert shares[0] == pytest.approx((3 + 1 + 1) / 8)
    assert shares[1] == pytest.approx((1 + 1 + 1) / 8)
    assert np.isnan(shares[2])


@pytest.mark.parametrize("shape", [(2, 2, 3), (1, 3, 2, 3), (1, 3, 3, 2), (1, 1, 1, 3)])
def test_another_shape_is_refused(shape):
    with pytest.raises(ValueError, match="expected counts"):
        fit(np.zeros(shape))


@pytest.mark.parametrize("has_order", [True, False])
@pytest.mark.parametrize("systems", [2, 3, 5])
def test_a_handful_of_votes_has_finite_estimates(systems: int, has_order: bool) -> None:
    counts = np.random.default_rng(systems).poisson(0.4, (500, systems, systems, 3)).astype(float)
    counts[:, range(systems), range(systems)] = 0
    found = fit(counts, has_order=has_order)
    for values in (found.strengths, found.order, found.tie):
        assert np.isfinite(values).all()
        assert np.abs(values).max() < 40
    assert 0 < found.is_regularised.mean() < 1


def test_an_order_that_cannot_be_told_from_the_strengths_is_regularised() -> None:
    counts = np.zeros((2, 3, 3, 3))
    counts[:, 0, 1] = counts[:, 1, 2] = (6, 1, 3)  # in one order only: a path
    counts[1, 2, 0] = (2, 1, 5)  # closes the circle
    assert fit(counts).is_regularised.tolist() == [True, False]
    assert fit(counts, has_order=False).is_regularised.tolist() == [False, False]


def test_strengths_and_order_that_explain_everything_are_regularised() -> None:
    counts = np.zeros((1, 2, 2, 3))
    counts[0, 0, 1] = (5, 0, 0)
    counts[0, 1, 0] = (2, 0, 2)  # even when shown second: the order has no finite value without more votes
    found = fit(counts)
    assert found.is_regularised.all()
    assert np.abs([*found.strengths[0], found.order[0]]).max() < 15


def test_a_probability_follows_from_strengths_and_order_alone_where_there_are_no_ties() -> None:
    difference = np.asarray([[0.3, -1.2, 2.0], [0.0, 4.0, -3.0]])
    found = outcome_probabilities(difference, 0.4, -np.inf)
    np.testing.assert_allclose(found[..., FIRST], 1 / (1 + np.exp(-(difference + 0.4))), rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=-1), 1.0, rtol=1e-12)
    tied = outcome_probabilities(difference, 0.4, 0.7)
    np.testing.assert_allclose(tied[..., TIE] ** 2, np.exp(1.4) * tied[..., FIRST] * tied[..., SECOND], rtol=1e-12)


def test_a_system_with_a_single_vote_has_a_share() -> None:
    counts = np.zeros((1, 3, 3, 3))
    counts[0, 0, 1, FIRST] = 1
    with np.errstate(all="raise"):
        shares = point_shares(counts)[0]
    assert shares[:2].tolist() == [1.0, 0.0]
    assert np.isnan(shares[2])


@pytest.mark.parametrize("wins", [1, 3, 40])
def test_two_systems_of_which_one_won_everything_have_half_a_vote_more_each(wins: int) -> None:
    """Won and lost alike, in both orders: the logarithm of the odds with these votes."""
    counts = np.zeros((1, 2, 2, 3))
    counts[0, 0, 1, FIRST] = wins
    found = fit(counts, has_order=False)
    assert found.is_regularised.all()
    assert found.is_separated.all()
    assert found.strengths[0, 0] - found.strengths[0, 1] == pytest.approx(np.log((wins + 0.5) / 0.5), abs=1e-9)


@pytest.mark.parametrize("has_ties", [True, False])
def test_pseudo_votes_are_half_a_vote_of_every_system_spread_over_the_others(has_ties: bool) -> None:
    """Each is in 2 (n - 1) ordered pairs, with every outcome that the model has; sets with a maximum get none."""
    counts = np.zeros((1, 4, 4, 3))
    counts[0, 0, 1] = (3, 2 * has_ties, 1)
    counts[0, 1, 2] = (2, has_ties, 2)
    more = counts.copy()
    for one, other in np.ndindex(4, 4):
        if one != other:
            more[0, one, other] += 0.5 / 6 * np.asarray([1, has_ties, 1])
    found, expected = fit(counts, has_ties=has_ties), fit(more, has_ties=has_ties)
    assert (found.is_regularised.tolist(), expected.is_regularised.tolist()) == ([True], [False])
    np.testing.assert_allclose(found.strengths, expected.strengths, atol=1e-9)
    np.testing.assert_allclose(found.order, expected.order, atol=1e-9)
    if has_ties:
        np.testing.assert_allclose(found.tie, expected.tie, atol=1e-9)


@pytest.mark.parametrize("outcome", [FIRST, TIE, SECOND])
def test_one_vote_of_a_kind_is_enough(outcome: int) -> None:
    counts = np.zeros((1, 3, 3, 3))
    for one, other in np.ndindex(3, 3):
        if one != other:
            counts[0, one, other] = [4 * (kind != outcome) for kind in range(3)]
    counts[0, 0, 1, outcome] = 1
    assert fit(counts).is_regularised.tolist() == [False]


def test_a_lack_of_ties_alone_separates_nobody() -> None:
    counts = np.concatenate([drawn(4, 200, 0.3, -1.0), drawn(4, 200, 0.3)])
    found = fit(counts)
    assert (found.is_regularised.tolist(), found.is_separated.tolist()) == ([False, True], [False, False])


@pytest.mark.parametrize(
    ("pairs", "is_told"),
    [
        ([], False),
        ([(0, 1), (1, 2), (2, 3)], False),
        ([(0, 1), (1, 2), (2, 0)], True),
        ([(0, 1), (1, 2), (0, 2)], True),  # two one way round, one the other
        ([(0, 1), (2, 1), (2, 3), (0, 3)], False),  # two each way round
        ([(0, 1), (1, 2), (2, 3), (0, 3)], True),
        ([(0, 1), (1, 0)], True),
    ],
)
def test_the_order_is_told_by_a_circle_that_is_not_as_long_both_ways(
    pairs: list[tuple[int, int]], is_told: bool
) -> None:
    """Along a circle the strengths fall out of the sum, and the order effect stays as often as the ways differ."""
    counts = np.zeros((1, 4, 4, 3))
    for one, other in pairs:
        counts[0, one, other] = (2, 1, 2)
    assert _has_order_told(counts).tolist() == [is_told]


@pytest.mark.parametrize(("has_order", "has_ties"), [(True, True), (True, False), (False, True), (False, False)])
def test_a_fit_takes_as_few_steps_as_newtons_method(
    has_order: bool, has_ties: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step doubles the digits: with a curvature that is not that of the likelihood it would take many more."""
    monkeypatch.setattr("scoring.arena.bradley_terry._MOST_STEPS", STEPS)
    counts = drawn(5, 900, 1.2 * has_order, -0.2 if has_ties else -np.inf, seed=3)
    counts[0, 0] *= 3  # shown first more often than the others
    found = fit(counts, has_order=has_order, has_ties=has_ties)
    assert not found.is_regularised.any()


def test_strengths_are_centred_wherever_a_fit_begins() -> None:
    counts = drawn(5, 400, 0.2, -0.5)
    plain = fit(counts)
    shifted = replace(plain, strengths=plain.strengths + 3.0)
    found = fit(counts, start=shifted)
    np.testing.assert_allclose(found.strengths, plain.strengths, atol=1e-9)
    np.testing.assert_allclose(found.strengths.sum(axis=1), 0.0, atol=1e-12)


def test_more_sets_than_are_fitted_at_once_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.concatenate([drawn(3, 60, 0.1, -0.5, seed=seed) for seed in range(7)])
    whole = fit(counts)
    sizes: list[int] = []
    step = bradley_terry._Model.maximum
    monkeypatch.setattr(
        bradley_terry._Model, "maximum", lambda self, part, start: sizes.append(len(part)) or step(self, part, start)
    )
    for cells, expected in ((2 * 9, [2, 2, 2, 1]), (8, [1] * 7)):
        monkeypatch.setattr(bradley_terry, "_BLOCK_CELLS", cells)
        sizes.clear()
        np.testing.assert_array_equal(fit(counts).strengths, whole.strengths)
        assert sizes == expected


def test_no_sets_have_no_fit() -> None:
    found = fit(np.zeros((0, 3, 3, 3)), has_ties=True)
    assert (found.strengths.shape, found.order.shape, found.tie.shape) == ((0, 3), (0,), (0,))
    assert found.is_regularised.shape == found.is_separated.shape == (0,)


def test_a_fit_may_begin_from_one_of_a_model_without_ties() -> None:
    counts = drawn(4, 200, 0.3, -0.4)
    with_ties, without = fit(counts), fit(counts, has_ties=False)
    assert with_ties.parameters()[-1] == with_ties.tie[0] != 0
    assert without.parameters()[-1] == 0
    assert len(without.parameters()) == len(with_ties.parameters()) == 6


@pytest.mark.parametrize(("outcome", "is_connected"), [(FIRST, True), (TIE, True), (SECOND, True), (None, False)])
def test_a_circle_connects_whoever_wins_in_it(outcome: int | None, is_connected: bool) -> None:
    """Each took a point, or half a one, from the next, however they were shown."""
    counts = np.zeros((1, 3, 3, 3))
    for one, other in ((0, 1), (1, 2), (2, 0)):
        counts[0, one, other] = np.arange(3) == outcome
    assert _is_connected(counts).tolist() == [is_connected]


def test_a_path_of_wins_connects_nobody_and_a_path_of_ties_all() -> None:
    counts = np.zeros((2, 3, 3, 3))
    for one, other in ((0, 1), (1, 2)):
        counts[0, one, other, FIRST] = counts[1, one, other, TIE] = 3
    assert _is_connected(counts).tolist() == [False, True]
