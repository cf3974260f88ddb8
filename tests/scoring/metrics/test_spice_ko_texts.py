"""spice_ko on whole texts, with Okt's tags: what its F1 sees and what not."""

import json
import math

import pytest

from scoring.metrics import load_metric
from scoring.metrics.spice_ko import SpiceKo
from scoring.text.okt import okt


def okt_score(reference, candidate):
    return load_metric("spice_ko").score_pairs([reference], [candidate])[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("관광객들이 한옥 마을을 걷는다", "한옥 마을을 관광객들이 걷는다"),
        ("아이가 빨간 우산을 쓴다", "빨간 우산을 아이가 쓴다"),
        ("남자가 공원에서 산책을 하고 있다.", "공원에서 남자가 산책하고 있습니다."),
    ],
)
def test_word_order_and_style_change_nothing(one, other):
    assert okt_score(one, other) == okt_score(other, one) == 1.0


@pytest.mark.parametrize(
    ("reference", "swapped", "at_most"),
    [
        ("고양이가 개를 쫓는다", "개가 고양이를 쫓는다", 0.5),
        ("빨간 우산을 쓴 아이", "파란 우산을 쓴 아이", 0.9),
        ("하얀 옷을 입은 사람이 노란 꽃을 본다", "노란 옷을 입은 사람이 하얀 꽃을 본다", 0.8),
        ("아이가 우산을 쓴 개를 본다", "개가 우산을 쓴 아이를 본다", 0.7),
    ],
)
def test_swapping_who_does_what_or_which_is_which_lowers_the_score(reference, swapped, at_most):
    assert okt_score(reference, reference) == 1.0
    assert 0 < okt_score(reference, swapped) <= at_most


def test_negation_is_not_seen():
    """A limit of the metric, held here so that nobody believes otherwise."""
    assert okt_score("사람이 음식을 먹는다", "사람이 음식을 먹지 않는다") == 1.0


@pytest.mark.parametrize("candidate", ["", " ", "은 는 이 가", "😀😀", "ㅋㅋㅋ", "책", ".", "\n", "abc 123"])
def test_strange_texts_have_a_finite_score(candidate):
    for reference in ("아이가 책을 읽는다", candidate):
        assert 0.0 <= okt_score(reference, candidate) <= 1.0


def test_five_thousand_tokens_are_scored():
    text = "아이가 빨간 우산을 쓰고 공원을 걷는다. " * 500
    value = okt_score(text, text)
    assert math.isclose(value, 1.0)


def test_the_signature_says_that_it_is_experimental_and_not_spice():
    signature = json.loads(json.dumps(SpiceKo().signature()))
    assert signature == {
        "metric": "spice_ko",
        "rule": "spice-ko@1",
        "is_experimental": True,
        "tokenizer": okt().signature(),
    }
