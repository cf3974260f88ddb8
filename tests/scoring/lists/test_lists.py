"""``scoring.score`` on lists: the numbers of the command line, arguments that are refused, what a result tells."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import scoring
from scoring.extras import MODULES, ExtraMissing, require_extra
from scoring.lists import errors
from scoring.reading import read_predictions, read_references
from scoring.recipes import get_recipe
from tests.scoring.command_line import run
from tests.scoring.lists.samples import PREDICTIONS, REFERENCES, SEVERAL

RECIPE = "captioning-lexical@1"


@pytest.fixture(scope="module")
def on_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The result of the command line on files of these captions, and their folder."""
    folder = tmp_path_factory.mktemp("files")
    ids = [f"scene-{place}" for place in range(len(PREDICTIONS))]
    texts = dict(zip(ids, SEVERAL, strict=True)), dict(zip(ids, PREDICTIONS, strict=True))
    for name, content in zip(("R.json", "P.json"), texts, strict=True):
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    files = [("--references", "R.json"), ("--predictions", "P.json"), ("--output", "OUT.json")]
    done = run("score", "--recipe", RECIPE, *(part for option, name in files for part in (option, folder / name)))
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "OUT.json").read_text(encoding="utf-8")), folder


def test_scores_items_and_signatures_are_those_of_the_command_line(on_files: tuple[dict[str, Any], Path]) -> None:
    out, folder = on_files
    recipe = get_recipe(RECIPE)
    known = read_references((folder / "R.json").read_bytes(), recipe)
    given = read_predictions((folder / "P.json").read_bytes(), recipe, known).by_id()
    ids = [item.id for item in known.items]

    result = scoring.score(
        [given[name].text for name in ids], [item.texts for item in known.items], recipe.metrics, ids=ids
    )

    assert dict(result.scores) == {name: value for name, value in out["scores"].items() if name != "final_score"}
    for mine, theirs in zip(result.items, out["items"], strict=True):
        assert mine.id == theirs["id"]
        assert {recipe.score_name(name): value for name, value in mine.scores.items()} == theirs["scores"]
    assert result.signature["metrics"] == out["signature"]["metrics"]
    assert result.signature["references"] == out["signature"]["references"]


def test_neural_metrics_say_that_a_model_is_a_demo() -> None:
    result = scoring.score(PREDICTIONS, SEVERAL, ["bertscore", "bleurt"], models="demo", device="cpu")

    assert set(result.scores) == {"bertscore", "bleurt"}
    assert [warning.code for warning in result.warnings] == ["demo_models"]
    assert result.signature["about"]["is_demo"]
    assert "데모 모델" in str(result)
    assert "model:demo-bertscore" in result.signature_lines["bertscore"]


def test_a_neural_metric_without_models_is_refused_and_says_how_to_get_them() -> None:
    with pytest.raises(errors.NoModelsNamed) as caught:
        scoring.score(PREDICTIONS, REFERENCES, ["chrf", "bleurt"])
    assert "malpan-score models fetch official" in caught.value.message("en")


LISTS = ["가", "나"]


@pytest.mark.parametrize(
    ("predictions", "references", "error"),
    [
        ("가나", "가나", errors.BareText),
        (LISTS, "가나", errors.BareText),
        (b"ab", LISTS, errors.BareText),
        ([["가"], ["나"]], LISTS, errors.Swapped),
        ([["가", "나"], "다"], [["가"], ["나"]], errors.Swapped),
        (LISTS, ["가"], errors.UnequalLengths),
        (LISTS, [["가", "나", "다"]], errors.UnequalLengths),
        (["가", "나", "다"], [["가", "나", "다"], ["라", "마", "바"]], errors.Transposed),
        (["가", None], LISTS, errors.NoText),
        (["가", 3], LISTS, errors.NoText),
        (LISTS, ["가", math.nan], errors.NoText),
        (LISTS, [["가"], [None]], errors.NoText),
        ({"1": "가"}, ["가"], errors.NoTextList),
        (LISTS, {"가", "나"}, errors.NoTextList),
        ((text for text in LISTS), LISTS, errors.NoTextList),
        (None, LISTS, errors.NoTextList),
        (LISTS, ["가", " "], errors.NoReference),
        (LISTS, ["가", []], errors.NoReference),
        ([], [], errors.NothingToScore),
    ],
)
def test_arguments_that_cannot_be_meant_are_refused(predictions: Any, references: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        scoring.score(predictions, references, ["chrf"])


def test_types_and_values_are_pythons_own_errors_too() -> None:
    assert issubclass(errors.BareText, TypeError)
    assert issubclass(errors.UnequalLengths, ValueError)
    assert issubclass(scoring.WrongArgument, ValueError)


def test_predictions_and_references_have_each_their_place() -> None:
    long, short = ["아주 긴 문장이 여기에 있다 그리고 더 있다"], ["긴 문장"]
    assert scoring.score(long, short, ["chrf"]).score != scoring.score(short, long, ["chrf"]).score


def test_tuples_arrays_and_columns_are_lists() -> None:
    numpy = pytest.importorskip("numpy")
    pandas = pytest.importorskip("pandas")
    expected = scoring.score(PREDICTIONS, REFERENCES, ["chrf"]).scores

    table = pandas.DataFrame({"p": PREDICTIONS, "r": REFERENCES})
    assert scoring.score(table["p"], table["r"], ["chrf"]).scores == expected
    assert scoring.score(tuple(PREDICTIONS), numpy.array(REFERENCES), ["chrf"]).scores == expected


@pytest.mark.parametrize(
    ("name", "error", "named"),
    [
        ("rouge_1", errors.UnknownMetric, "rouge1_mecab"),
        ("chrff", errors.UnknownMetric, "chrf"),
        ("llm_judge", errors.NotForLists, "malpan-score score"),
        ("squared_error", errors.NotForLists, "malpan-score score"),
        ("clipscore", errors.NeedsMedia, "media="),
    ],
)
def test_a_metric_that_cannot_score_texts_is_refused(name: str, error: type[errors.WrongArgument], named: str) -> None:
    with pytest.raises(error) as caught:
        scoring.score(PREDICTIONS, REFERENCES, [name])
    assert named in caught.value.message("en")


def test_metrics_are_a_list_too() -> None:
    with pytest.raises(errors.BareText) as caught:
        scoring.score(PREDICTIONS, REFERENCES, "chrf")
    assert "metrics=['chrf']" in caught.value.message("en")
    with pytest.raises(errors.NoMetricsNamed):
        scoring.score(PREDICTIONS, REFERENCES, [])


def test_a_reference_that_is_none_is_not_made_up_for_by_an_empty_one() -> None:
    with pytest.raises(errors.NoText) as caught:
        scoring.score(["파도"], [None], ["chrf"])  # type: ignore[list-item]
    assert "leave it out" in caught.value.message("en")
    assert "''" not in caught.value.message("ko")


def test_another_tokenizer_changes_the_score_and_the_signature() -> None:
    own, other, split = (
        scoring.score(PREDICTIONS, REFERENCES, ["bleu", "chrf"], tokenize=tokenize)
        for tokenize in ("okt", "mecab-ko", str.split)
    )
    plain = scoring.score(PREDICTIONS, REFERENCES, ["bleu", "chrf"])
    assert own.metric_signatures == plain.metric_signatures
    assert own.scores == plain.scores
    assert len({each.metric_signatures["bleu"] for each in (own, other, split)}) == 3
    assert len({each.scores["bleu_1"] for each in (own, other, split)}) == 3
    assert {each.scores["chrf"] for each in (own, other, split)} == {plain.scores["chrf"]}
    assert "tok:builtins.str.split()" in split.signature_lines["bleu"]


def test_words_of_a_function_are_the_tokens() -> None:
    result = scoring.score(["가 나 다 라"], ["가 나 다 마"], ["bleu"], tokenize=str.split)
    assert result.scores["bleu_1"] == pytest.approx(3 / 4, abs=1e-12)
    assert result.scores["bleu_2"] == pytest.approx((3 / 4 * 2 / 3) ** 0.5, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "tokenize", "error"),
    [
        ("meteor_ko", "mecab-ko", errors.TokenizerUnfit),
        ("meteor_ko", str.split, errors.TokenizerUnfit),
        ("bleu", "kiwi", errors.UnknownTokenizer),
        ("bleu", "okt-tagged", errors.UnknownTokenizer),
    ],
)
def test_a_tokenizer_that_does_not_fit_is_refused(name: str, tokenize: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        scoring.score(PREDICTIONS, REFERENCES, [name], tokenize=tokenize)


def test_texts_are_compared_in_nfc_and_that_is_said() -> None:
    result = scoring.score(["\u1100\u1161\u11a8"], ["각"], ["chrf", "exact_match"])
    assert result.scores == {"chrf": 1.0, "exact_match": 1.0}
    assert [warning.code for warning in result.warnings] == ["nfc_normalized"]


def test_scores_of_one_name_are_named_for_their_metrics() -> None:
    both = scoring.score(PREDICTIONS, REFERENCES, ["rouge1_okt", "rouge1_mecab"]).scores
    alone = scoring.score(PREDICTIONS, REFERENCES, ["rouge1_okt"]).scores
    assert set(both) == {"rouge1_okt", "rouge1_mecab"}
    assert alone == {"rouge_1": both["rouge1_okt"]}


def test_one_metric_scores_a_corpus_and_a_sentence() -> None:
    chrf = scoring.metric("chrf")
    assert chrf.corpus_score(PREDICTIONS, SEVERAL).score == scoring.score(PREDICTIONS, SEVERAL, ["chrf"]).score
    one = chrf.sentence_score(PREDICTIONS[0], SEVERAL[0]).score
    assert one == scoring.score(PREDICTIONS[:1], SEVERAL[:1], ["chrf"]).score
    assert chrf.sentence_score(PREDICTIONS[0], REFERENCES[0]).score <= one
    with pytest.raises(errors.Swapped):
        chrf.sentence_score(SEVERAL[0], PREDICTIONS[0])  # type: ignore[arg-type]
    with pytest.raises(errors.UnknownMetric):
        scoring.metric("chrrf")


def test_a_metric_of_a_corpus_has_no_sentence_score_and_one_of_several_scores_no_score() -> None:
    with pytest.raises(errors.NoSentenceScore):
        scoring.metric("cider").sentence_score("파도", "파도")
    with pytest.raises(errors.SeveralScores):
        _ = scoring.metric("bleu").corpus_score(PREDICTIONS, REFERENCES).score


def test_a_frame_has_a_row_for_each_item_in_order() -> None:
    pytest.importorskip("pandas")
    result = scoring.score(PREDICTIONS * 3, REFERENCES * 3, ["meteor", "chrf", "rouge1_okt"])
    frame = result.to_pandas()
    assert list(frame.columns) == ["meteor", "rouge1_okt", "chrf"]
    assert frame["chrf"].isna().all(), "it has no values of items"
    assert list(frame.index) == [f"{place:02}" for place in range(12)]
    assert frame["meteor"].mean() == pytest.approx(result.scores["meteor"], abs=1e-12)


def test_lines_are_equal_only_for_equal_signatures(tmp_path: Path) -> None:
    table = tmp_path / "synonyms.tsv"
    table.write_text("group\tword\tpos\tsource\n1\t파도\tnoun\ttest\n1\t물결\tnoun\ttest\n", encoding="utf-8")
    plain = scoring.score(PREDICTIONS, REFERENCES, ["meteor_ko"])
    again = scoring.score(PREDICTIONS[::-1], REFERENCES[::-1], ["meteor_ko"])
    other = scoring.score(PREDICTIONS, REFERENCES, ["meteor_ko"], synonyms=table)
    assert plain.signature_lines == again.signature_lines
    assert plain.signature_lines != other.signature_lines
    assert json.loads(plain.to_json())["signature_lines"] == plain.signature_lines


def test_a_library_that_is_missing_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODULES, "okt", ("jpype", "no_such_analyser"))
    with pytest.raises(ExtraMissing) as caught:
        require_extra("okt")
    assert "no_such_analyser" in caught.value.message("en")
    assert "jpype" not in caught.value.message("en")
    assert "pip install 'malpan-scoring[okt]'" in caught.value.message("ko")
