"""Labels of targets and opinions: what counts as answered, which labels are unknown, and which score ranks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoring.recipes import get_recipe
from scoring.records import Item, Items, ScoreWarning


def items(*given: Any) -> Items:
    texts = [json.dumps(each, ensure_ascii=False) for each in given]
    return Items(tuple(Item(f"q{n}", text, n + 1) for n, text in enumerate(texts)), "json-array", "0" * 64)


@pytest.mark.parametrize(
    ("recipe_id", "nothing", "gold", "given", "unknown"),
    [
        ("target-accuracy@1", {}, {"t1": "욕설", "t2": "없음"}, {"t1": "욕셀", "t2": "욕설"}, "«욕셀»"),
        ("aspect-sentiment@1", [], [["맛", "긍정"]], [["맛", "중립"], ["멋", "긍정"]], "«중립», «멋»"),
    ],
)
def test_empty_answers_and_labels_that_no_reference_has_are_told(
    recipe_id: str, nothing: Any, gold: Any, given: Any, unknown: str
) -> None:
    recipe = get_recipe(recipe_id)
    layout = recipe.prepare(items(gold, gold, gold), items(given, nothing, gold))
    [pairs] = layout.pairs.values()
    assert tuple(layout.pairs) == recipe.metrics
    assert json.loads(pairs.candidates[0]) == given
    assert layout.item_ids == ("q0", "q1", "q2")
    assert layout.coverage == {"items": 3, "answered": 2}
    assert layout.warnings == (ScoreWarning("unknown_labels", {"count": unknown.count("«"), "labels": unknown}),)


@pytest.mark.parametrize(("recipe_id", "score"), [("target-accuracy@1", "accuracy"), ("aspect-sentiment@1", "sa_f1")])
def test_the_final_score_is_one_of_its_metric(recipe_id: str, score: str) -> None:
    means = {"accuracy": 0.4, "sa_f1": 0.6}
    assert get_recipe(recipe_id).final_scores(means) == {"final_score": means[score], **means}


def test_the_form_of_the_answer_is_the_rule_by_which_its_metric_reads_it() -> None:
    assert get_recipe("aspect-sentiment@1").input_rule("opinion_f1") == "opinions@1"
