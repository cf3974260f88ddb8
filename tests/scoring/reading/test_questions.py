"""The file of questions that is handed out, given where answers belong."""

import json

import pytest

from scoring.errors import InvalidFile
from scoring.reading import read_predictions, read_references
from scoring.reading.questions import read_questions
from scoring.recipes import get_recipe
from tests.scoring.reading.test_reading import RAG, errors_of, reference_errors_of


def question_file(**output):
    rows = [{"id": f"q-{n}", "input": {"question_type": "선다형"}, **output} for n in range(500)]
    return json.dumps(rows, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "output", [{}, {"output": ""}, {"output": []}, {"output": None}, {"output": {}}, {"output": {"answer": ""}}]
)
@pytest.mark.parametrize("recipe", ["rag-qa@1", "culture-qa@1", "multi-label@1", "regression@1"])
def test_a_question_file_as_references_gets_one_sentence(recipe, output):
    errors = reference_errors_of(question_file(**output).decode(), get_recipe(recipe))
    assert [error.code for error in errors] == ["no_reference_answers"]
    assert "정답이 하나도 없는 문제 파일" in errors[0].message()


@pytest.mark.parametrize("output", [{}, {"output": []}, {"output": None}, {"output": {}}])
def test_a_question_file_as_predictions_gets_one_sentence(output):
    invalid = errors_of(question_file(**output).decode())
    assert (invalid.total, [error.code for error in invalid.errors]) == (1, ["no_answers"])
    assert "as handed out" in invalid.errors[0].message("en")


def test_answers_that_are_all_empty_are_answers():
    read = read_predictions(question_file(output={"answer": ""}), RAG)
    assert len(read.items) == 500


def test_one_answer_among_questions_has_every_other_item_named():
    rows = json.loads(question_file())
    rows[7]["output"] = {"answer": "가"}
    assert errors_of(json.dumps(rows)).total == 499


def test_label_objects_are_answers():
    """Of one file with an error in it only the error is told."""
    rows = [{"id": f"q-{n}", "output": {"joy": "True", "fear": "False"}} for n in range(3)]
    rows[1]["id"] = "q-0"
    errors = reference_errors_of(json.dumps(rows), get_recipe("multi-label@1"))
    assert [error.code for error in errors] == ["duplicate_reference_id"]


def test_misnamed_answers_are_no_question_file():
    rows = [{"id": f"q-{n}", "outptu": {"answer": "가"}} for n in range(3)]
    assert {error.code for error in errors_of(json.dumps(rows)).errors} == {"misspelled_field"}


def test_published_references_that_name_no_label_are_still_read():
    data = json.dumps([{"id": str(number), "output": {"answer": []}} for number in range(3)]).encode()
    recipe = get_recipe("multi-label@1")
    assert [item.text for item in read_references(data, recipe, is_published=True).items] == ["[]"] * 3
    with pytest.raises(InvalidFile):
        read_references(data, recipe)


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1" + "0" * 5_000])
@pytest.mark.parametrize("asked", ["%s", '{"a": %s}', '{"a": [1, {"b": %s}]}'])
def test_a_number_that_json_does_not_have_inside_a_question_is_named(asked, value):
    with pytest.raises(InvalidFile) as refused:
        read_questions(f'[{{"id": "q1", "input": {asked % value}}}]'.encode())
    assert [error.item_id for error in refused.value.errors] == ["q1"]
    assert refused.value.errors[0].code in ("not_a_number", "number_too_large")


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"questi\ud800n": "어느 쪽이 옳은가?", "choices": "가"}, "lone_surrogate"),
        ({"question": "어느\x00 쪽", "choices": "가"}, "control_character"),
    ],
)
def test_a_question_that_cannot_be_stored_is_refused_with_its_place(asked, code):
    data = json.dumps([{"id": "q1", "input": "가"}, {"id": "q2", "input": asked}]).encode()
    with pytest.raises(InvalidFile) as refused:
        read_questions(data)
    assert [(error.code, error.item_id) for error in refused.value.errors] == [(code, "q2")]
