"""ROUGE of captions on words that the test gives for morphs: values that can be computed by hand."""

from __future__ import annotations

import pytest

from scoring.metrics.caption_rouge import CaptionRouge1, CaptionRouge2, CaptionRougeL
from scoring.metrics.caption_rouge_ws import (
    CaptionRougeS,
    CaptionRougeSU,
    CaptionRougeW,
    rouge_w,
    run_lengths,
    weighted_positions,
)
from tests.scoring.caption_items import BySpace


def value(kind: type[CaptionRouge1], reference: str, candidate: str) -> float:
    [found] = BySpace(kind()).score_pairs([reference], [candidate])
    return found


@pytest.mark.parametrize(
    ("candidate", "unigrams", "bigrams", "subsequence"),
    [
        ("가 나 라 마 바", 6 / 9, 2 / 7, 6 / 9),  # of four words three are there, in order, two of them neighbours
        ("나 가 라 마 바", 6 / 9, 0.0, 4 / 9),
        ("가 나 다 라", 1.0, 1.0, 1.0),
        ("마", 0.0, 0.0, 0.0),
        ("", 0.0, 0.0, 0.0),
    ],
)
def test_rouge_1_2_and_l(candidate: str, unigrams: float, bigrams: float, subsequence: float) -> None:
    kinds = {CaptionRouge1: unigrams, CaptionRouge2: bigrams, CaptionRougeL: subsequence}
    for kind, expected in kinds.items():
        assert value(kind, "가 나 다 라", candidate) == pytest.approx(expected)


def test_case_does_not_count() -> None:
    assert value(CaptionRouge1, "CCTV 화면", "cctv 화면") == 1.0


@pytest.mark.parametrize("count", [1, 2, 10])
def test_a_caption_equal_to_its_reference_has_its_recall_weighted_twice_in_rouge_w_alone(count: int) -> None:
    """The package's oddity, which the card names."""
    text = " ".join(f"낱말{number}" for number in range(count))
    recall = count**-0.2
    assert value(CaptionRougeW, text, text) == pytest.approx(2 * recall / (1 + recall))
    assert value(CaptionRougeS, text, text) == float(count > 1)
    assert value(CaptionRougeSU, text, text) == float(count > 1)


@pytest.mark.parametrize(("reference", "candidate"), [("", "가"), ("가", ""), ("", ""), ("가", "나")])
def test_nothing_shared_is_nothing(reference: str, candidate: str) -> None:
    for kind in (CaptionRougeW, CaptionRougeS, CaptionRougeSU):
        assert value(kind, reference, candidate) == 0.0


@pytest.mark.parametrize("candidate", ["가", "나 가", "가 가", "나 가 나 가"])
def test_one_word_is_found_wherever_it_stands_and_however_often(candidate: str) -> None:
    words = candidate.split()
    precision = 1 / len(words)
    assert weighted_positions(["가"], words) == [0]
    assert rouge_w(["가"], words) == pytest.approx(2 * precision / (1 + precision))


@pytest.mark.parametrize(
    ("scattered", "found"), [("ㄱㄴㄷㄹㅁㅂㅅㅇ", [0, 1, 2, 3, 4, 5]), ("ㄱㄴㄷㄹㅁㅂㅅㅇㅈ", list(range(6, 23, 2)))]
)
def test_six_neighbours_weigh_more_than_eight_scattered_words_and_less_than_nine(
    scattered: str, found: list[int]
) -> None:
    """6^1.2 is 8.6. The candidate has the scattered words side by side, and the neighbours after them."""
    reference = [*"가나다라마바", *"x".join(scattered)]
    assert weighted_positions(reference, [*scattered, *"가나다라마바"]) == found


def test_a_run_is_of_neighbours_in_the_reference() -> None:
    assert run_lengths([0, 1, 4, 6, 7, 8]) == [2, 1, 3]
    assert run_lengths([3]) == [1]
    assert run_lengths([]) == []


def test_the_settings_are_signed() -> None:
    common = {"alpha": 0.5, "lower_case": True}
    assert CaptionRougeL().parameters() == common
    assert CaptionRougeW().parameters() == common | {"weight": 1.2}
    assert CaptionRougeS().parameters() == CaptionRougeSU().parameters() == common | {"skip_gap": 4}
