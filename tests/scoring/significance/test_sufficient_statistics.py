"""Scores of summed rows equal the metric's own scores of the same rows."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

from scoring.metrics.chrf import Chrf, best_counts
from scoring.metrics.classification import Classification, encode
from scoring.metrics.clipscore import ClipRow
from scoring.metrics.corpus_bleu import CorpusBleu, counts
from scoring.significance.sufficient_statistics import CLIP_COLUMNS, SUMMABLE
from tests.scoring.texts import sentence

KEYLESS = SimpleNamespace(signature=dict)


def bleu_rows(source, items):
    return [
        counts([sentence(source, 9).split(), sentence(source, 9).split()], sentence(source, 9).split())
        for _ in range(items)
    ]


def chrf_rows(source, items):
    return [best_counts([sentence(source, 6), sentence(source, 6)], sentence(source, 6)) for _ in range(items)]


def label_rows(source, items):
    def labels():
        return source.sample(("긍정", "부정", "중립", "기쁨"), source.randint(0, 2))

    return [encode(labels(), labels()) for _ in range(items)]


METRICS = {
    "bleu": (bleu_rows, CorpusBleu(None, KEYLESS).aggregate),
    "chrf": (chrf_rows, Chrf().aggregate),
    "classification": (label_rows, Classification().aggregate),
}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("items", [1, 2, 30])
def test_scores_of_sums_are_those_of_the_rows(metric, items):
    """Of 50 draws with replacement, as the bootstrap makes them, from either system."""
    source = random.Random(items)
    make, aggregate = METRICS[metric]
    rows = make(source, items), make(source, items)
    names, summable = SUMMABLE[metric]
    parts = summable(*rows)
    weights = np.array([np.bincount(source.choices(range(items), k=items), minlength=items) for _ in range(50)])
    for side, table in zip(rows, (parts.a, parts.b), strict=True):
        scores = parts.score(weights @ table)
        assert set(scores) == set(names)
        for trial, drawn in enumerate(weights):
            expected = aggregate([row for row, times in zip(side, drawn, strict=True) for _ in range(times)])
            assert {name: scores[name][trial] for name in names} == pytest.approx(dict(expected), abs=1e-12)


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_nothing_to_count_scores_0(metric):
    """An empty caption, as every unanswered item has one, leaves candidate counts of 0."""
    row = counts([["바다"]], []) if metric == "bleu" else best_counts(["바다"], "")
    parts = SUMMABLE[metric][1]([row], [row])
    assert all(values.tolist() == [0.0] for values in parts.score(parts.a).values())


def test_clip_scores_are_the_means_of_their_columns():
    assert ClipRow._fields == CLIP_COLUMNS
    rows = [(0.5, 0.4, 0.2, 0.0), (0.7, 0.2, 0.4, 1.0)]
    parts = SUMMABLE["clipscore"][1](rows, rows)
    scores = {name: values[0] for name, values in parts.score(parts.a.sum(axis=0, keepdims=True)).items()}
    assert scores == pytest.approx({"clipscore": 0.6, "refclipscore": 0.3, "clip_cosine": 0.3, "clip_truncated": 0.5})
