"""The how-tos of ``EXTENDING.md`` that are no plug-ins: a file format, and a metric on a model that is there."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scoring.cli import main
from scoring.engine import score
from scoring.errors import Message
from scoring.metrics import METRICS, is_neural
from scoring.reading import file_formats, read_predictions, read_references
from scoring.recipes import RECIPES, get_recipe
from scoring.recipes.base import Column
from scoring.recipes.columns import FINAL
from scoring.recipes.generation import Generation
from scoring.running.truncation import foreseen_warnings
from tests.scoring.test_plugins import block
from tests.scoring.texts import answer_file

LONG = "글자 " * 400


def code_of(name: str) -> SimpleNamespace:
    found: dict[str, Any] = {}
    exec(block(name), found)
    return SimpleNamespace(**found)


@pytest.fixture
def colons(monkeypatch: pytest.MonkeyPatch) -> None:
    code = code_of("reading/colons.py")
    monkeypatch.setitem(file_formats.FORMAT_LABELS, "colons", Message("쌍점 표", "Lines with colons"))
    table = file_formats.Table("colons", code.has_colons, code.colon_rows)
    monkeypatch.setattr("scoring.reading.caption_files.TABLES", [table, *file_formats.TABLES])


@pytest.mark.usefixtures("colons")
def test_a_file_format_is_a_reader_and_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = get_recipe("captioning-lexical@1")
    references = read_references("a: 고양이가 잔다\na: 고양이가 누워 있다\nb: 개가 뛴다\n".encode(), recipe)
    assert references.format == "colons"
    assert references.items[0].texts == ("고양이가 잔다", "고양이가 누워 있다")
    predictions = tmp_path / "P.txt"
    predictions.write_text("a: 고양이: 잔다\nc: 개\n", encoding="utf-8")
    assert main(["check", "--recipe", recipe.id, "--predictions", str(predictions)]) == 0
    assert "쌍점 표" in capsys.readouterr().out
    read = read_predictions(predictions.read_bytes().replace(b"c:", b"b:"), recipe, references)
    assert [(item.id, item.text, item.line) for item in read.items] == [("a", "고양이: 잔다", 1), ("b", "개", 2)]


@pytest.fixture
def word_pieces(monkeypatch: pytest.MonkeyPatch) -> Generation:
    metric = code_of("word_pieces.py").WordPieces
    monkeypatch.setitem(METRICS.entries, metric.name, metric)
    recipe = Generation(
        id="pieces@1",
        name=Message("조각", "Pieces"),
        metrics=(metric.name,),
        columns=(FINAL, Column(metric.name, metric.label)),
        tie_breaks=(),
        question_types=(),
        rule_text=Message("낱말 조각의 평균.", "Mean of word pieces."),
    )
    monkeypatch.setitem(RECIPES.entries, recipe.id, recipe)
    return recipe


def test_a_metric_may_compute_with_a_model_that_is_called_otherwise(word_pieces: Generation) -> None:
    references = answer_file([("1", "책을 읽는다", None), ("2", LONG, None)])
    predictions = answer_file([("1", "책을 읽는다", None), ("2", "책", None)])
    assert is_neural("word_pieces")
    assert word_pieces.model_scores == {"final_score", "word_pieces"}

    report = score(word_pieces.id, references, predictions, profile="demo", device="cpu")

    assert report.items[0].scores["word_pieces"] == 1.0
    assert 0 < report.items[1].scores["word_pieces"] < 0.5
    signed = json.loads(json.dumps(report.signature["metrics"]["word_pieces"]))
    assert signed["weights_sha256"]
    cut = [warning for warning in report.warnings if warning.code == "word_pieces_truncated"]
    assert [(warning.params["references"], warning.params["candidates"]) for warning in cut] == [(1, 0)]
    assert foreseen_warnings(word_pieces, references, predictions, "demo") == cut
