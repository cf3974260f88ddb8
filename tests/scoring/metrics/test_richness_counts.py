"""What richness counts, and how, on tags that the test gives: without Okt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scoring.metrics.base import Row
from scoring.metrics.richness import MovingWindow, Richness, adjectives_of, colours_of, modifiers_of
from scoring.text.lemmas import Morph
from tests.scoring.taggers import FakeTagger

A, N, V = "Adjective", "Noun", "Verb"
TAGS = FakeTagger({"빨간": (A, "빨갛다"), "예쁜": (A, "예쁘다"), ".": ("Punctuation", ".")})


def rows_of(captions: dict[str, str], progress: Any = None) -> list[Row]:
    references: Sequence[Sequence[str]] = [["정답"]] * len(captions)
    return Richness().statistics(list(captions), references, list(captions.values()), progress, tokenize=TAGS)


# --- words ------------------------------------------------------------------------------------------------------------
def test_colours_are_found_by_their_dictionary_form() -> None:
    words = [("빨간", A, "빨갛다"), ("집", N, "집"), ("빨간색", N, "빨간색"), ("은색", N, "은색")]
    assert colours_of(Morph(*each) for each in words) == ["빨강", "빨강", "은색"]


def test_what_okt_makes_of_red_is_no_silver() -> None:
    """It splits 붉은색 into 붉 and 은색; beside other words 은색, and after 붉 other colours, are what they say."""
    red, silver, gold = Morph("붉", V, "붉다"), Morph("은색", N, "은색"), Morph("금색", N, "금색")
    assert colours_of([red, silver]) == ["빨강"]
    assert colours_of([red, gold]) == ["빨강", "금색"]
    assert colours_of([silver, silver]) == ["은색", "은색"]


def test_adjectives_are_those_of_okt_without_grammar_and_colours_whatever_their_tag() -> None:
    words = [
        ("예쁜", A, "예쁘다"),
        ("있는", A, "있다"),
        ("뛰는", V, "뛰다"),
        ("푸른", N, "푸르다"),
        ("빨강", N, "빨강"),
    ]
    assert adjectives_of(Morph(*each) for each in words) == ["예쁘다", "푸르다"]


def test_modifiers_are_neither_things_nor_relations() -> None:
    words = [("빨간", A, "빨갛다"), ("우산", N, "우산"), ("을", "Josa", "을"), ("든다", V, "들다")]
    assert modifiers_of(Morph(*each) for each in words) == [("빨갛다", "우산")]


# --- windows ----------------------------------------------------------------------------------------------------------
def test_a_window_holds_the_last_morphs() -> None:
    window = MovingWindow(3)
    assert window.so_far == (0, 0)
    assert [window.types_after(morph) for morph in "가나가다다다"] == [None, None, 2, 3, 2, 1]
    assert window.so_far == (1, 3)


def test_an_item_adds_to_those_before_it_by_id_and_a_short_file_is_one_window() -> None:
    """Of 가: 빨간 모자 예쁜, of 나: 빨간 우산."""
    heard: list[tuple[int, int]] = []
    captions = {"나": "빨간 우산 .", "가": "빨간 모자 예쁜 ."}
    rows = rows_of(captions, lambda done, total: heard.append((done, total)))
    assert rows == [(0, 1, 0, 1, 1, 1, 2, 4, 5), (1, 1, 2, 2, 1, 1, 3, 0, 0)]
    assert heard == [(1, 2), (2, 2)]
    assert rows_of(captions) == rows
    assert Richness.aggregate(rows) == {
        "colour_share": 2 / 5,
        "colour_variety": 1 / 2,
        "adjective_share": 3 / 5,
        "adjective_variety": 2 / 3,
        "modifier_share": 2 / 5,
        "modifier_variety": 1.0,
        "mattr": 4 / 5,
    }


def test_a_long_file_has_a_window_for_each_place_and_none_for_its_beginning() -> None:
    """Fifty different words and one more, of which one is said again; then nothing."""
    words = [f"낱말{number}" for number in range(50)]
    rows = rows_of({"1": " ".join(words), "2": words[49], "3": ""})
    assert [row[6:] for row in rows] == [(50, 50, 50), (1, 49, 50), (0, 0, 0)]
    assert Richness.aggregate(rows)["mattr"] == pytest.approx(99 / 100)


# --- what it says -----------------------------------------------------------------------------------------------------
def test_rows_of_a_part_are_not_resampled_and_the_settings_are_signed() -> None:
    assert not Richness.is_resampled
    assert Richness().parameters() == {"window": 50, "order": "id", "lemmas": "okt-lemmas@1"}
