"""Sentence BLEU-1 equals nltk's, as the official scorer calls it."""

import warnings

import mecab
import pytest

from scoring.metrics import load_metric
from scoring.metrics.bleu import bleu_1, brevity_penalty
from tests.scoring.texts import random_pairs


def official(reference, candidate):
    from nltk.translate.bleu_score import sentence_bleu

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nltk warns about orders whose weight is 0
        return float(sentence_bleu([reference], candidate, weights=(1, 0, 0, 0)))


def test_nltk_agrees_on_300_random_korean_pairs():
    analyser = mecab.MeCab()
    references, candidates = zip(*random_pairs(300), strict=True)
    expected = [
        official(analyser.morphs(reference), analyser.morphs(candidate))
        for reference, candidate in zip(references, candidates, strict=True)
    ]
    assert load_metric("sentence_bleu1").score_pairs(references, candidates) == pytest.approx(expected, abs=1e-9)
    assert any(0 < value < 1 for value in expected)


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [("", ""), ("", "ab"), ("ab", ""), ("ab", "cd"), ("ab", "ab"), ("abcd", "ab"), ("a", "aa")],
)
def test_nltk_agrees_on_edge_cases(reference, candidate):
    assert bleu_1(reference, candidate) == pytest.approx(official(reference, candidate), abs=1e-12)


def test_empty_candidate_scores_zero():
    assert load_metric("sentence_bleu1").score_pairs(["책을 읽었다"], [""]) == [0.0]


def test_a_candidate_shorter_than_the_reference_is_penalised():
    assert brevity_penalty(4, 2) == pytest.approx(0.36787944117144233)
    assert brevity_penalty(2, 2) == 1.0
    assert brevity_penalty(2, 3) == 1.0


def test_punctuation_counts_because_the_raw_text_is_analysed():
    assert load_metric("sentence_bleu1").score_pairs(["책."], ["책"])[0] < 1


def test_signature_names_the_tokenizer():
    assert load_metric("sentence_bleu1").signature()["tokenizer"]["name"] == "mecab-ko"
