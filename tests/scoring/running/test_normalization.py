"""What NFC changed: said by kind, and beside a score its value without normalising."""

import json
import unicodedata

import pytest

from scoring.engine import score
from scoring.reading import read_predictions, read_references
from scoring.recipes import RECIPES, get_recipe, warning_text
from scoring.recipes.normalization import normalization_warnings
from tests.scoring.fakes import STORE
from tests.scoring.texts import answer_file

IDEOGRAPH = "\uf98e"  # 年 as a compatibility character, as Korean encodings have it
NFD = unicodedata.normalize("NFD", "한글")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (NFD, {"nfc_normalized": "U+1112 U+1161 U+11AB → U+D55C"}),
        ("\uac00\u11a8", {"nfc_normalized": "U+AC00 U+11A8 → U+AC01"}),
        (f"2026{IDEOGRAPH}", {"nfc_ideographs": "U+F98E → U+5E74"}),
        ("\U0002f800", {"nfc_ideographs": "U+2F800 → U+4E3D"}),
        ("cafe\u0301", {"nfc_other": "U+0065 U+0301 → U+00E9"}),
        ("xe\u0301", {"nfc_other": "U+0065 U+0301 → U+00E9"}),
        ("5 \u212b", {"nfc_other": "U+212B → U+00C5"}),
        (
            "e" + "\u0301" * 4,
            {"nfc_other": "U+0065 U+0301 U+0301 U+0301 … → U+00E9 U+0301 U+0301 U+0301"},
        ),
        ("\u0301e\u0301", {"nfc_other": "U+0065 U+0301 → U+00E9"}),
        (
            f"{NFD} {IDEOGRAPH} {IDEOGRAPH}",
            {"nfc_normalized": "U+1112 U+1161 U+11AB → U+D55C"} | {"nfc_ideographs": "U+F98E → U+5E74"},
        ),
        ("한글 年 café \ufa0e \u3131\u1112", {}),  # all NFC: a unified ideograph in that block, single letters
    ],
)
def test_what_was_changed_is_told_apart(text, found):
    warnings = normalization_warnings(answer_file([("a", text), ("b", "나")]))
    assert {warning.code: warning.params["example"] for warning in warnings} == found
    assert all(warning.params["count"] == 1 for warning in warnings)


def test_compatibility_ideographs_are_not_called_decomposed_hangul():
    [warning] = normalization_warnings(answer_file([("a", IDEOGRAPH), ("b", IDEOGRAPH * 2)]))
    assert "풀어쓴" not in warning_text(warning)
    assert "2개에 호환용 한자" in warning_text(warning)
    assert warning_text(warning, "en").startswith("Answers with compatibility ideographs, scored as NFC: 2.")


def of(code, report):
    return [dict(warning.params) for warning in report.warnings if warning.code == code]


@pytest.mark.usefixtures("fake_models")
def test_exact_match_without_normalising_stands_beside():
    """Two of four answers are right only in NFC: one for its own form, one for that of the reference."""
    references = answer_file([("a", "한글"), ("b", f"{IDEOGRAPH}度"), ("c", "다"), ("d", "라")])
    predictions = answer_file([("a", NFD), ("b", "年度"), ("c", "다"), ("d", NFD)])
    report = score("rag-qa@1", references, predictions, store=STORE)
    assert report.scores["exact_match"] == 0.75
    assert of("nfc_changed_score", report) == [
        {"count": 2, "value": 75.0, "official": 25.0, "label_ko": "EM", "label_en": "EM"}
    ]


@pytest.mark.usefixtures("fake_models")
def test_nothing_is_said_where_no_value_changed():
    report = score("rag-qa@1", answer_file([("a", "가")]), answer_file([("a", NFD)]), store=STORE)
    assert of("nfc_normalized", report)
    assert not of("nfc_changed_score", report)


@pytest.mark.parametrize(
    ("recipe_id", "gold", "given"),
    [
        ("classification-accuracy@1", "한글", NFD),
        ("multi-label@1", ["한글", "나"], [NFD, "나"]),
        ("target-accuracy@1", [{"id": "t", "label": "한글"}], [{"id": "t", "label": NFD}]),
    ],
)
def test_labels_as_written(recipe_id, gold, given):
    """Read from files: the raw labels are kept with the item."""
    recipe = get_recipe(recipe_id)
    rows = [{"id": "1", "output": {"answer": gold}}, {"id": "2", "output": {"answer": gold}}]
    references = read_references(json.dumps(rows).encode(), recipe)
    rows[0]["output"]["answer"] = given
    report = score(recipe_id, references, read_predictions(json.dumps(rows).encode(), recipe, references))
    assert report.scores["accuracy"] == 1
    params = next(one for one in of("nfc_changed_score", report) if one["label_en"] == "Accuracy")
    assert (params["count"], params["value"], params["official"]) == (1, 100.0, 50.0)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.id)
def test_every_rule_says_that_texts_are_normalised(recipe):
    assert "모든 글은 유니코드 NFC로 바꾼 뒤 채점" in recipe.rule("ko")
    assert "normalised to Unicode NFC first" in recipe.rule("en")
