"""Aspect sentiment F1 by hand: which opinion of a repeated category is compared, and on which side what is counted."""

from __future__ import annotations

import json

import pytest

from scoring.metrics.opinions import OpinionF1, opinion_counts
from scoring.recipes.base import Layout, Pairs

REFERENCE = [["맛", "긍정"], ["맛", "부정"], ["값", "부정"], ["양", "긍정"]]
PREDICTED = [["맛", "부정"], ["맛", "긍정"], ["값", "부정"], ["곳", "중립"], ["맛", "부정"]]


def test_only_the_first_of_the_other_side_in_a_category_is_compared() -> None:
    """Found are 맛-부정 and 값-부정; of the predictions 맛-긍정 and 값-부정 are confirmed."""
    assert opinion_counts(REFERENCE, PREDICTED) == (2, 2, 3, 3, 1, 1)
    assert opinion_counts(REFERENCE, []) == (0, 4, 0, 0, 4, 0)
    assert opinion_counts([], PREDICTED) == (0, 0, 5, 0, 0, 5)


def test_scores_are_of_the_counts_of_all_items() -> None:
    metric = OpinionF1()
    texts = [json.dumps(each) for each in (REFERENCE, PREDICTED, [["멋", "긍정"]], [["멋", "긍정"], ["멋", "긍정"]])]
    rows = metric.statistics(["a", "b"], [[texts[0]], [texts[2]]], [texts[1], texts[3]])
    assert rows == [(2, 2, 3, 3, 1, 1), (1, 0, 0, 1, 0, 0)]
    assert metric.aggregate(rows) == {
        "sa_f1": pytest.approx(2 * 0.5 * 0.6 / 1.1),
        "sa_precision": 0.5,
        "sa_recall": 0.6,
        "category_f1": pytest.approx(0.8),
    }


def test_precision_and_recall_of_categories_are_told_apart() -> None:
    scores = OpinionF1.scores([1, 1, 3, 3, 1, 2])
    assert (scores["sa_precision"], scores["sa_recall"]) == (0.25, 0.5)
    assert scores["category_f1"] == pytest.approx(2 * 0.6 * 0.75 / 1.35)


def test_nothing_found_is_zero() -> None:
    assert set(OpinionF1.scores([0] * 6).values()) == set(OpinionF1.aggregate([]).values()) == {0.0}


def test_a_long_list_is_read_whole() -> None:
    text = json.dumps([["품질" * 10, "긍정"]] * 400)
    pairs = Pairs(("a",), ((text,),), (text,))
    assert Layout(pairs.ids, {"opinion_f1": pairs}).pairs["opinion_f1"] == pairs
