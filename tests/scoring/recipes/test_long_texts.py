"""Very long texts: metrics get their beginning, and a warning names the items."""

import json
from dataclasses import replace

import pytest

from scoring.engine import score
from scoring.reading import read_predictions, read_references
from scoring.recipes import Pairs, get_recipe, warning_text
from scoring.recipes.long_texts import read_part
from scoring.text.cutting import READ_RUN_CHARS
from tests.scoring.texts import answer_file


def test_a_very_long_answer_is_scored_by_its_beginning_and_named():
    loop = "되풀이한 이유. " * 1_500
    references = answer_file(
        [("a", "가가 옳다. 이유"), ("b", "나가 옳다. " + "긴 이유 " * 2_600), ("c", "가" * 13_000)]
    )
    predictions = answer_file([("a", f"가가 옳다. {loop}"), ("b", "나가 옳다. 이유"), ("c", "가" * 13_000)])
    prepared = get_recipe("rag-qa@1").prepare(references, predictions)

    assert prepared.pairs["rouge1_mecab"].candidates == (loop[:10_000], "이유")
    assert prepared.pairs["rouge1_mecab"] is prepared.pairs["bleurt"]
    assert [len(text) for (text,) in prepared.pairs["rouge1_mecab"].references] == [2, 10_000]
    assert prepared.pairs["exact_match"].candidates[2] == "가" * 13_000  # compared whole
    answers, of_references = prepared.warnings
    assert (answers.code, answers.params["items"]) == ("texts_cut", "a (10,000/13,499)")
    assert (of_references.code, of_references.params["items"]) == ("references_cut", "b (10,000/12,999)")
    assert "처음 10,000자" in warning_text(answers)
    assert "first 10,000 characters" in warning_text(answers, "en")


def test_choices_and_short_answers_are_compared_to_their_last_letter():
    long = "가" * 13_000
    rows = {"1": ("선다형", "accuracy"), "2": ("단답형", "exact_match")}
    references = answer_file([(item, f"{long}나", kind) for item, (kind, _metric) in rows.items()])
    predictions = answer_file([(item, f"{long}다", kind) for item, (kind, _metric) in rows.items()])
    prepared = get_recipe("culture-qa@1").prepare(references, predictions)
    for _kind, metric in rows.values():
        pairs = prepared.pairs[metric]
        assert (pairs.references, pairs.candidates) == (((f"{long}나",),), (f"{long}다",))


def test_ordinary_texts_are_the_same_objects_for_every_metric():
    file = answer_file([("a", "'읽음'이 옳다. 어간에 받침이 있다.")])
    prepared = get_recipe("rag-qa@1").prepare(file, file)
    assert replace(prepared, warnings=()).pairs["bleurt"] is prepared.pairs["bleurt"]
    assert not {"texts_cut", "references_cut"} & {warning.code for warning in prepared.warnings}


def test_only_some_of_many_long_items_are_named():
    rows = [(f"q-{number}", "가 " * 6_000) for number in range(12)]
    [warning] = (
        get_recipe("dialogue-summary@1").prepare(answer_file([(i, "가") for i, _ in rows]), answer_file(rows)).warnings
    )
    assert warning.params["count"] == 12
    assert warning.params["items"].endswith("q-9 (10,000/12,000) …")


@pytest.mark.parametrize(
    ("recipe_id", "answer"),
    [
        ("multi-label@1", [f"분류가-{number}" for number in range(150)] + ["긴" * 12_000]),
        ("target-accuracy@1", [{"id": f"대상-{number}", "label": "부적절" * 10} for number in range(150)]),
        ("aspect-sentiment@1", [[f"제품 전체#품질-{number}", "글" * 40, "positive"] for number in range(150)]),
    ],
)
def test_lists_of_labels_are_read_whole(recipe_id, answer):
    """Their text is JSON of thousands of characters: half of it could not be read."""
    recipe = get_recipe(recipe_id)
    data = json.dumps([{"id": "1", "output": answer}, {"id": "2", "output": answer[:1]}], ensure_ascii=False).encode()
    references = read_references(data, recipe)
    assert max(len(item.text) for item in references.items) > READ_RUN_CHARS
    report = score(recipe_id, references, read_predictions(data, recipe, references))
    assert report.final_score == 1
    assert "texts_cut" not in {warning.code for warning in report.warnings}


def test_a_run_that_just_fits_is_left_as_it_is():
    fits, longer = (Pairs(("a",), (("가" * count,),), ("나",)) for count in (READ_RUN_CHARS, READ_RUN_CHARS + 1))
    assert read_part(fits) is fits
    assert read_part(longer).references == (("가" * READ_RUN_CHARS,),)


def test_ten_long_items_are_all_named_by_the_beginnings_of_their_ids():
    rows = [(f"{number}" + "q" * 199, "가 " * 6_000) for number in range(9)] + [("z" * 201, "가 " * 6_000)]
    short = [(item, "가") for item, _text in rows]
    [warning] = get_recipe("dialogue-summary@1").prepare(answer_file(short), answer_file(rows)).warnings
    assert warning.params["items"].startswith(f"0{'q' * 199} (10,000/12,000), 1q")
    assert warning.params["items"].endswith(f", {'z' * 200}… (10,000/12,000)")
