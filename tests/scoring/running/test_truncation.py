"""Texts that a model does not read to the end are reported, on both sides, whatever was known of them before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scoring.cli import main
from scoring.engine import score
from scoring.metrics import load_metric
from scoring.models.limits import Cut, most_tokens
from scoring.models.store import ModelStore
from scoring.recipes import Layout, Pairs
from scoring.recipes.warning_texts import warning_text
from scoring.records import Items
from scoring.running.truncation import truncation_warnings
from tests.scoring.memory_store import MemoryPairValues
from tests.scoring.texts import answer_file, contest_json
from tests.scoring.tiny_models import (
    STRANGE,
    make_bert,
    make_sentencepiece_bleurt,
    one_thread,
    write_profile,
)

SHORT = "조사는 앞말에 붙여 쓴다."
HALF = "의존 명사는 앞말과 띄어 쓴다 " * 22  # more than half of what the models read, less than all
LONG = "의존 명사는 앞말과 띄어 쓴다 " * 60
TRUNCATED = ("bertscore_truncated", "bleurt_truncated")


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    bert, bleurt = make_bert(folder / "bert"), make_sentencepiece_bleurt(folder / "bleurt", pieces="char")
    return write_profile(folder / "profile.toml", bertscore=bert, bleurt=bleurt)


def files(*reasons: tuple[str, str]) -> tuple[Items, Items]:
    sides = zip(*reasons, strict=True)
    gold, given = ([(f"q{n}", f"앎이 옳다. {text}") for n, text in enumerate(side)] for side in sides)
    return answer_file(gold), answer_file(given)


def truncated_counts(report_warnings) -> dict[str, tuple[int, int]]:
    return {
        warning.code: (warning.params["references"], warning.params["candidates"])
        for warning in report_warnings
        if warning.code in TRUNCATED
    }


def test_texts_longer_than_the_models_read_are_counted_on_both_sides(profile):
    rows = files((SHORT, SHORT), (LONG, LONG + "끝"), (SHORT, LONG), (HALF, HALF + "끝"), (SHORT, HALF))
    report = score("rag-qa@1", *rows, store=ModelStore(profile, "cpu"))
    assert truncated_counts(report.warnings) == {"bertscore_truncated": (1, 2), "bleurt_truncated": (2, 3)}
    for warning in report.warnings:
        if warning.code in TRUNCATED:
            assert all(str(warning.params["limit"]) in warning_text(warning, language) for language in ("ko", "en"))


def test_two_answers_that_differ_beyond_the_limit_score_alike_and_the_score_says_so(profile):
    rows = files((LONG + SHORT * 20, LONG + "전혀 다른 이야기를 한다. " * 20))
    report = score("rag-qa@1", *rows, store=ModelStore(profile, "cpu"))
    assert report.scores["bertscore"] > 0.99999
    assert truncated_counts(report.warnings)["bertscore_truncated"] == (1, 1)


def test_short_texts_load_no_tokenizer_and_tell_nothing(profile):
    store, pairs = ModelStore(profile, "cpu"), Pairs(("q0",), ((SHORT,),), (SHORT,))
    metrics = {name: load_metric(name, store) for name in ("bertscore", "bleurt")}
    assert truncation_warnings(metrics, Layout(pairs.ids, dict.fromkeys(metrics, pairs))) == []
    assert not any(name.startswith("tokenizer") for name in store._loaded)


def test_a_file_scored_from_what_is_known_says_the_same(profile):
    known, rows = MemoryPairValues(), files((LONG, LONG), (SHORT, LONG))
    first = score("rag-qa@1", *rows, store=ModelStore(profile, "cpu"), pair_values=known)
    store = ModelStore(profile, "cpu")
    again = score("rag-qa@1", *rows, store=store, pair_values=known)
    assert again.warnings == first.warnings
    assert not {"bertscore", "bleurt"} & store._loaded.keys()  # the tokenizers are enough


@pytest.mark.parametrize("length", [509, 510, 511])
def test_a_text_that_just_fits_is_not_told(tmp_path, length):
    """510 tokens and the two special ones are all that the model reads."""
    profile = write_profile(tmp_path / "p.toml", bertscore=make_bert(tmp_path / "bert"))
    metric = load_metric("bertscore", ModelStore(profile, "cpu"))
    assert metric.cut(["가" + " 가" * (length - 1)], ["가"]) == [Cut(length > 510, False)]


@pytest.mark.parametrize("text", [*STRANGE, LONG, "\ufdfa" * 30, "ㅏ각①" * 40])
def test_no_tokenizer_makes_more_tokens_than_are_foretold(profile, text):
    store = ModelStore(profile, "cpu")
    assert len(store.bleurt_tokenizer._pieces(text)) <= most_tokens(text)
    assert store.bertscore_tokenizer._whole_length(text) - 2 <= most_tokens(text)


@pytest.mark.parametrize("with_references", [True, False])
def test_check_tells_it_before_any_scoring(profile, tmp_path, capsys, with_references):
    (tmp_path / "R.json").write_text(contest_json([("q0", f"앎이 옳다. {SHORT}")]), encoding="utf-8")
    (tmp_path / "P.json").write_text(contest_json([("q0", f"앎이 옳다. {LONG}")]), encoding="utf-8")
    given = ["--references", str(tmp_path / "R.json")] if with_references else []
    arguments = ["check", "--recipe", "rag-qa@1", "--predictions", str(tmp_path / "P.json"), *given]
    assert main([*arguments, "--models", str(profile)]) == 0
    shown = capsys.readouterr().out
    assert "BLEURT 모델은" in shown
    assert "BERTScore 모델은" in shown


@pytest.mark.usefixtures("hub_cache", "no_network")
def test_check_says_nothing_of_models_that_are_not_here(tmp_path, capsys):
    (tmp_path / "P.json").write_text(contest_json([("q0", f"앎이 옳다. {LONG}")]), encoding="utf-8")
    assert main(["check", "--recipe", "rag-qa@1", "--predictions", str(tmp_path / "P.json")]) == 0
    assert "모델은" not in capsys.readouterr().out
