"""Agreement of a judge with people, against scipy and scikit-learn, and its intervals against a plain loop."""

from __future__ import annotations

import math
import random
import warnings
from collections import Counter

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import cohen_kappa_score

from scoring.agreement.figures import NAMES, REASONS, figures
from scoring.significance.resampling import bootstrap_weights

CLASSES = [1, 2, 3, 4, 5]


def drawn(seed: int) -> tuple[list[int], list[float]]:
    """Scores of a judge and of people that go together more or less; some lists are constant or very short."""
    source = random.Random(seed)
    items, step = source.choice([2, 3, 7, 40, 200]), source.choice([1.0, 0.5, 1 / 3, 0.01])
    people = [min(5.0, max(1.0, round(source.uniform(1, 5) / step) * step)) for _ in range(items)]
    noise = source.choice([0.0, 1.0, 3.0])
    judged = [min(5, max(1, math.floor(score + source.uniform(-noise, noise) + 0.5))) for score in people]
    if seed % 17 == 0:
        judged = [3] * items
    if seed % 19 == 0:
        people = [2.5] * items
    return judged, people


def witness(judged: list[int], people: list[float]) -> dict[str, float | None]:
    """By the libraries; ``None`` where they have no number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rounded = [math.floor(score + 0.5) for score in people]
        found = {
            "pearson": pearsonr(judged, people)[0],
            "spearman": spearmanr(judged, people)[0],
            "kappa": cohen_kappa_score(judged, rounded, weights="quadratic", labels=CLASSES),
        }
    return {name: None if math.isnan(value) else float(value) for name, value in found.items()}


def test_the_figures_are_those_of_scipy_and_scikit_learn() -> None:
    largest, undefined = 0.0, Counter[str]()
    for seed in range(400):
        judged, people = drawn(seed)
        found, expected = figures(judged, people, trials=1), witness(judged, people)
        for name in NAMES:
            estimate, value = getattr(found, name), expected[name]
            if value is None:
                assert (estimate.value, estimate.low, estimate.high) == (None, None, None)
                assert estimate.reason in REASONS
                undefined[name] += 1
            else:
                largest = max(largest, abs(estimate.value - value))
                assert estimate.reason is None
        assert found.items == len(people)
    assert largest < 1e-12
    assert undefined["pearson"] == undefined["spearman"] > undefined["kappa"] > 0


@pytest.mark.parametrize(
    ("judged", "people", "expected"),
    [
        ([3, 3, 3], [1.0, 2.0, 5.0], ("constant_judge", "constant_judge", 0.0)),
        ([1, 2, 5], [2.5, 2.5, 2.5], ("constant_people", "constant_people", 0.0)),
        ([3, 3, 3], [1 / 3 + 2.2] * 3, ("constant_both", "constant_both", "constant_both")),
        ([3, 3, 3], [4.0, 4.0, 4.0], ("constant_both", "constant_both", 0.0)),
        ([3, 3, 3], [2.6, 3.1, 3.4], ("constant_judge", "constant_judge", "constant_judge")),
    ],
)
def test_what_cannot_be_determined_says_why_and_has_no_number(
    judged: list[int], people: list[float], expected: tuple[str | float, ...]
) -> None:
    """Kappa of one constant side is 0 by its definition; scikit-learn has that number too."""
    found, known = figures(judged, people, trials=50).as_dict(), witness(judged, people)
    for name, wanted in zip(NAMES, expected, strict=True):
        if isinstance(wanted, str):
            assert known[name] is None
            assert found[name] == {"value": None, "low": None, "high": None, "reason": wanted}
        else:
            assert (found[name]["value"], found[name]["reason"]) == (pytest.approx(known[name], abs=1e-12), None)
            assert found[name]["value"] == wanted


@pytest.mark.parametrize("seed", [1, 5, 8, 20])
def test_the_intervals_are_the_percentiles_of_the_libraries_figures_of_each_draw(seed: int) -> None:
    judged, people = drawn(seed)
    trials = 150
    found = figures(judged, people, trials=trials, seed=7)
    values: dict[str, list[float]] = {name: [] for name in NAMES}
    for weights in bootstrap_weights(len(people), trials, 7, cells=1):
        for row in weights.astype(int):
            once_more = [place for place, times in enumerate(row) for _ in range(times)]
            of_draw = witness([judged[place] for place in once_more], [people[place] for place in once_more])
            for name in NAMES:
                values[name].append(of_draw[name] or 0.0)  # a draw without a number counts as 0
    for name in NAMES:
        low, high = np.percentile(values[name], (2.5, 97.5))
        estimate = getattr(found, name)
        assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=1e-9)


def test_an_interval_of_few_items_is_wide_and_the_same_every_time() -> None:
    judged, people = [1, 2, 4, 5, 3, 3], [1.0, 2.5, 4.0, 4.5, 2.0, 3.5]
    one = figures(judged, people)
    assert one == figures(judged, people)
    assert one.pearson.low < one.pearson.value - 0.05 < one.pearson.high
    many = figures(judged * 50, people * 50)
    assert many.pearson.value == pytest.approx(one.pearson.value, abs=1e-12)
    assert many.pearson.high - many.pearson.low < (one.pearson.high - one.pearson.low) / 3


@pytest.mark.parametrize(("judged", "people"), [([], []), ([3], [3.0]), ([1, 2], [1.0])])
def test_fewer_than_two_items_have_no_agreement(judged: list[int], people: list[float]) -> None:
    with pytest.raises(ValueError, match="two items or more"):
        figures(judged, people)
