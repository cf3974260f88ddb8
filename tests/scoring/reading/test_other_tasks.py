"""Files of another task or contest: one sentence, whatever their size."""

from __future__ import annotations

import json

import pytest

from scoring.errors import InvalidFile
from scoring.reading import read_predictions, read_references
from scoring.recipes import get_recipe
from tests.scoring.essays import dumped, reference, traits

COUNT = 300
ROWS = {
    "answers_file": lambda n: {"id": f"q-{n}", "input": {"question_type": "교정형"}, "output": {"answer": "가 옳다"}},
    "captions_file": lambda n: {"image_id": f"c-{n}", "caption": "아이가 눈싸움을 한다"},
    "essays_file": lambda n: {"id": f"e-{n}", **traits(3)},
    "essay_references_file": reference,
}
RECIPES = {"answers_file": "rag-qa@1", "captions_file": "captioning-lexical@1", "essays_file": "essay-scoring@1"}


def file_of(kind: str, count: int = COUNT) -> bytes:
    return dumped([ROWS[kind](number) for number in range(count)], as_lines=True)


def known_of(kind: str):
    return read_references(file_of({"essays_file": "essay_references_file"}.get(kind, kind)), get_recipe(RECIPES[kind]))


def refusal(kind: str, data: bytes) -> InvalidFile:
    with pytest.raises(InvalidFile) as refused:
        read_predictions(data, get_recipe(RECIPES[kind]), known_of(kind))
    return refused.value


@pytest.mark.parametrize("given", ROWS)
@pytest.mark.parametrize("meant", RECIPES)
def test_a_file_of_another_task_is_named_in_one_line(meant: str, given: str) -> None:
    if meant == given:
        assert len(known_of(meant).items) == COUNT
        return
    invalid = refusal(meant, file_of(given))
    [error] = invalid.errors
    assert (error.code, invalid.total) == ("other_task_file", 1)
    assert error.params == {"task": given, "meant": meant}
    assert "파일로 보입니다" in error.message()
    assert "This looks like a file of" in error.message("en")


@pytest.mark.parametrize("given", ["answers_file", "captions_file", "essays_file"])
def test_references_of_essays_are_told_from_other_files(given: str) -> None:
    with pytest.raises(InvalidFile) as refused:
        read_references(file_of(given), get_recipe("essay-scoring@1"))
    assert [error.code for error in refused.value.errors] == ["other_task_file"]
    assert refused.value.errors[0].params["meant"] == "essay_references_file"


@pytest.mark.parametrize("kind", RECIPES)
def test_a_file_of_another_contest_of_the_same_task_is_named_in_one_line(kind: str) -> None:
    rows = json.loads("[" + ",".join(file_of(kind).decode().splitlines()) + "]")
    key = "image_id" if kind == "captions_file" else "id"
    invalid = refusal(kind, dumped([row | {key: f"other-{row[key]}"} for row in rows]))
    assert ([error.code for error in invalid.errors], invalid.total) == (["no_known_id"], 1)


def test_one_item_of_another_kind_keeps_the_errors_of_the_others() -> None:
    rows = [ROWS["essays_file"](number) for number in range(COUNT)]
    names = [reference(number)["id"] for number in range(COUNT)]
    rows = [row | {"id": name} for row, name in zip(rows, names, strict=True)]
    rows[7] = ROWS["captions_file"](7)
    codes = [error.code for error in refusal("essays_file", dumped(rows)).errors]
    assert codes == ["missing_field", "no_trait_scores", "unmatched_id"]


@pytest.mark.parametrize(
    ("recipe", "rows", "code"),
    [
        ("regression@1", [{"id": "a", "output": 1}, {"id": "b", "output": 2}], "missing_number"),
        (
            "target-accuracy@1",
            [{"id": name, "output": [{"id": f"{name}.1", "label": "x"}]} for name in "ab"],
            "missing_labels",
        ),
        (
            "aspect-sentiment@1",
            [{"id": name, "output": [["본품#품질", "positive"]]} for name in "ab"],
            "missing_opinions",
        ),
        ("classification@1", [{"id": "a", "output": "x"}, {"id": "b", "output": "y"}], "missing_id"),
    ],
)
def test_a_missing_answer_is_asked_for_in_the_form_of_the_recipe(recipe: str, rows: list[dict], code: str) -> None:
    references = read_references(dumped(rows), get_recipe(recipe))
    with pytest.raises(InvalidFile) as refused:
        read_predictions(dumped(rows[:1]), get_recipe(recipe), references)
    error = refused.value.errors[-1]
    assert (error.code, error.item_id) == (code, "b")
    assert ("빈 문자열" in error.message()) is (code == "missing_id")
