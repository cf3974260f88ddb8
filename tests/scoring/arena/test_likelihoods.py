"""Evidence against judges: beside plain loops over the priors, the Dirichlet distribution step by step, and scipy."""

from __future__ import annotations

from itertools import product
from math import exp, isfinite, lgamma, log

import numpy as np
import pytest
from scipy import stats

from scoring.arena.bradley_terry import FIRST, SECOND, TIE
from scoring.arena.likelihoods import Reader, click_counts, log_clicks, log_ratings


def by_loops(difference, outcome, order, tie, weight, deviation):
    """Log-probability of the choices: every order effect from -4 to 4 and, with ties, every log tie parameter from -3
    to 3 around the others', with normal weights.
    """
    with_ties = isfinite(tie)
    orders = [(step / 4, exp(-((step / 4 / deviation) ** 2) / 2)) for step in range(-16, 17)]
    ties = [(step / 2, exp(-((step / 2) ** 2) / 2)) for step in range(-6, 7)] if with_ties else [(0.0, 1.0)]
    total = 0.0
    for (own_order, order_share), (own_tie, tie_share) in product(orders, ties):
        probability = 1.0
        for apart, chosen in zip(difference, outcome, strict=True):
            leaning = apart + order + own_order
            parts = [exp(leaning / 2), exp(tie + own_tie) if with_ties else 0.0, exp(-leaning / 2)]
            probability *= (parts[chosen] / sum(parts)) ** weight
        total += order_share * tie_share * probability
    return log(total / sum(share for _step, share in orders) / sum(share for _step, share in ties))


@pytest.mark.parametrize("weight", [1.0, 0.5])
@pytest.mark.parametrize("tie", [-0.5, -np.inf])
def test_what_a_reader_would_choose_is_that_of_plain_loops(tie, weight):
    difference, outcome = [1.2, -0.4, 0.7, 0.0], [FIRST, SECOND, FIRST, TIE if isfinite(tie) else SECOND]
    given = (0.2, tie, weight)
    reader = Reader(np.asarray(difference), np.asarray(outcome), *given)
    assert reader.log_probability() == pytest.approx(by_loops(difference, outcome, *given, 1.0), abs=1e-12)
    biased, usual = (by_loops(difference, outcome, *given, deviation) for deviation in (2.0, 0.3))
    assert reader.log_position() == pytest.approx(biased - usual, abs=1e-12)


def test_outcomes_are_counted_in_their_order():
    assert click_counts(np.asarray([SECOND, FIRST, SECOND])).tolist() == [1, 0, 2]
    assert click_counts(np.asarray([FIRST])).tolist() == [1, 0, 0]


def test_clicks_have_the_dirichlet_probability():
    """One after the other: (seen + 1/2) / (all + 3/2) of who has a habit, (seen + 4) / (all + 12) of others; half of
    the clickers are of each kind.
    """
    sequence, seen, of_kinds = [0, 2, 2, 1, 0, 0], np.zeros(3), {0.5: 1.0, 4.0: 1.0}
    for each in sequence:
        for prior in of_kinds:
            of_kinds[prior] *= (seen[each] + prior) / (seen.sum() + 3 * prior)
        seen[each] += 1
    assert log_clicks(seen) == pytest.approx(log(sum(of_kinds.values()) / 2))


@pytest.mark.parametrize(("counts", "gained"), [((36, 18, 36), 1.0), ((90, 0, 0), -0.7)])
def test_who_clicks_here_and_there_is_told_sooner_and_who_clicks_one_key_hardly_later(counts, gained):
    """Than by the prior of 1/2 alone, in natural logarithms."""
    alone = stats.dirichlet_multinomial(alpha=[0.5] * 3, n=90).logpmf(counts)
    orders = np.sum([lgamma(each + 1) for each in counts]) - lgamma(91)  # of one sequence
    assert log_clicks(np.asarray(counts, dtype=float)) - (alone + orders) > gained


def test_an_e_value_is_one_on_average_for_readers():
    """The expectation of clicks over reading, under reading with its priors, is 1: over all 27 answers to 3 units."""
    difference = np.asarray([1.2, -0.4, 0.7])
    total = reading = 0.0
    for answers in np.ndindex(3, 3, 3):
        outcome = np.asarray(answers)
        probability = np.exp(Reader(difference, outcome, 0.2, -0.5, 1.0).log_probability())
        reading += probability
        total += np.exp(log_clicks(np.bincount(outcome, minlength=3).astype(float)))
    assert reading == pytest.approx(1)
    assert total == pytest.approx(1)


def test_a_preference_of_one_side_is_evidence_and_strength_is_not():
    always_first = np.full(40, FIRST)
    assert Reader(np.zeros(40), always_first, 0.0, -0.5, 1.0).log_position() > 5
    right = np.where(np.arange(40) % 2, FIRST, SECOND)
    assert Reader(np.where(right == FIRST, 2.0, -2.0), right, 0.0, -0.5, 1.0).log_position() < 0
    assert np.isfinite(Reader(np.zeros(3), np.asarray([FIRST, SECOND, FIRST]), 0.0, -np.inf, 1.0).log_probability())
    assert TIE not in right


def test_ratings_that_follow_the_others_speak_against_clicking():
    random = np.random.default_rng(1)
    expected = random.normal(size=200)
    follows = 0.5 * expected + (1 - 0.25) ** 0.5 * random.normal(size=200)
    by_scipy = (stats.norm.logpdf(follows) - stats.norm.logpdf(follows, 0.5 * expected, (1 - 0.25) ** 0.5)).sum()
    assert log_ratings(follows, expected, 0.5) == pytest.approx(by_scipy)
    assert by_scipy < -5
    assert log_ratings(random.normal(size=200), expected, 0.5) > 5
