"""Distinct-n, the share of unique captions and the length ratio count what their docstring says."""

import json
import random
from itertools import pairwise

import pytest

from scoring.metrics import load_metric
from scoring.metrics.diversity import NAMES, Diversity
from scoring.text.run_tokens import remembering
from tests.scoring.caption_items import LONG, STRANGE, BySpace, caption_items, metric_rows

pytestmark = pytest.mark.usefixtures("okt_knows_the_items")


def scores(references, candidates):
    metric = BySpace(Diversity())
    return metric.aggregate(metric_rows(metric, references, candidates))


def test_values_of_a_corpus_counted_by_hand():
    """Tokens 가 나 가 / 가 나 / none: 2 of 5 unigrams, 2 of 3 bigrams, two unlike captions; lengths 5 of 3+4+2."""
    references = [["다 라 마"], ["다 라 마 바 사", "다 라 마 바"], ["다 라"]]
    assert scores(references, ["가 나 가", "가 나", ""]) == {
        "distinct_1": pytest.approx(2 / 5),
        "distinct_2": pytest.approx(2 / 3),
        "unique_captions": 1.0,
        "length_ratio": pytest.approx(5 / 9),
    }


def test_counts_are_those_of_all_captions_together():
    """Against plain sets over the whole corpus, on Okt morphs."""
    references, candidates = zip(*caption_items(200), strict=True)
    tokens = list(map(remembering("okt"), candidates))
    unigrams = [token for item in tokens for token in item]
    bigrams = [pair for item in tokens for pair in pairwise(item)]
    texts = [text for text in candidates if text]
    metric = load_metric("diversity")
    values = metric.aggregate(metric_rows(metric, references, candidates))
    assert values["distinct_1"] == pytest.approx(len(set(unigrams)) / len(unigrams), abs=1e-12)
    assert values["distinct_2"] == pytest.approx(len(set(bigrams)) / len(bigrams), abs=1e-12)
    assert values["unique_captions"] == pytest.approx(len(set(texts)) / len(texts), abs=1e-12)
    assert 0 < values["length_ratio"] < 1.2
    assert tuple(values) == NAMES == metric.score_names


def test_length_ratio_is_that_of_bleu():
    references, candidates = zip(*caption_items(100), strict=True)
    bleu, diversity = load_metric("bleu"), load_metric("diversity")
    rows = metric_rows(bleu, references, candidates)
    expected = sum(row[8] for row in rows) / sum(row[9] for row in rows)
    found = diversity.aggregate(metric_rows(diversity, references, candidates))
    assert found["length_ratio"] == pytest.approx(expected, abs=1e-12)


def test_constant_captions_score_low():
    references, candidates = zip(*caption_items(50, edges=False), strict=True)
    constant, own = scores(references, [references[0][0]] * 50), scores(references, candidates)
    assert constant["unique_captions"] == pytest.approx(1 / 50)
    assert own["unique_captions"] == 1.0
    assert constant["distinct_1"] < own["distinct_1"]
    assert constant["distinct_2"] < own["distinct_2"]


def test_captions_are_the_same_when_only_white_space_differs():
    assert scores([["가"]] * 3, ["가 나", " 가\n나 ", "가  나"])["unique_captions"] == pytest.approx(1 / 3)


def test_unanswered_items_are_no_captions_but_keep_their_references_length():
    values = scores([["가 나"], ["다 라"]], ["가 나", "  "])
    assert values["unique_captions"] == 1.0
    assert values["length_ratio"] == 0.5


def test_nothing_answered_and_no_items_score_zero():
    zeros = dict.fromkeys(NAMES, 0.0)
    assert scores([["가"], ["나"]], ["", ""]) == zeros
    assert scores([[""]], [""]) == zeros
    assert BySpace(Diversity()).aggregate([]) == zeros


def test_stored_rows_give_the_scores_in_any_order():
    metric = BySpace(Diversity())
    references, candidates = zip(*caption_items(40), strict=True)
    rows = metric_rows(metric, references, candidates)
    stored = [tuple(row) for row in json.loads(json.dumps(rows))]
    random.Random(1).shuffle(stored)
    assert metric.aggregate(stored) == metric.aggregate(rows)


def test_a_row_says_what_its_item_adds():
    metric = BySpace(Diversity())
    rows = metric_rows(metric, [["가"], ["가 나 다"]], ["가 나", "가 나 가"])
    assert rows == [(2, 2, 1, 1, 1, 1, 1), (0, 3, 1, 2, 1, 1, 3)]


@pytest.mark.parametrize("candidate", STRANGE)
@pytest.mark.parametrize("items", [1, 2])
def test_strange_captions_have_finite_values(candidate, items):
    metric = load_metric("diversity")
    references = [["파도가 하얀 바다 위로 부서진다", "가"], [candidate or "가"]][:items]
    values = metric.aggregate(metric_rows(metric, references, [candidate] * items))
    assert all(0 <= values[name] <= 1 for name in NAMES[:3])
    assert 0 <= values["length_ratio"] < 2 * len(LONG)


def test_progress_counts_items():
    calls = []
    BySpace(Diversity()).statistics(
        ["a", "b"], [["물"], ["불"]], ["물", ""], lambda done, total: calls.append((done, total))
    )
    assert calls == [(1, 2), (2, 2)]


def test_signature_names_rule_and_tokenizer():
    assert load_metric("diversity").signature()["tokenizer"]["name"] == "okt"
