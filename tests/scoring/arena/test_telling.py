"""Words that stand in the outputs of one system alone."""

from __future__ import annotations

import random
import time

import pytest

from scoring.arena.blinding import MASK
from scoring.arena.telling import OUTPUTS_LEAST, WORDS_MOST, TellingWord, telling_words, words_of


def test_a_name_in_one_systems_outputs_is_found_whatever_its_particle_case_and_width():
    signed = [
        "저는 달빛모델입니다. 비가 온다.",
        "달빛모델은 비라고 답합니다.",
        "ＭＯＯＮ-7의 답",
        "달빛모델이 moon-7로 씀",
        "Moon-7",
    ]
    plain = ["비가 온다.", "비라고 답합니다.", "답", "씀", "비"]
    found = telling_words({"S01": signed, "S02": plain, "S03": plain})
    assert found == {"S01": [TellingWord("moon-7", 3), TellingWord("달빛모델", 3)], "S02": [], "S03": []}


@pytest.mark.parametrize("token", ["✨", "gpt-4o", "help@moon.example", "https://moon.example"])
def test_signs_brands_and_addresses_are_words(token):
    outputs = {"S01": [f"비 {token} 온다"] * OUTPUTS_LEAST, "S02": ["비 온다"] * OUTPUTS_LEAST}
    assert [each.word for each in telling_words(outputs)["S01"]] == [token]


@pytest.mark.parametrize(
    ("others", "known"),
    [(["달빛모델이 온다"], []), (["비"], ["달빛모델은 무엇인가?"])],
)
def test_what_others_say_or_is_asked_tells_nothing(others, known):
    assert telling_words({"S01": ["달빛모델"] * 5, "S02": others}, known)["S01"] == []


def test_what_stands_seldom_numbers_single_letters_and_what_is_hidden_tell_nothing():
    text = f"{MASK}이 1234에 가 나 다"
    assert telling_words({"S01": [text] * 9 + ["한번뿐"] * (OUTPUTS_LEAST - 1), "S02": ["비"]})["S01"] == []
    assert words_of(f"{MASK}") == set()


def test_the_most_frequent_are_first_and_no_more_than_can_be_read():
    texts = [" ".join(f"w{number:02d}" for number in range(count)) for count in range(30)]
    found = telling_words({"S01": texts, "S02": []})["S01"]
    assert len(found) == WORDS_MOST
    assert [each.outputs for each in found] == list(range(29, 29 - WORDS_MOST, -1))


def test_ten_systems_of_two_hundred_long_outputs_take_seconds():
    rng = random.Random(1)
    vocabulary = [f"낱말{number}을" for number in range(5000)]
    outputs = {f"S{s:02d}": [" ".join(rng.choices(vocabulary, k=300)) for _ in range(200)] for s in range(10)}
    started = time.process_time()
    found = telling_words(outputs | {"S10": ["달빛모델은 답한다"] * 200})
    assert [each.word for each in found["S10"]][:1] == ["달빛모델"]
    assert time.process_time() - started < 20
