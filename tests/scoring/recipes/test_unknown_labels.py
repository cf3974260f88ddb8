"""Labels that no reference has, and choices with more than their number, are told: they are often slips."""

import json

import pytest

from scoring.reading import read_predictions, read_references
from scoring.recipes import get_recipe, warning_text


def warnings_of(recipe_id: str, references: list, answers: list) -> list:
    recipe = get_recipe(recipe_id)
    task = {"input": {"question_type": "선다형"}} if recipe.question_types else {}
    known, given = (
        json.dumps([{"id": str(number), "output": output, **task} for number, output in enumerate(outputs)]).encode()
        for outputs in (references, answers)
    )
    gold = read_references(known, recipe)
    return list(recipe.prepare(gold, read_predictions(given, recipe, gold)).warnings)


@pytest.mark.parametrize(
    ("recipe", "references", "right", "wrong", "told"),
    [
        ("classification@1", ["긍정", "부정"], ["부정", ""], ["긍졍", "부정."], (2, "«긍졍», «부정.»")),
        ("multi-label@1", [{"joy": "True"}, ["anger"]], [["anger"], []], [{"joyy": True}, ["joy"]], (1, "«joyy»")),
        (
            "target-accuracy@1",
            [[{"id": "a", "label": "적절"}, {"id": "b", "label": "부적절"}]],
            [[{"id": "a", "label": "부적절"}, {"id": "b", "label": ""}]],
            [[{"id": "a", "label": "적졀"}, {"id": "b", "label": "적졀"}]],
            (2, "«적졀»"),
        ),
        (
            "aspect-sentiment@1",
            [[["품질", ["x", 0, 1], "positive"]]],
            [[["품질", "positive"]]],
            [[["품질", "positve"]]],
            (1, "«positve»"),
        ),
    ],
)
def test_a_label_that_no_reference_has_is_named(recipe, references, right, wrong, told) -> None:
    assert [
        warning.code for warning in warnings_of(recipe, references, right) if warning.code == "unknown_labels"
    ] == []
    [warning] = [one for one in warnings_of(recipe, references, wrong) if one.code == "unknown_labels"]
    assert (warning.params["count"], warning.params["labels"]) == told
    assert told[1] in warning_text(warning, "ko")
    assert told[1] in warning_text(warning, "en")


def test_five_unknown_labels_are_named_the_most_common_first() -> None:
    answers = ["바", "가", "나", "다", "라", "마", "바"]
    [warning] = warnings_of("classification@1", ["긍정"] * len(answers), answers)
    assert warning.params == {"count": 7, "labels": "«바», «가», «나», «다», «라»"}


@pytest.mark.parametrize(
    ("references", "answers", "count"),
    [
        (["3", 2], ["3", 1], 0),
        (["3", "2"], ["3.", "정답은 2번"], 2),
        (["3", "2"], ["", " 2"], 0),
        (["가", "2"], ["3.", "나"], 0),
    ],
)
def test_choices_that_are_no_number_are_counted(references, answers, count) -> None:
    wrapped = [[{"answer": answer} for answer in answers] for answers in (references, answers)]
    found = [one.params["count"] for one in warnings_of("culture-qa@1", *wrapped) if one.code == "choices_not_numbers"]
    assert found == [count][: bool(count)]


def test_the_first_choice_that_is_no_number_is_the_example() -> None:
    references, answers = ([{"answer": answer} for answer in each] for each in (["3", "2", "1"], ["3", "2번", "첫째"]))
    [warning] = [one for one in warnings_of("culture-qa@1", references, answers) if one.code == "choices_not_numbers"]
    assert warning.params == {"count": 2, "example": "2번"}
