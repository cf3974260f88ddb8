"""Simulated panels: as designed, and recovered by the fit. The long form is ``python -m tests.benchmarks arena``."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from scoring.arena.bradley_terry import FIRST, SECOND, fit
from scoring.arena.comparisons import comparisons
from scoring.arena.simulation import Panel, outcome_counts, simulate, spread_strengths, true_parameters
from scoring.arena.vote_records import PROTOCOLS

PANEL = Panel(spread_strengths(6, 0.7), ("good",) * 8, items=60, votes_per_judge=60)


def test_a_panel_is_the_same_for_the_same_seed():
    assert simulate(PANEL, 1) == simulate(PANEL, 1)
    assert simulate(PANEL, 1).votes != simulate(PANEL, 2).votes


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_judge_has_the_votes_asked_for(protocol):
    votes = simulate(replace(PANEL, protocol=protocol), 1).votes
    kinds = Counter((vote.judge, vote.kind) for vote in votes)
    assert {kinds[f"J{n:02d}", kind] for n in range(1, 9) for kind in ("control", "repeat")} == {3}
    assert {kinds[f"J{n:02d}", "real"] for n in range(1, 9)} == {54}
    assert [vote.number for vote in votes] == list(range(1, len(votes) + 1))


def test_units_are_judged_twice_and_pairs_about_equally_often():
    votes = [vote for vote in simulate(PANEL, 1).votes if vote.kind == "real"]
    units = Counter((vote.item, frozenset(vote.systems)) for vote in votes)
    assert len({(vote.judge, vote.number) for vote in votes}) == len(votes)
    assert sum(count >= 2 for count in units.values()) > 0.9 * len(units)
    pairs = Counter(frozenset(vote.systems) for vote in votes)
    assert max(pairs.values()) - min(pairs.values()) <= 4


def test_repeats_turn_the_order_of_the_judges_earlier_unit():
    votes = {vote.number: vote for vote in simulate(PANEL, 1).votes}
    repeats = [vote for vote in votes.values() if vote.kind == "repeat"]
    for vote in repeats:
        first = votes[vote.repeats]
        assert (first.judge, first.item, first.kind) == (vote.judge, vote.item, "real")
        assert first.systems == vote.systems[::-1]


def test_the_truth_is_the_panels_own_where_nothing_varies():
    panel = replace(PANEL, item_spread=0.0, judge_spread=0.0, order_effect=0.3)
    strengths, order, tie = true_parameters(panel)
    np.testing.assert_allclose(strengths, panel.strengths, atol=1e-8)
    assert order == pytest.approx(0.3, abs=1e-8)
    assert tie == pytest.approx(panel.tie, abs=1e-8)
    assert np.exp(tie) / (2 + np.exp(tie)) == pytest.approx(panel.tie_rate)


def test_the_truth_is_what_a_large_panel_tends_to():
    panel = replace(
        PANEL, judges=("good",) * 150, items=4000, votes_per_judge=400, item_spread=0.8, judge_spread=0.5,
        order_effect=0.3,
    )  # fmt: skip
    strengths, order, tie = true_parameters(panel)
    found = fit(outcome_counts(panel, 3)[None])
    np.testing.assert_allclose(found.strengths[0], strengths, atol=0.13)  # 150 judges of 0.5: 0.04 each way
    assert strengths[0] < panel.strengths[0] - 0.05  # averaging over items and judges takes something away
    assert found.order[0] == pytest.approx(order, abs=0.05)
    assert found.tie[0] == pytest.approx(tie, abs=0.05)


def test_counts_without_votes_are_those_of_the_votes_model():
    votes = simulate(PANEL, 4)
    of_votes = comparisons(votes.real(), votes.counting).counts()[0].sum(axis=(0, 1))
    quick = outcome_counts(PANEL, 4).sum(axis=(0, 1))
    assert quick.sum() == of_votes.sum()
    np.testing.assert_allclose(quick / quick.sum(), of_votes / of_votes.sum(), atol=0.1)


def test_a_position_biased_judge_prefers_the_first_and_a_clicker_does_not_read():
    votes = simulate(replace(PANEL, judges=("position", "random", "good"), votes_per_judge=400), 5)
    compared = comparisons(votes.real(), votes.counting)
    shares = [np.bincount(compared.outcome[compared.judge == at], minlength=3) / 360 for at in range(3)]
    assert shares[0][FIRST] > shares[0][SECOND] + 0.3
    clicks = compared.of(compared.judge == 1)
    right = (clicks.outcome == FIRST) == (clicks.first < clicks.second)
    decided = clicks.outcome != 1
    assert 0.4 < right[decided].mean() < 0.6


def test_one_judge_and_two_systems_make_a_panel():
    votes = simulate(Panel((0.5, -0.5), ("good",), items=5, votes_per_judge=20), 1)
    assert len(votes.votes) == 20
