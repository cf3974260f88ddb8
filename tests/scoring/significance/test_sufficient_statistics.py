"""Scores of summed rows equal the metric's own scores of the same rows."""

import random

import numpy as np
import pytest

from scoring.metrics.chrf import Chrf, best_counts
from scoring.metrics.classification import Classification, encode
from scoring.metrics.clipscore import ClipRow, ClipScore
from scoring.metrics.corpus_bleu import CorpusBleu, counts
from tests.scoring.texts import sentence


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


METRICS = {"bleu": (bleu_rows, CorpusBleu), "chrf": (chrf_rows, Chrf), "classification": (label_rows, Classification)}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("items", [1, 2, 30])
def test_scores_of_sums_are_those_of_the_rows(metric, items):
    """Of 50 draws with replacement, as the bootstrap makes them, from either system."""
    source = random.Random(items)
    make, kind = METRICS[metric]
    rows = make(source, items), make(source, items)
    parts = kind.summable(*rows)
    weights = np.array([np.bincount(source.choices(range(items), k=items), minlength=items) for _ in range(50)])
    for side, table in zip(rows, parts.systems, strict=True):
        scores = kind.scores((weights @ np.array(table)).T)
        assert set(scores) == set(kind.score_names)
        for trial, drawn in enumerate(weights):
            expected = kind.aggregate([row for row, times in zip(side, drawn, strict=True) for _ in range(times)])
            assert {name: values[trial] for name, values in scores.items()} == pytest.approx(dict(expected), abs=1e-12)


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_nothing_to_count_scores_0(metric):
    """An empty caption, as every unanswered item has one, leaves candidate counts of 0."""
    row = counts([["바다"]], []) if metric == "bleu" else best_counts(["바다"], "")
    kind = METRICS[metric][1]
    assert all(values.tolist() == [0.0] for values in kind.scores(np.array([row]).T).values())


def test_clip_scores_are_the_means_of_their_columns():
    assert ClipRow._fields == ClipScore.score_names
    rows = [(0.5, 0.4, 0.2, 0.0), (0.7, 0.2, 0.4, 1.0)]
    sums = np.array(ClipScore.summable(rows, rows).systems[0]).sum(axis=0, keepdims=True)
    scores = {name: values[0] for name, values in ClipScore.scores(sums.T).items()}
    assert scores == pytest.approx({"clipscore": 0.6, "refclipscore": 0.3, "clip_cosine": 0.3, "clip_truncated": 0.5})
