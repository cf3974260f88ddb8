"""Corpus BLEU equals pycocoevalcap's and nltk's where those do what the rule says, and 0 where nothing matches."""

import math
import warnings

import pytest
from pycocoevalcap.bleu.bleu import Bleu

from scoring.metrics import load_metric
from scoring.metrics.corpus_bleu import NAMES, CorpusBleu, counts
from scoring.metrics.ngrams import closest_length
from scoring.text.run_tokens import remembering
from tests.scoring.caption_items import STRANGE, BySpace, caption_items, metric_rows

pytestmark = pytest.mark.usefixtures("okt_knows_the_items")
WEIGHTS = [tuple([1 / n] * n) for n in range(1, 5)]


def coco(references, candidates):
    """pycocoevalcap's four values for token sequences."""
    truth = {str(n): [" ".join(tokens) for tokens in texts] for n, texts in enumerate(references)}
    answers = {str(n): [" ".join(tokens)] for n, tokens in enumerate(candidates)}
    return Bleu(4).compute_score(truth, answers, verbose=0)[0]


def nltk_bleu(references, candidates):
    from nltk.translate.bleu_score import corpus_bleu

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of orders without a match
        return corpus_bleu([list(map(list, item)) for item in references], list(map(list, candidates)), WEIGHTS)


def ours(references, candidates):
    rows = [counts(texts, tokens) for texts, tokens in zip(references, candidates, strict=True)]
    return list(CorpusBleu.aggregate(rows).values())


def split(*texts):
    return [text.split() for text in texts]


def test_pycocoevalcap_agrees_on_300_items_with_several_references():
    references, candidates = zip(*caption_items(300), strict=True)
    morphs = remembering("okt")
    expected = coco([[morphs(text) for text in texts] for texts in references], map(morphs, candidates))
    metric = load_metric("bleu")
    scores = metric.aggregate(metric_rows(metric, references, candidates))
    assert tuple(scores) == NAMES == metric.score_names
    assert list(scores.values()) == pytest.approx(expected, abs=1e-9)
    assert 0.1 < scores["bleu_4"] < scores["bleu_1"] < 0.9


def test_nltk_agrees_on_the_items_whose_candidates_have_four_tokens():
    morphs = remembering("okt")
    items = [item for item in caption_items(300) if len(morphs(item.candidate)) >= 4]
    assert len(items) > 270
    references = [[morphs(text) for text in item.references] for item in items]
    candidates = [morphs(item.candidate) for item in items]
    assert ours(references, candidates) == pytest.approx(nltk_bleu(references, candidates), abs=1e-9)


def test_nltk_counts_an_ngram_for_a_candidate_too_short_to_have_one():
    """The difference that the docstring names: ours has 1 of 1 bigrams, nltk 1 of 2."""
    references, candidates = [split("가 나"), split("다 라")], split("가 나", "다")
    assert ours(references, candidates)[1] / nltk_bleu(references, candidates)[1] == pytest.approx(math.sqrt(2))
    assert ours(references, candidates)[1] == pytest.approx(coco(references, candidates)[1], abs=1e-8)


def test_without_a_match_of_an_order_it_and_the_longer_ones_are_zero():
    """pycocoevalcap gives them a small value there, nltk the smallest float."""
    references, candidates = [split("가 나 다 라 마")], split("가 나 라 다 마")
    values = ours(references, candidates)
    assert values == [1.0, pytest.approx(0.5), 0.0, 0.0]
    assert values == pytest.approx(nltk_bleu(references, candidates), abs=1e-9)
    theirs = coco(references, candidates)
    assert theirs[:2] == pytest.approx(values[:2], abs=1e-9)
    assert 1e-6 < theirs[2] < 1e-3
    assert 1e-8 < theirs[3] < 1e-3


@pytest.mark.parametrize("length", range(6))
@pytest.mark.parametrize("lengths", [[1, 3], [3, 1], [2, 5, 4], [4], [3, 3, 1]])
def test_of_two_references_as_near_the_shorter_counts_as_in_both_packages(lengths, length):
    from nltk.translate.bleu_score import closest_ref_length

    found = closest_length(lengths, length)
    assert found == closest_ref_length([["x"] * one for one in lengths], length)
    assert found == min(sorted(lengths), key=lambda one: abs(one - length))


def test_pycocoevalcap_breaks_the_tie_of_lengths_the_same_way():
    """Lengths 2 and 4 around 3: with the longer one there would be a brevity penalty."""
    references, candidates = [split("가 나", "가 나 다 라")], split("가 나 다")
    assert ours(references, candidates)[0] == 1.0
    assert coco(references, candidates)[0] == pytest.approx(1.0, abs=1e-8)


def test_an_ngram_counts_as_often_as_in_the_reference_that_has_it_most():
    assert counts(split("가 가", "가 나"), ["가", "가", "가", "나"])[:4] == (3, 2, 0, 0)


def test_row_is_matches_totals_and_lengths():
    assert counts(split("가 나 다", "가"), ["가", "나"]) == (2, 1, 0, 0, 2, 1, 0, 0, 2, 1)


def test_a_corpus_shorter_than_its_references_is_penalised():
    references, candidates = [split("가 나 다 라")], split("가 나")
    assert ours(references, candidates)[0] == pytest.approx(math.exp(-1))
    assert ours(references, candidates)[0] == pytest.approx(coco(references, candidates)[0], abs=1e-8)


def test_the_corpus_is_not_the_mean_of_its_items():
    metric = BySpace(CorpusBleu())
    rows = metric_rows(metric, [["가 나 다 라"], ["마"]], ["가 나 다 라", "바"])
    assert metric.aggregate(rows)["bleu_1"] == pytest.approx(4 / 5)
    assert metric.aggregate(rows[:1])["bleu_1"] == 1.0


@pytest.mark.parametrize("candidate", STRANGE)
@pytest.mark.parametrize("items", [1, 2])
def test_strange_captions_have_finite_values(candidate, items):
    metric = load_metric("bleu")
    references = [["파도가 하얀 바다 위로 부서진다", "가"], [candidate or "가"]][:items]
    scores = metric.aggregate(metric_rows(metric, references, [candidate] * items))
    assert all(0 <= value <= 1 for value in scores.values())


def test_nothing_answered_and_no_items_score_zero():
    metric = BySpace(CorpusBleu())
    zeros = dict.fromkeys(NAMES, 0.0)
    assert metric.aggregate(metric_rows(metric, [["가"], ["나"]], ["", ""])) == zeros
    assert metric.aggregate([]) == zeros


def test_progress_counts_items():
    calls = []
    BySpace(CorpusBleu()).statistics(
        ["a", "b"], [["물"], ["불"]], ["물", ""], lambda done, total: calls.append((done, total))
    )
    assert calls == [(1, 2), (2, 2)]


def test_signature_names_rule_and_tokenizer():
    signature = load_metric("bleu").signature()
    assert signature["tokenizer"]["name"] == "okt"
    assert signature["smoothing"] == "none"
