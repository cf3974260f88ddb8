"""Accuracy of targets by hand: over all targets of all items."""

from __future__ import annotations

import json

import pytest

from scoring.metrics.targets import TargetAccuracy
from scoring.recipes.base import Layout, Pairs


def test_an_item_with_many_targets_weighs_more() -> None:
    metric = TargetAccuracy()
    gold, given = {"a": "욕설", "b": "없음", "c": "혐오"}, {"a": "욕설", "b": "혐오", "c": "혐오", "d": "욕설"}
    rows = metric.statistics(
        ["1", "2"], [[json.dumps(gold)], [json.dumps({"a": "없음"})]], [json.dumps(given), json.dumps({"b": "없음"})]
    )
    assert rows == [(2, 3), (0, 1)]
    assert metric.aggregate(rows) == {"accuracy": pytest.approx(2 / 4)}
    assert metric.aggregate([]) == {"accuracy": 0.0}


def test_a_long_list_is_read_whole() -> None:
    text = json.dumps({f"대상-{number}": "부적절" for number in range(400)})
    pairs = Pairs(("a",), ((text,),), (text,))
    assert Layout(pairs.ids, {"target_accuracy": pairs}).pairs["target_accuracy"] == pairs
