"""The rule of rounding before 6 August 2026 against ``round`` and scipy, and what it shares with the rule of now."""

from __future__ import annotations

import json
import math
from random import Random
from typing import Any

import pytest
from scipy.stats import spearmanr

from scoring.engine import score
from scoring.metrics import METRICS
from scoring.reading import read_predictions, read_references
from scoring.recipes import get_recipe
from scoring.signature import json_sha256

BEFORE, NOW = get_recipe("essay-scoring-half-even@1"), get_recipe("essay-scoring@1")
TRAITS = ("content", "organization", "expression")


def files(seed: int, items: int, step: float) -> tuple[bytes, bytes]:
    """References and predictions with scores from 1 to 5 in this step."""
    random = Random(seed)

    def one() -> float:
        return random.randrange(round(4 / step) + 1) * step + 1

    references, predictions = [], []
    for number in range(items):
        gold = {trait: one() for trait in TRAITS}
        row = {
            "id": f"e{number}",
            "document_id": f"d{number}",
            "prompt_num": "Q1",
            "prompt": "물음",
            "essay": "글이다.",
        }
        references.append({**row, "score": {**gold, "average": sum(gold.values()) / 3}})
        predictions.append({"id": f"e{number}", **{trait: {"score": one(), "rationale": "까닭"} for trait in TRAITS}})
    return json.dumps(references).encode(), json.dumps(predictions).encode()


def report_of(recipe: str, given: tuple[bytes, bytes]) -> Any:
    rule = get_recipe(recipe)
    references = read_references(given[0], rule)
    return score(recipe, references, read_predictions(given[1], rule, references), profile="demo", device="cpu")


@pytest.mark.parametrize("seed", range(20))
def test_scores_are_those_of_round_and_scipy(seed: int) -> None:
    given = files(seed, 40, 0.5 if seed % 2 else 0.05)
    gold = [row["score"]["average"] for row in json.loads(given[0])]
    mine = [sum(round(row[trait]["score"]) for trait in TRAITS) / 3 for row in json.loads(given[1])]
    scores = report_of(BEFORE.id, given).scores
    rmse = math.sqrt(sum((a - b) ** 2 for a, b in zip(mine, gold, strict=True)) / len(gold))
    assert scores["rmse"] == pytest.approx(rmse, abs=1e-12)
    assert scores["spearman"] == pytest.approx(spearmanr(mine, gold).statistic, abs=1e-12)


def test_halves_alone_make_the_difference_between_both_rules() -> None:
    halves, whole = files(1, 40, 0.5), files(1, 40, 1.0)
    assert report_of(BEFORE.id, halves).scores["rmse"] != report_of(NOW.id, halves).scores["rmse"]
    before, now = (report_of(recipe, whole).scores for recipe in (BEFORE.id, NOW.id))
    assert {name: now[name] for name in before} == dict(before)


def test_a_parse_failure_is_0_by_this_rule_too() -> None:
    references, predictions = files(2, 3, 0.5)
    rows = json.loads(predictions)
    rows[1] = {"id": "e1", "output": "점수 없음"}
    report = report_of(BEFORE.id, (references, json.dumps(rows).encode()))
    gold = [row["score"]["average"] for row in json.loads(references)]
    mine = [0.0 if "output" in row else sum(round(row[trait]["score"]) for trait in TRAITS) / 3 for row in rows]
    rmse = math.sqrt(sum((a - b) ** 2 for a, b in zip(mine, gold, strict=True)) / 3)
    assert report.scores["rmse"] == pytest.approx(rmse, abs=1e-12)
    assert report.scores["parse_failures"] == 1


def test_scores_of_both_rules_never_rank_against_each_other() -> None:
    given = files(3, 4, 1.0)
    assert len({json_sha256(report_of(recipe, given).signature) for recipe in (BEFORE.id, NOW.id)}) == 2


def test_values_that_do_not_depend_on_rounding_serve_both_rules() -> None:
    differing = {metric for metric in BEFORE.metrics if BEFORE.input_rule(metric) != NOW.input_rule(metric)}
    assert differing == {"essay_error", "essay_rank"}
    given = files(4, 12, 0.5)
    names = METRICS["essay_rationales"].score_names
    before, now = (report_of(recipe, given).scores for recipe in (BEFORE.id, NOW.id))
    assert {name: before[name] for name in names} == {name: now[name] for name in names}


def test_both_rank_alike_and_say_how_they_round() -> None:
    assert (BEFORE.composite, BEFORE.tie_breaks) == (NOW.composite, NOW.tie_breaks)
    assert BEFORE.file_shape == NOW.file_shape
    gone = {column.key for column in NOW.columns} - {column.key for column in BEFORE.columns}
    of_traits = {f"{score}_{trait}" for score in ("rmse", "spearman", "kappa") for trait in TRAITS}
    assert gone == of_traits | {"mae", "kappa", "bias", "integer_share"}, "what counts scores as they were given"
    assert len(BEFORE.columns) == len(NOW.columns) - len(gone)
    for language, name in (("ko", "짝수"), ("en", "even")):
        assert "floor" in NOW.rule(language)
        assert "floor" not in BEFORE.rule(language)
        assert name in BEFORE.rule(language)
