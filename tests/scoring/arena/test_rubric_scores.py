"""Scores of ratings beside generalised least squares with the whole covariance matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scoring.arena.rubric_scores import Ratings, penalty_of, ratings, standardised, system_scores
from scoring.arena.simulation import Panel, simulate
from scoring.arena.vote_records import Criterion, Vote
from scoring.arena.vote_values import points_of

PANEL = Panel((0.8, 0.2, -0.3, -0.7), ("good",) * 6, items=25, votes_per_judge=40, protocol="rubric")


def of_panel(seed: int = 1, **changes: object) -> Ratings:
    votes = simulate(replace(PANEL, **changes), seed)
    return ratings(votes.real(), votes.counting, votes.criteria)


def test_points_are_the_weighted_share_of_the_scales():
    criteria = (Criterion("a", 1, 5, 2), Criterion("b", 0, 100, 1))
    vote = Vote(1, "J", "I", ("S",), {"scores": {"a": 2, "b": 100}})
    assert points_of(vote, criteria) == pytest.approx((2 * 0.25 + 1) / 3)
    assert points_of(vote, [replace(each, weight=0) for each in criteria]) == pytest.approx((0.25 + 1) / 2)


def test_marked_errors_have_the_score_given_and_a_penalty_beside():
    spans = [{"severity": severity} for severity in ("minor", "minor", "major", "critical")]
    vote = Vote(1, "J", "I", ("S",), {"score": 40, "spans": spans})
    assert points_of(vote, ()) == 0.4
    assert penalty_of(vote) == 1 + 1 + 5 + 25


def test_a_harsh_and_a_mild_judge_with_one_opinion_have_one_z():
    points = np.asarray([0.1, 0.2, 0.3, 0.4] * 50 + [0.6, 0.7, 0.8, 0.9] * 50)
    judge = np.repeat([0, 1], 200)
    given = Ratings(("A", "B", "C", "D"), ("I",), ("J", "K"), points, np.arange(400) % 4, np.zeros(400, int), judge)
    z = standardised(given)
    np.testing.assert_allclose(z[:200], z[200:], atol=0.15)  # little is drawn towards the panel with 200 votes
    assert z[judge == 0].std() == pytest.approx(1, abs=0.05)


def test_a_judge_of_one_vote_is_drawn_to_the_panel():
    points = np.r_[np.tile([0.4, 0.5, 0.6], 20), 1.0]
    judge = np.r_[np.zeros(60, int), 1]
    given = Ratings(("A",), ("I",), ("J", "K"), points, np.zeros(61, int), np.zeros(61, int), judge)
    mean, deviation = (1.0 + 5 * points.mean()) / 6, points[:60].std(ddof=1)
    assert standardised(given)[-1] == pytest.approx((1 - mean) / deviation)


def test_ratings_without_any_difference_are_all_zero():
    given = Ratings(("A", "B"), ("I",), ("J",), np.full(6, 0.5), np.arange(6) % 2, np.zeros(6, int), np.zeros(6, int))
    assert not standardised(given).any()
    assert not system_scores(given).values.any()


def ratio(residual, cluster) -> float:
    """Variance of the error over that of the clusters: the analysis of variance written out."""
    groups = [residual[cluster == label] for label in np.unique(cluster)]
    total = len(residual)
    within = sum(((each - each.mean()) ** 2).sum() for each in groups) / (total - len(groups))
    between = sum(len(each) * (each.mean() - residual.mean()) ** 2 for each in groups) / (len(groups) - 1)
    size = (total - sum(len(each) ** 2 for each in groups) / total) / (len(groups) - 1)
    return within / max((between - within) / size, within / 1e6)


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_generalised_least_squares(seed):
    given = of_panel(seed)
    z = standardised(given)
    design = np.eye(len(given.systems))[given.system]
    residual = z - design @ np.asarray([z[given.system == s].mean() for s in range(len(given.systems))])
    covariance = np.eye(len(z))
    for cluster in (given.item, given.judge):
        covariance += (cluster[:, None] == cluster[None, :]) / ratio(residual, cluster)
    weighted = np.linalg.solve(covariance, design)
    expected = np.linalg.solve(design.T @ weighted, weighted.T @ z)
    np.testing.assert_allclose(system_scores(given).values, expected - expected.mean(), atol=1e-8)


def test_an_easy_item_does_not_help_the_systems_seen_on_it():
    random = np.random.default_rng(1)
    system, item = np.repeat([0, 1], 200), np.r_[random.integers(0, 20, 200), random.integers(10, 30, 200)]
    hardness = np.where(np.arange(30) < 10, 0.3, 0.0)  # only the first system was seen on the easy items
    points = 0.5 + hardness[item] + random.normal(0, 0.05, 400)
    given = Ratings(("A", "B"), tuple(map(str, range(30))), ("J", "K"), points, system, item, np.arange(400) % 2)
    plain = np.diff(given.mean_points())[0]
    scores = system_scores(given).values
    assert plain < -0.1
    assert abs(scores[1] - scores[0]) < 0.2


def test_intervals_cover_about_as_often_as_they_say():
    """Against the mean over many panels, which is what the scores tend to."""
    runs = [system_scores(of_panel(seed, votes_per_judge=60, judges=("good",) * 12)) for seed in range(80)]
    truth = np.mean([each.values for each in runs], axis=0)
    covered = [
        found.low <= truth[at] <= found.high
        for each in runs for at in range(4) for found in [each.figure(at, 0.05)]
    ]  # fmt: skip
    assert 0.91 <= np.mean(covered) <= 0.99
    assert truth.tolist() == sorted(truth, reverse=True)
