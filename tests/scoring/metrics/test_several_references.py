"""ROUGE and BLEU of several references by hand: counts added up, or the mean."""

from __future__ import annotations

import pytest

from scoring.metrics.rouge import PARAMETERS
from scoring.metrics.several_references import MeanBleu1, PooledRouge1, PooledRougeL
from tests.scoring.caption_items import BySpace, metric_rows

REFERENCES = ["가 나", "나 가 다 라"]


def score(kind: type[PooledRouge1], references: list[list[str]], candidates: list[str]) -> float:
    metric = BySpace(kind())
    [found] = metric.aggregate(metric_rows(metric, references, candidates)).values()
    return found


def test_counts_are_added_up_before_the_f_is_made() -> None:
    """Of both words the first reference has two and the second too, but in another order."""
    assert score(PooledRouge1, [REFERENCES], ["가 나"]) == pytest.approx(2 * 4 / (4 + 6))
    assert score(PooledRougeL, [REFERENCES], ["가 나"]) == pytest.approx(2 * 3 / (4 + 6))


def test_a_line_is_a_sentence_to_rouge_l() -> None:
    assert score(PooledRougeL, [["가 나\n다 라"]], ["다 라\n가 나"]) == 1.0
    assert score(PooledRouge1, [["가 나\n다 라"]], ["다 라\n가 나"]) == 1.0


def test_bleu_is_the_mean_over_the_references() -> None:
    assert score(MeanBleu1, [["가 나", "다"]], ["가 나"]) == pytest.approx((1.0 + 0.0) / 2)


@pytest.mark.parametrize("kind", [PooledRouge1, PooledRougeL, MeanBleu1])
def test_the_score_is_the_mean_over_the_items(kind: type[PooledRouge1]) -> None:
    assert score(kind, [["가 나"], ["다"]], ["가 나", "라"]) == 0.5
    assert kind.aggregate([]) == {kind.score_names[0]: 0.0}


def test_the_settings_of_rouge_are_signed() -> None:
    assert PooledRouge1().parameters() == PooledRougeL().parameters() == PARAMETERS
