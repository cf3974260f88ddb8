"""The mean squared error equals scikit-learn's; a text that is no number has no score."""

import math
import random

import pytest

from scoring.figures import average
from scoring.metrics import load_metric
from scoring.metrics.regression import SquaredError, squared_error
from scoring.recipes import Layout, Pairs
from scoring.running.run import run_metrics
from scoring.text.answers import UnreadableAnswer, number_of


@pytest.mark.parametrize("seed", range(5))
def test_mean_squared_error_equals_sklearn(seed):
    from sklearn.metrics import mean_squared_error

    source = random.Random(seed)
    references = [source.uniform(-5, 5) for _ in range(200)]
    predictions = [reference + source.gauss(0, 1) for reference in references]
    values = SquaredError().score_pairs([*map(repr, references)], [*map(repr, predictions)])
    assert average(values) == pytest.approx(mean_squared_error(references, predictions), rel=1e-12)


def test_an_exact_answer_has_no_error_and_the_sign_of_an_error_does_not_matter():
    assert squared_error(2.5, 2.5) == 0.0
    assert squared_error(1.0, 3.0) == squared_error(3.0, 1.0) == 4.0


@pytest.mark.parametrize(
    ("text", "number"), [("3", 3.0), (" -0.5\n", -0.5), ("+.25", 0.25), ("4.", 4.0), ("1e-3", 0.001), ("007", 7.0)]
)
def test_a_decimal_number_is_read_whatever_its_notation(text, number):
    assert number_of(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "삼",
        "1,5",
        "1,000",
        "1_000",
        "nan",
        "inf",
        "-Infinity",
        "0x10",
        "1 2",
        "٣",
        "３",
        "1e",
        "--1",
        "3점",
        "9" * 101,
    ],
)
def test_what_is_no_decimal_number_is_refused(text):
    with pytest.raises(UnreadableAnswer) as caught:
        number_of(text)
    assert caught.value.code == "not_decimal"


@pytest.mark.parametrize("text", ["1e101", "-1e101", "1e999999999"])
def test_numbers_out_of_range_are_refused(text):
    with pytest.raises(UnreadableAnswer) as caught:
        number_of(text)
    assert caught.value.code == "number_out_of_range"


def test_of_several_references_the_nearest_counts():
    pairs = Pairs(("a",), (("1", "4"),), ("3",))
    scored = run_metrics(
        {"squared_error": SquaredError()}, Layout(("a",), {"squared_error": pairs}), {"squared_error": ""}, known={}
    )
    assert scored.values["squared_error"] == {"a": 1.0}


def test_the_largest_error_is_still_finite():
    values = SquaredError().score_pairs(["1e100"] * 1000, ["-1e100"] * 1000)
    assert math.isfinite(average(values))


def test_an_unreadable_answer_is_an_error_and_not_a_score():
    with pytest.raises(UnreadableAnswer):
        load_metric("squared_error").score_pairs(["1"], ["모름"])
