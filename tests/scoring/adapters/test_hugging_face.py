"""Metrics as modules of ``evaluate``: the same numbers. Skipped where that package is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

import scoring
from tests.scoring.lists.samples import PREDICTIONS, REFERENCES, SEVERAL

evaluate = pytest.importorskip("evaluate", reason="evaluate is not installed: pip install evaluate")
as_module = pytest.importorskip("scoring.adapters.hugging_face").as_module


@pytest.mark.parametrize("references", [REFERENCES, SEVERAL])
@pytest.mark.parametrize("name", ["chrf", "cider", "meteor_ko", "bleu"])
def test_a_module_gives_the_scores_of_lists(name: str, references: list[str] | list[list[str]], tmp_path: Path) -> None:
    computed = as_module(name, cache_dir=str(tmp_path)).compute(predictions=PREDICTIONS, references=references)

    assert computed == scoring.score(PREDICTIONS, references, [name]).scores


def test_a_text_is_no_list(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        as_module("chrf", cache_dir=str(tmp_path)).compute(predictions="파도", references="파도")


def test_batches_are_scored_as_one_corpus(tmp_path: Path) -> None:
    module = as_module("cider", cache_dir=str(tmp_path))
    for prediction, references in zip(PREDICTIONS, SEVERAL, strict=True):
        module.add(prediction=prediction, references=references)

    assert module.compute() == scoring.score(PREDICTIONS, SEVERAL, ["cider"]).scores


def test_modules_stand_beside_others(tmp_path: Path) -> None:
    modules = [as_module(name, cache_dir=str(tmp_path)) for name in ("chrf", "rouge1_okt")]
    computed = evaluate.combine(modules).compute(predictions=PREDICTIONS, references=REFERENCES)

    assert computed == scoring.score(PREDICTIONS, REFERENCES, ["chrf", "rouge1_okt"]).scores
