"""Metrics in tasks of lm-evaluation-harness: the same numbers. Skipped where that package is not installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import scoring
from tests.scoring.lists.samples import PREDICTIONS, REFERENCES, SEVERAL

lm_eval = pytest.importorskip("lm_eval", reason="lm-evaluation-harness is not installed: pip install lm-eval")
LM = pytest.importorskip("lm_eval.api.model").LM
ConfigurableTask = pytest.importorskip("lm_eval.api.task").ConfigurableTask
adapter = pytest.importorskip("scoring.adapters.lm_harness")

NAMES = [("chrf", None), ("cider", None), ("meteor_ko", None), ("bleu", "bleu_2")]
CALLED = [adapter.register(name, score) for name, score in NAMES]


class Parrot(LM):
    """Says what the question's number asks for."""

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        return [PREDICTIONS[int(request.args[0])] for request in requests]

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


def evaluated(folder: Path, references: list[Any], **config: Any) -> dict[str, float]:
    rows = [{"question": str(place), "answers": answers} for place, answers in enumerate(references)]
    (folder / "test.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    metrics = [{"metric": name, "aggregation": name, "higher_is_better": True} for name in CALLED]
    task = ConfigurableTask(
        config={
            "task": "captions_ko",
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": str(folder / "test.jsonl")}, "cache_dir": str(folder / "cache")},
            "test_split": "test",
            "output_type": "generate_until",
            "doc_to_text": "{{question}}",
            "metric_list": metrics,
            "generation_kwargs": {"until": ["\n"]},
            **config,
        }
    )
    results = lm_eval.simple_evaluate(model=Parrot(), tasks=[task], bootstrap_iters=0, log_samples=False)
    return {name: results["results"]["captions_ko"][f"{name},none"] for name in CALLED}


def expected(references: list[Any]) -> dict[str, float]:
    found = scoring.score(PREDICTIONS, references, [name for name, _ in NAMES]).scores
    return {called: found[score or name] for called, (name, score) in zip(CALLED, NAMES, strict=True)}


def test_a_task_gives_the_scores_of_lists(tmp_path: Path) -> None:
    assert evaluated(tmp_path, REFERENCES, doc_to_target="{{answers}}") == expected(REFERENCES)


def test_several_references_reach_the_metric(tmp_path: Path) -> None:
    pairs = adapter.several_references("answers", CALLED)
    assert evaluated(tmp_path, SEVERAL, doc_to_target="answers", process_results=pairs) == expected(SEVERAL)


def test_several_references_without_their_pairs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(adapter.PairsLost):
        evaluated(tmp_path, SEVERAL, doc_to_target="answers")
