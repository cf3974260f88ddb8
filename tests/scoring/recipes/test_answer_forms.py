"""Answers that are labels, numbers, targets or opinions: what is read, and what is refused and where."""

import pytest

from scoring.errors import InvalidFile
from scoring.reading import read_predictions, read_references
from scoring.recipes import get_recipe
from scoring.recipes.columns import ACCURACY
from scoring.recipes.labels import multi_label, regression, single_label
from scoring.text.answers import MAX_LABELS

ONE = single_label(ACCURACY)
SEVERAL = multi_label()
NUMBER = regression()


def item(answer: str, item_id: str = "1") -> str:
    return f'{{"id": "{item_id}", "output": {{"answer":\n{answer}}}}}'


def text_of(answer: str, recipe) -> str:
    return read_predictions(f"[{item(answer)}]".encode(), recipe).items[0].text


def error_of(answer: str, recipe, read=read_predictions) -> tuple:
    with pytest.raises(InvalidFile) as caught:
        read(f"[{item(answer)}]".encode(), recipe)
    error = caught.value.errors[0]
    assert error.item_id == "1"
    assert error.message("ko")
    assert error.message("en")
    return error.code, error.line, error.field


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ('"기쁨"', "기쁨"),
        ('["슬픔", "기쁨"]', '["기쁨","슬픔"]'),
        ('["기쁨", "기쁨"]', '["기쁨"]'),
        ("[]", "[]"),
        ('""', ""),
        ('"[\\"기쁨\\"]"', '["기쁨"]'),
        ('["\\u1100\\u1161"]', '["가"]'),
        ("3", "3"),
        ('["나", 3, 1]', '["1","3","나"]'),
        ('{"기쁨": "True", "슬픔": "False", "분노": true, "공포": false}', '["기쁨","분노"]'),
        ('{"기쁨": "False"}', "[]"),
    ],
)
def test_labels_are_a_string_a_sorted_list_or_what_is_true_in_an_object(answer, text):
    assert text_of(answer, SEVERAL) == text


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("3.5", ("wrong_type", 2, "output.answer")),
        ("true", ("wrong_type", 2, "output.answer")),
        ("null", ("wrong_type", 2, "output.answer")),
        ('{"기쁨": "True",\n"슬픔": 1}', ("bad_truth_value", 3, "output.answer.슬픔")),
        ('{"기쁨": "예"}', ("bad_truth_value", 2, "output.answer.기쁨")),
        ('{"기쁨": []}', ("bad_truth_value", 2, "output.answer.기쁨")),
        ('{"기쁨": {"슬픔": "True"}}', ("bad_truth_value", 2, "output.answer.기쁨")),
        ('{"": "True"}', ("empty_reference", 2, "output.answer.")),
        ('["기쁨",\n3.5]', ("wrong_type", 3, "output.answer.1")),
        ('["기쁨",\n""]', ("empty_reference", 3, "output.answer.1")),
        ('["기쁨",\n"\\u0000"]', ("control_character", 3, "output.answer.1")),
        ('["기쁨",\nNaN]', ("not_a_number", 3, "output.answer.1")),
        ('"[기쁨"', ("bad_label_list", 2, "output.answer")),
        ("[" + ",".join(f'"{n}"' for n in range(MAX_LABELS + 1)) + "]", ("too_many_labels", 2, "output.answer")),
    ],
)
def test_bad_labels_are_located(answer, error):
    assert error_of(answer, SEVERAL) == error


def test_a_task_of_one_label_takes_any_string_and_no_list():
    assert text_of('"[기쁨"', ONE) == "[기쁨"
    assert error_of('["기쁨"]', ONE) == ("wrong_type", 2, "output.answer")


@pytest.mark.parametrize(
    ("answer", "text"),
    [("3", "3"), ("-3.50", "-3.5"), ('" 3.50 "', "3.50"), ('"1e-3"', "1e-3"), ("1e22", "1e+22"), ('"+.5"', "+.5")],
)
def test_a_number_may_be_a_string(answer, text):
    assert text_of(answer, NUMBER) == text


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("true", "wrong_type"),
        ("null", "wrong_type"),
        ("[3]", "wrong_type"),
        ('""', "not_decimal"),
        ('"세 점"', "not_decimal"),
        ('"1_000"', "not_decimal"),
        ('"３"', "not_decimal"),
        ('"nan"', "not_decimal"),
        ('"inf"', "not_decimal"),
        ('"1e999"', "number_out_of_range"),
        ("NaN", "not_a_number"),
        ("-Infinity", "not_a_number"),
        ("1e999", "number_too_large"),
        ("9" * 500, "number_too_large"),
    ],
)
def test_what_is_no_finite_number_is_located(answer, code):
    assert error_of(answer, NUMBER) == (code, 2, "output.answer")


@pytest.mark.parametrize("recipe", [ONE, SEVERAL, NUMBER], ids=["label", "labels", "number"])
def test_a_reference_may_not_be_an_empty_string(recipe):
    assert error_of('" "', recipe, read_references) == ("empty_reference", 2, "output.answer")


TARGETS, OPINIONS = get_recipe("target-accuracy@1"), get_recipe("aspect-sentiment@1")


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ('{"id": "a", "label": "x"}', ("wrong_type", 2, "output.answer")),
        ('["x"]', ("wrong_type", 2, "output.answer.0")),
        ('[{"id": "a"}]', ("missing_field", 2, "output.answer.0.label")),
        ('[{"label": "x"}]', ("missing_field", 2, "output.answer.0.id")),
        ('[{"id": "a", "label": "x"},\n{"id": "a", "label": "y"}]', ("duplicate_target", 3, "output.answer.1.id")),
        ('[{"id": "a", "label": null}]', ("wrong_type", 2, "output.answer.0.label")),
        (
            "[" + ",".join(f'{{"id": {n}, "label": 1}}' for n in range(501)) + "]",
            ("too_many_parts", 2, "output.answer"),
        ),
    ],
)
def test_bad_targets_are_located(answer, error):
    assert error_of(answer, TARGETS) == error


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ('{"본품#품질": "negative"}', ("wrong_type", 2, "output.answer")),
        ('["본품#품질", "negative"]', ("bad_opinion", 2, "output.answer.0")),
        ('[["본품#품질", "negative"],\n["본품#품질"]]', ("bad_opinion", 3, "output.answer.1")),
        ('[["본품#품질", null]]', ("wrong_type", 2, "output.answer.0.1")),
        ('[["", "negative"]]', ("empty_reference", 2, "output.answer.0.0")),
    ],
)
def test_bad_opinions_are_located(answer, error):
    assert error_of(answer, OPINIONS) == error


def test_targets_must_be_those_of_the_reference():
    known, given = (
        f"[{item(answer)}]".encode()
        for answer in (
            '[{"id": "a", "label": "x"}, {"id": "b", "label": 1}]',
            '[{"id": "a", "label": ""}, {"id": "c", "label": 1}]',
        )
    )
    references = read_references(known, TARGETS)
    with pytest.raises(InvalidFile) as caught:
        read_predictions(given, TARGETS, references)
    assert [(error.code, error.params["targets"]) for error in caught.value.errors] == [
        ("missing_target", "b"),
        ("unknown_target", "c"),
    ]


def test_an_opinion_keeps_its_place_among_others_and_loses_its_words():
    written = '[["본품#품질", ["기어", 16, 18], "negative"], ["본품#일반", "positive"]]'
    assert text_of(written, OPINIONS) == '[["본품#품질","negative"],["본품#일반","positive"]]'
