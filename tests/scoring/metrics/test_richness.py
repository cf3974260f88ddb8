"""Richness: what is counted, the moving average against an independent writing, and that order changes nothing."""

import math
import random

import pytest

from scoring.metrics import load_metric
from scoring.metrics.richness import COLOURS, WINDOW, adjectives_of, colours_of, modifiers_of
from scoring.text.lemmas import morphs_of
from scoring.text.run_tokens import remembering
from tests.scoring.caption_items import STRANGE, caption_items
from tests.scoring.taggers import FakeTagger

READ = remembering("okt-tagged")


def morphs(text):
    return morphs_of(READ(text))


def scores(captions, ids=None, tokenize=None):
    metric = load_metric("richness")
    ids = ids or [f"{number:05}" for number in range(len(captions))]
    return metric.aggregate(metric.statistics(ids, [["정답"]] * len(captions), captions, tokenize=tokenize))


def mattr_by_slices(words, size):
    """The mean of the type-token ratios of every slice, each counted anew."""
    if not words:
        return 0.0
    slices = [words[start : start + size] for start in range(max(1, len(words) - size + 1))]
    return math.fsum(len(set(part)) / len(part) for part in slices) / len(slices)


@pytest.mark.parametrize("length", [0, 1, 7, WINDOW - 1, WINDOW, WINDOW + 1, 400])
def test_mattr_equals_an_independent_writing(length):
    source = random.Random(length)
    words = [source.choice("가나다라마바사아자차카타파하") * source.randint(1, 4) for _ in range(length)]
    captions, rest = [], list(words)
    while rest:
        size = source.randint(0, 9)
        captions.append(" ".join(rest[:size]))
        del rest[:size]
    found = scores(captions or [""], tokenize=FakeTagger())["mattr"]
    assert found == pytest.approx(mattr_by_slices(words, WINDOW), abs=1e-12)


def test_mattr_of_real_morphs_leaves_punctuation_out_and_equals_an_independent_writing():
    captions = [item.candidate + "." for item in caption_items(120)]
    words = [surface for text in captions for surface, tag, _ in READ(text) if tag != "Punctuation"]
    assert len(words) > 20 * WINDOW
    assert scores(captions)["mattr"] == pytest.approx(mattr_by_slices(words, WINDOW), abs=1e-12)


def test_mattr_does_not_fall_as_a_file_grows_and_tells_a_repeated_caption():
    varied = [item.candidate for item in caption_items(300, edges=False)]
    short, long = (scores(varied[:count]) for count in (60, 300))
    assert abs(short["mattr"] - long["mattr"]) < 0.02
    assert long["adjective_variety"] < short["adjective_variety"]
    assert scores([varied[0]] * 60)["mattr"] < 0.6 * short["mattr"]


@pytest.mark.parametrize(
    ("text", "colours"),
    [
        ("빨간 우산과 빨간색 모자, 빨갛고 새빨간 꽃", ["빨강", "빨강", "빨강"]),  # Okt does not know 새빨간
        ("푸른 바다와 파란 하늘", ["파랑", "파랑"]),
        ("붉은색 지붕", ["빨강"]),
        ("은색 자동차와 검은색 버스", ["은색", "검정"]),
        ("하늘이 맑다", []),
        ("하늘색 셔츠", ["하늘색"]),
    ],
)
def test_a_colour_is_one_however_it_is_written(text, colours):
    assert colours_of(morphs(text)) == colours


def test_no_word_names_two_colours():
    from scoring.metrics.richness import _WORDS

    assert len(COLOURS) == sum(len(words.split()) for words in _WORDS.values())


def test_adjectives_are_dictionary_forms_without_those_of_grammar():
    assert adjectives_of(morphs("예쁜 아이가 즐겁게 놀고 있다")) == ["예쁘다", "즐겁다"]
    assert adjectives_of(morphs("푸른 바다가 없는 학생입니다")) == ["푸르다"]


def test_modifier_phrases_are_pairs_each_once_in_a_caption():
    pairs = modifiers_of(morphs("빨간 우산을 든 아이와 빨간 우산을 본다"))
    assert sorted(pairs) == [("들다", "아이"), ("빨갛다", "우산")]
    assert scores(["하늘이 파란. 우산이 있다"])["modifier_share"] == 0


def test_shares_are_of_morphs_and_variety_of_what_was_found():
    found = scores(["빨간 우산을 들고 있다.", "빨간 모자를 들고 있다."])
    tokens = sum(
        tag != "Punctuation" for _, tag, _ in (*READ("빨간 우산을 들고 있다."), *READ("빨간 모자를 들고 있다."))
    )
    assert found["colour_share"] == found["adjective_share"] == found["modifier_share"] == 2 / tokens
    assert (found["colour_variety"], found["adjective_variety"], found["modifier_variety"]) == (0.5, 0.5, 1.0)


def test_the_order_of_the_items_changes_nothing():
    captions = [item.candidate for item in caption_items(80)]
    ids = [f"{number:05}" for number in range(len(captions))]
    mixed = random.Random(1).sample(range(len(ids)), len(ids))
    assert scores([captions[place] for place in mixed], [ids[place] for place in mixed]) == scores(captions, ids)


def test_nothing_written_is_zero_everywhere():
    assert set(scores(["", " "]).values()) == {0.0}
    assert set(load_metric("richness").aggregate([]).values()) == {0.0}


@pytest.mark.parametrize("candidate", STRANGE)
def test_strange_captions_have_shares(candidate):
    assert all(0 <= value <= 1 for value in scores([candidate, "파도가 친다"]).values())


def test_rows_of_a_part_are_not_resampled_and_settings_are_signed():
    metric = load_metric("richness")
    assert not metric.is_resampled
    assert metric.signature()["window"] == WINDOW
    assert metric.signature()["lemmas"] == "okt-lemmas@1"


def test_progress_counts_items():
    calls = []
    load_metric("richness").statistics(
        ["b", "a"], [["물"], ["불"]], ["물", ""], lambda done, total: calls.append((done, total)), tokenize=FakeTagger()
    )
    assert calls == [(1, 2), (2, 2)]
