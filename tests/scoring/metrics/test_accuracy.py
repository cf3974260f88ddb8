"""Accuracy is string equality and nothing else."""

import pytest

from scoring.metrics import load_metric


@pytest.mark.parametrize(
    ("reference", "candidate", "expected"),
    [("3", "3", 1.0), ("3", "3 ", 0.0), ("3", "③", 0.0), ("3#4", "3", 0.0), ("나", "나", 1.0), ("", "", 1.0)],
)
def test_choice_must_equal_the_reference_exactly(reference, candidate, expected):
    assert load_metric("accuracy").score_pairs([reference], [candidate]) == [expected]


def test_signature_names_the_rule():
    assert load_metric("accuracy").signature()["rule"] == "string-equality@1"
