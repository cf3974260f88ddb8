"""Signatures: equal where numbers can be compared, different where they cannot."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from scoring.recipes import RECIPES, get_recipe
from scoring.signature import (
    build_signature,
    canonical_json,
    is_demo,
    metric_signatures,
    processor,
    references_sha256,
    signature_hash,
)
from tests.scoring.texts import answer_file

ROWS = [("a", "가가 옳다. 이유", "선택형"), ("b", "나가 옳다. 까닭", "교정형")]
ABOUT = {"profile": "demo", "is_demo": True}


def implementations(**changes):
    made = {name: {"metric": name, "version": 1} for name in ("exact_match", "bleurt", "bertscore", "rouge_1")}
    return made | changes


def build(recipe="rag-qa@1", references=None, about=ABOUT, **changes):
    file = references or answer_file(ROWS)
    return build_signature(get_recipe(recipe), file, implementations(**changes), about)


def test_hash_is_of_the_canonical_json_of_all_but_about():
    signature = build()
    without = {key: value for key, value in signature.items() if key != "about"}
    text = json.dumps(without, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert signature_hash(signature) == hashlib.sha256(text.encode()).hexdigest()


def test_signature_survives_json():
    signature = build()
    assert signature_hash(json.loads(json.dumps(signature))) == signature_hash(signature)


def test_layout_and_order_of_the_reference_file_change_nothing():
    file = answer_file(ROWS)
    relaid = replace(answer_file(ROWS[::-1]), sha256="0" * 64, format="jsonl")
    assert signature_hash(build(references=file)) == signature_hash(build(references=relaid))
    assert build(references=relaid)["about"]["references_file_sha256"] == "0" * 64


@pytest.mark.parametrize(
    "rows",
    [
        [("a", "가가 옳다. 이유!", "선택형"), ROWS[1]],
        [("c", "가가 옳다. 이유", "선택형"), ROWS[1]],
        [("a", "가가 옳다. 이유", "교정형"), ROWS[1]],
        [ROWS[0]],
    ],
)
def test_another_text_id_type_or_item_changes_the_hash(rows):
    assert references_sha256(answer_file(rows)) != references_sha256(answer_file(ROWS))
    assert signature_hash(build(references=answer_file(rows))) != signature_hash(build())


def with_items(**fields):
    """The references with ``fields`` in the first of their items."""
    file = answer_file(ROWS)
    return replace(file, items=(replace(file.items[0], **fields), *file.items[1:]))


def test_required_words_change_the_hash_where_there_are_any():
    hashes = [references_sha256(with_items(required=words)) for words in ((), ("가",), ("나",))]
    assert len(set(hashes)) == 3
    assert hashes[0] == references_sha256(answer_file(ROWS))


def test_the_input_is_signed_only_where_a_score_reads_it():
    for recipe, is_read in (("rag-qa@1", False), ("rag-qa@1+fluency", False), ("rag-qa@1+faithfulness", True)):
        signed = [build(recipe, with_items(input={"question": text}))["references"] for text in ("하나", "둘")]
        assert ("input_sha256" in signed[0]) is is_read
        assert (signed[0] != signed[1]) is is_read


def test_a_recipe_of_a_plug_in_names_it_with_a_judge_beside_it_too(monkeypatch):
    monkeypatch.setattr(type(RECIPES), "origin", lambda _self, name: {"plugin": {"distribution": f"of {name}"}})
    for recipe in ("rag-qa@1", "rag-qa@1+fluency"):
        assert build(recipe)["plugin"] == {"distribution": "of rag-qa@1"}


def test_profile_name_changes_nothing_but_the_model_does():
    assert signature_hash(build(about={"profile": "copy", "is_demo": False})) == signature_hash(build())
    assert signature_hash(build(bleurt={"metric": "bleurt", "weights_sha256": "f"})) != signature_hash(build())


def test_recipe_changes_the_hash_but_not_the_metric_signatures():
    official, strict = build("rag-qa@1"), build("rag-qa-strict@1")
    assert signature_hash(official) != signature_hash(strict)
    assert metric_signatures(official) == metric_signatures(strict)


def test_a_changed_em_rule_leaves_the_other_metric_signatures_alone():
    before, after = metric_signatures(build()), metric_signatures(build(exact_match={"rule": "exact-match@2"}))
    assert before.pop("exact_match") != after.pop("exact_match")
    assert before == after


def test_metric_signature_leaves_out_the_references():
    other = answer_file([("z", "다가 옳다.")])
    assert metric_signatures(build(references=other)) == metric_signatures(build())


def test_texts_fed_by_another_rule_change_the_metric_signature():
    rag = metric_signatures(build())
    culture = metric_signatures(build("culture-qa@1", accuracy={"metric": "accuracy"}))
    assert rag["rouge_1"] != culture["rouge_1"]


def test_normaliser_is_named():
    signature = build()
    assert signature["normalizer"] == "NFC"
    assert signature["metrics"]["rouge_1"]["normalizer"] == "NFC"


def test_canonical_json_has_one_text_for_one_value_and_no_nan():
    assert canonical_json({"나": 1, "가": [1.5, None]}) == '{"가":[1.5,null],"나":1}'.encode()
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(float("nan"))


def test_demo_is_read_from_the_signature():
    assert is_demo(build())
    assert not is_demo(build(about={"profile": "official", "is_demo": False}))
    assert not is_demo({})


def test_processor_is_the_one_that_the_kernel_names_or_else_that_python_knows(monkeypatch):
    monkeypatch.setattr(
        Path, "read_text", lambda *_, **__: "flags\t: a b\nmodel name\t: Swift 9\nmodel name\t: Slow 1\n"
    )
    assert processor.__wrapped__() == "Swift 9"

    monkeypatch.setattr(Path, "read_text", mock.Mock(side_effect=OSError))
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    for known, expected in (("C910", "C910"), ("", "riscv64")):
        monkeypatch.setattr("platform.processor", lambda known=known: known)
        assert processor.__wrapped__() == expected
