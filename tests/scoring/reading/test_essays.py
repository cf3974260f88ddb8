"""Files of essay scoring: every form of an answer, every name of an id, and what is refused and where."""

from __future__ import annotations

import json

import pytest

from scoring.errors import InvalidFile
from scoring.reading import read_offered, read_predictions, read_references
from scoring.recipes import get_recipe
from scoring.text.essays import answer_of
from tests.scoring.essays import ESSAY, TRAITS, dumped, reference, traits

RECIPE = get_recipe("essay-scoring@1")
ROWS = [reference(1), reference(2), reference(3)]
KNOWN = read_references(dumped(ROWS), RECIPE)


def given(*answers, key="id", value="e"):
    return [{key: f"{value}{number}", **answer} for number, answer in enumerate(answers, 1)]


def errors_of(rows, *, known=KNOWN, as_lines=True):
    data = rows if isinstance(rows, bytes) else dumped(rows, as_lines=as_lines)
    with pytest.raises(InvalidFile) as refused:
        read_predictions(data, RECIPE, known)
    return [(error.code, error.line, error.item_id, error.field) for error in refused.value.errors]


def reference_errors(row):
    with pytest.raises(InvalidFile) as refused:
        read_references(dumped([reference(1), row], as_lines=True), RECIPE)
    for error in refused.value.errors:
        assert ESSAY[:10] not in error.message()
    return [(error.code, error.line, error.item_id, error.field) for error in refused.value.errors]


# --- what is read -----------------------------------------------------------------------------------------------------
FORMS = {
    "at the top": traits(4.5, 3, 2),
    "judge": {"judge": traits(4.5, 3, 2)},
    "output as text": {"output": "```json\n" + json.dumps(traits(4.5, 3, 2)) + "\n```"},
    "output as object": {"output": traits(4.5, 3, 2)},
    "answer in output": {"output": {"answer": json.dumps(traits(4.5, 3, 2))}},
    "with the question": {"prompt_num": "Q1", "essay": ESSAY, "score": None, "output": traits(4.5, 3, 2)},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("as_lines", [True, False])
@pytest.mark.parametrize("is_checked_alone", [True, False])
def test_the_traits_are_read_wherever_they_stand(form: str, as_lines: bool, is_checked_alone: bool) -> None:
    rows = [FORMS[form] | {"id": f"e{number}"} for number in (1, 2, 3)]
    items = read_predictions(dumped(rows, as_lines=as_lines), RECIPE, None if is_checked_alone else KNOWN)
    assert [item.id for item in items.items] == ["e1", "e2", "e3"]
    for item in items.items:
        answer = answer_of(item.text)
        assert [(answer[trait].score, answer[trait].rationale) for trait in TRAITS] == [
            (4.5, "까닭"),
            (3.0, "까닭"),
            (2.0, "까닭"),
        ]


def test_a_file_may_mix_forms_and_names_of_ids() -> None:
    rows = [
        {"essay_id": "e3", "output": "모르겠다"},
        {"document_id": "doc-1", "judge": traits(4)},
        {"id": "doc-2", **traits(5)},
    ]
    items = read_predictions(dumped(rows), RECIPE, KNOWN)
    assert {item.id: answer_of(item.text) is None for item in items.items} == {"e3": True, "e1": False, "e2": False}


def test_one_line_of_json_lines_is_a_file() -> None:
    for answer in FORMS.values():
        assert len(read_predictions(dumped([{"id": "e1"} | answer], as_lines=True), RECIPE).items) == 1
    assert len(read_references(dumped(ROWS[:1], as_lines=True), RECIPE).items) == 1


def test_a_reference_keeps_what_scoring_reads_and_what_was_asked() -> None:
    item = KNOWN.items[0]
    assert json.loads(item.text) == {
        **dict.fromkeys((*TRAITS, "average"), 3.0),
        "prompt_num": "Q2",
        "essay": ESSAY,
    }
    assert set(item.input) == {"document_id", "prompt_num", "prompt", "essay"}
    assert KNOWN.aliases == {f"doc-{number}": f"e{number}" for number in (1, 2, 3)}
    short = {key: value for key, value in reference(1).items() if key not in ("document_id", "prompt_num", "prompt")}
    assert read_references(dumped([short | {"prompt_num": 7}]), RECIPE).items[0].input["prompt_num"] == "7"
    assert read_references(dumped([short]), RECIPE).aliases == {}


def test_the_content_of_references_is_signed_with_its_essays() -> None:
    other = [ROWS[0] | {"essay": ESSAY + "."}, *ROWS[1:]]
    assert read_references(dumped(other), RECIPE).items[0].text != KNOWN.items[0].text


def test_decomposed_hangul_is_composed_and_counted() -> None:
    nfd = "\u1112\u1161\u11ab"
    rows = given(
        traits(3, rationale=nfd), {"output": json.dumps(traits(3, rationale=nfd), ensure_ascii=False)}, traits(3)
    )
    items = read_predictions(dumped(rows), RECIPE, KNOWN)
    assert items.normalized_ids == ("e1", "e2")
    assert all("한" in item.text and nfd in item.as_written().text for item in items.items[:2])


def test_a_file_of_references_is_offered_as_answers_for_the_search_of_leaks() -> None:
    leaked = read_offered(dumped(ROWS), RECIPE, KNOWN)
    assert [item.text for item in leaked.items] == [item.text for item in KNOWN.items]
    layout = RECIPE.prepare(KNOWN, leaked)
    assert layout.coverage == {"items": 3, "answered": 0}


# --- what is refused --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("score", "code"),
    [
        *((score, "score_out_of_range") for score in (0, 5.01, -1, 0.999, 100)),
        *((score, "wrong_type") for score in (True, "4", None, [4], {"score": 4})),
        (float("nan"), "not_a_number"),
        (float("inf"), "not_a_number"),
    ],
)
@pytest.mark.parametrize("place", ["", "judge"])
def test_a_score_that_is_none_is_named_with_line_id_and_trait(score: object, code: str, place: str) -> None:
    bad = traits(4, score, 4)
    rows = given(traits(3), {place: bad} if place else bad, traits(3))
    field = f"{place}.organization.score".removeprefix(".")
    assert errors_of(rows) == [(code, 2, "e2", field)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"content": {"score": 3}, "expression": {"score": 3}}, [("missing_field", "organization")]),
        (traits(3) | {"content": 3}, [("wrong_type", "content")]),
        (traits(3) | {"content": {"rationale": ""}}, [("missing_field", "content.score")]),
        (traits(3) | {"content": {"scor": 3}}, [("misspelled_field", "content.score")]),
        (traits(3) | {"content": {"score": 3, "rationale": 5}}, [("wrong_type", "content.rationale")]),
        ({"output": None}, [("wrong_type", "output")]),
        ({"output": 3}, [("wrong_type", "output")]),
        ({"judge": "…"}, [("wrong_type", "judge")]),
        ({"judge": {}}, [("missing_field", f"judge.{trait}") for trait in TRAITS]),
        ({"outptu": "…"}, [("misspelled_field", "outptu")]),
        ({"essay": ESSAY}, [("no_trait_scores", None)]),
        (traits(3) | {"output": "…"}, [("several_answers", None)]),
        ({"judge": traits(3), "output": "…"}, [("several_answers", "judge")]),
        ({"output": "\x00"}, [("control_character", "output")]),
    ],
)
def test_other_defects_are_named(answer: dict[str, object], expected: list[tuple[str, str | None]]) -> None:
    found = errors_of(given(traits(3), answer, traits(3)))
    assert found == [(code, 2, "e2", field) for code, field in expected]


def test_scores_that_a_raw_text_holds_are_no_defect_of_the_file() -> None:
    rows = given({"output": json.dumps(traits(7))}, {"output": json.dumps(traits(None))}, {"output": ""})
    scores = [answer_of(item.text) for item in read_predictions(dumped(rows), RECIPE, KNOWN).items]
    assert [answer and answer["content"].score for answer in scores] == [7.0, None, None]


def test_an_essay_named_twice_is_found_whatever_its_name() -> None:
    rows = [{"id": "e1", **traits(3)}, {"document_id": "doc-1", **traits(4)}, {"essay_id": "e3", **traits(3)}]
    assert errors_of(rows) == [("duplicate_id", 2, "doc-1", "document_id"), ("missing_essay", None, "e2", None)]
    same = [{"id": "e1", **traits(3)}, {"essay_id": "e1", **traits(3)}]
    assert errors_of(same, known=None) == [("duplicate_id", 2, "e1", "essay_id")]


def test_names_that_mean_two_essays_are_refused() -> None:
    rows = [reference(1), reference(2) | {"document_id": "e1"}, reference(3), reference(4) | {"document_id": "doc-3"}]
    known = read_references(dumped(rows), RECIPE)
    assert known.aliases == {"doc-1": "e1", "e1": "e2", "doc-3": None}
    answers = [{"id": "e1", **traits(3)}, {"document_id": "e1", **traits(3)}, {"id": "e3", **traits(3)}]
    answers.append({"id": "e4", **traits(3)})
    assert [item.id for item in read_predictions(dumped(answers), RECIPE, known).items] == ["e1", "e2", "e3", "e4"]
    answers[0] = {"essay_id": "e1", **traits(3)}
    answers[2] = {"document_id": "doc-3", **traits(3)}
    found = errors_of(answers, known=known)
    assert found[:2] == [("ambiguous_id", 1, "e1", "essay_id"), ("ambiguous_id", 3, "doc-3", "document_id")]
    assert {code for code, *_ in found[2:]} == {"unmatched_id"}


def test_two_names_of_one_item_must_agree() -> None:
    rows = given(*[traits(3)] * 3)
    agreeing = [row | {"document_id": f"doc-{number}", "essay_id": "x"} for number, row in enumerate(rows, 1)]
    assert len(read_predictions(dumped(agreeing), RECIPE, KNOWN).items) == 3
    rows[1]["document_id"] = "doc-3"
    assert errors_of(rows) == [("ids_disagree", 2, "e2", "id")]


def test_an_unknown_and_a_missing_essay_are_named() -> None:
    rows = [*given(traits(3), traits(3)), {"essay_id": "x", **traits(3)}]
    assert errors_of(rows) == [("unknown_id", 3, "x", "essay_id"), ("missing_essay", None, "e3", None)]
    rows[2] = traits(3)
    assert errors_of(rows)[0] == ("missing_field", 3, None, "id")


def test_what_is_to_be_written_is_said_in_the_form_of_the_task() -> None:
    with pytest.raises(InvalidFile) as refused:
        read_predictions(
            dumped([*given(traits(3), {"content": 4, "organization": 4, "expression": 4}), 3]), RECIPE, KNOWN
        )
    texts = {error.code: error.message() for error in refused.value.errors}
    assert set(texts) == {"wrong_type", "essay_not_object", "unmatched_id"}
    assert '{"score": 4, "rationale": "..."}' in texts["wrong_type"]
    assert "answer" not in texts["essay_not_object"]
    with pytest.raises(InvalidFile) as refused:
        read_predictions(dumped(given(traits(3), traits(3))), RECIPE, KNOWN)
    assert '"output": ""' in refused.value.errors[-1].message()


def test_questions_without_answers_get_one_sentence() -> None:
    questions = [{key: value for key, value in row.items() if key != "score"} for row in ROWS]
    assert errors_of(questions) == [("no_trait_scores_at_all", None, None, None)]
    with pytest.raises(InvalidFile) as refused:
        read_references(dumped(questions), RECIPE)
    assert [error.code for error in refused.value.errors] == ["no_reference_scores"]
    assert all(name in refused.value.errors[0].message() for name in (*TRAITS, "average", "essay"))


@pytest.mark.parametrize(
    ("score", "code", "field"),
    [
        ({**dict.fromkeys(TRAITS, 3)}, "missing_field", "score.average"),
        (dict.fromkeys(("content", "expression", "average"), 3), "missing_field", "score.organization"),
        (dict.fromkeys((*TRAITS, "average"), 3) | {"average": 5.2}, "score_out_of_range", "score.average"),
        (dict.fromkeys((*TRAITS, "average"), 3) | {"content": "3"}, "wrong_type", "score.content"),
        (dict.fromkeys((*TRAITS, "average"), 3) | {"content": True}, "wrong_type", "score.content"),
        (dict.fromkeys((*TRAITS, "average"), 3) | {"content": float("nan")}, "not_a_number", "score.content"),
        (3, "wrong_type", "score"),
    ],
)
def test_bad_references_are_located(score: object, code: str, field: str) -> None:
    assert reference_errors(reference(2) | {"score": score}) == [(code, 2, "e2", field)]


def test_references_need_their_essays_and_ids_once() -> None:
    row = reference(2)
    assert reference_errors(row | {"essay": " "}) == [("empty_reference", 2, "e2", "essay")]
    assert reference_errors({key: row[key] for key in row if key != "essay"}) == [("missing_field", 2, "e2", "essay")]
    assert reference_errors(row | {"id": "e1"}) == [("duplicate_reference_id", 2, "e1", "id")]
    assert reference_errors(row | {"prompt_num": 1.5}) == [("wrong_type", 2, "e2", "prompt_num")]
