"""Exact match by the official rule: alternatives belong to the reference, never to the candidate."""

import pytest

from scoring.metrics import load_metric
from scoring.metrics.exact import exact_match
from scoring.recipes.rag_qa import answer_part
from tests.scoring.texts import GOLDEN


@pytest.mark.parametrize("item", GOLDEN["items"], ids=lambda item: item["id"])
def test_official_value_of_every_item(item):
    assert exact_match(answer_part(item["reference"]), answer_part(item["prediction"])) == item["exact_match"]


def test_official_mean():
    items = GOLDEN["items"]
    values = load_metric("exact_match").score_pairs(
        [answer_part(item["reference"]) for item in items], [answer_part(item["prediction"]) for item in items]
    )
    assert sum(values) / len(values) == GOLDEN["corpus"]["exact_match"]


def test_any_alternative_of_the_reference_is_accepted():
    assert exact_match("짜장면 # 자장면", " 자장면\n") == 1.0


def test_a_prediction_is_never_split():
    assert exact_match("짜장면", "짜장면#자장면") == 0.0
    assert exact_match("짜장면#자장면", "짜장면#자장면") == 0.0


def test_inner_space_counts():
    assert exact_match("안 되다", "안되다") == 0.0


@pytest.mark.parametrize("reference", ["짜장면#", "#짜장면", "짜장면# #자장면", "#", ""])
def test_an_empty_alternative_accepts_nothing(reference):
    assert exact_match(reference, " ") == 0.0
    assert exact_match(reference, "#") == 0.0


def test_the_alternatives_beside_an_empty_one_are_accepted():
    assert exact_match("#짜장면# ", "짜장면") == 1.0


def test_signature_names_the_rule():
    assert load_metric("exact_match").signature()["rule"] == "exact-match@2"
