"""Required words: found in any form, at the edges of morphs; read with the references, absent where none demand any."""

from __future__ import annotations

import json

import pytest

from scoring.engine import score
from scoring.errors import InvalidFile
from scoring.metrics import load_metric
from scoring.metrics.required_words import holds, text_of
from scoring.reading import read_predictions, read_references
from scoring.recipes import get_recipe
from scoring.signature import references_sha256
from tests.scoring.caption_items import STRANGE
from tests.scoring.taggers import FakeTagger

RICH = get_recipe("captioning-rich@1")


def value(words, caption, tokenize=None):
    [found] = load_metric("required_words").score_pairs([text_of(words)], [caption], tokenize=tokenize)
    return found


@pytest.mark.parametrize(
    ("word", "caption"),
    [
        ("우산", "아이가 우산을 들고 있다"),
        ("우산", "우산에서만은"),
        ("빨간 우산", "빨간 우산이 있다"),
        ("빨간 우산", "빨갛고 우산"),
        ("파란 하늘", "파랗고 하늘"),
        ("걷다", "아이가 공원에서 걷는다"),
        ("걷다", "길을 걷고 있는 사람"),
        ("사람", "사람들이 모였다"),
        ("양산#우산", "우산을 든다"),
        ("자전거 타다", "자전거를 타고 간다"),
        ("예쁜 꽃", "예쁘다, 꽃!"),
        ("만", "만"),
    ],
)
def test_particles_and_endings_are_taken_off(word, caption):
    assert value([word], caption) == 1.0


@pytest.mark.parametrize(
    ("word", "caption"),
    [
        ("우산", "모자를 쓰고 있다"),
        ("배", "배추를 판다"),
        ("빨간 우산", "우산과 빨간 모자"),
        ("우산", ""),
        ("은", "사람은 은행에 간다"),
    ],
)
def test_another_word_is_not_the_word(word, caption):
    assert value([word], caption) == 0.0


def test_the_value_is_the_share_of_the_words():
    assert value(["우산", "모자", "빨간 꽃", "강#바다"], "모자를 쓰고 바다에 우산을 든다") == 0.75


def test_where_the_analyser_cuts_a_word_does_not_matter():
    tagger = FakeTagger()
    assert value(["쿠버 네티스"], "쿠버네 티스", tagger) == 1.0
    assert value(["쿠버 네티"], "쿠버네 티스", tagger) == 0.0


def test_a_word_begins_and_ends_with_a_morph_wherever_it_stands():
    assert holds(("가나", "나다"), ("나다",))
    assert holds(("나나나", "나나"), ("나나",))
    assert not holds(("나나나",), ("나나",))
    assert not holds(("가",), ())


@pytest.mark.parametrize("candidate", STRANGE)
def test_strange_captions_have_shares(candidate):
    assert 0 <= value(["파도", "가"], candidate) <= 1


def file_of(rows) -> bytes:
    return json.dumps(rows, ensure_ascii=False).encode()


DEMANDING = [
    {"id": "a", "caption": "빨간 우산을 든 아이", "required": ["우산", "빨간 모자#빨간 우산"]},
    {"id": "b", "caption": ["바다에 해가 뜬다", "해가 뜬다"]},
    {"id": "c", "caption": "개가 달린다", "required": ["개"]},
]


def test_a_report_has_the_mean_over_the_items_that_demand_words():
    references = read_references(file_of(DEMANDING), RICH)
    assert [item.required for item in references.items] == [("우산", "빨간 모자#빨간 우산"), (), ("개",)]
    predictions = read_predictions(file_of({"a": "우산을 쓴 아이", "b": "해"}), RICH, references)
    report = score(RICH.id, references, predictions, profile="demo", device="cpu")
    assert report.scores["required_words"] == 0.25  # a half, and the unanswered item nothing
    assert [item.scores.get("required_words") for item in report.items] == [0.5, None, 0.0]
    assert report.signature["metrics"]["required_words"]["input"] == "required-words@1"


def test_where_no_item_demands_words_there_is_no_such_score():
    references = read_references(file_of([{**row, "required": []} for row in DEMANDING]), RICH)
    predictions = read_predictions(file_of({"a": "우산을 쓴 아이"}), RICH, references)
    assert "required_words" not in score(RICH.id, references, predictions, profile="demo", device="cpu").scores


def test_the_words_are_part_of_the_references_signature_and_their_absence_changes_nothing():
    bare = [{key: part for key, part in row.items() if key != "required"} for row in DEMANDING]
    with_words, without = (read_references(file_of(rows), RICH) for rows in (DEMANDING, bare))
    other = read_references(file_of([{**DEMANDING[0], "required": ["모자"]}, *DEMANDING[1:]]), RICH)
    assert len({references_sha256(items) for items in (with_words, without, other)}) == 3


def test_words_of_several_rows_of_one_item_are_joined_each_once():
    rows = [
        {"image_id": 1, "caption": "가", "required": ["우산"]},
        {"image_id": 1, "caption": "나", "required": ["우산", "개"]},
    ]
    [item] = read_references(file_of(rows), RICH).items
    assert (item.texts, item.required) == (("가", "나"), ("우산", "개"))


@pytest.mark.parametrize("bad", ["우산", {"a": 1}, [1], [""], ["우산", "  "], ["우산#"], ["말"] * 51, [["우산"]], 3])
def test_what_is_no_list_of_words_is_refused_in_both_languages(bad):
    with pytest.raises(InvalidFile) as caught:
        read_references(file_of([{"id": "a", "caption": "가", "required": bad}]), RICH)
    [error] = caught.value.errors
    assert (error.code, error.item_id, error.line) == ("bad_required", "a", 1)
    assert "required" in error.message("ko")
    assert "50" in error.message("en")


def test_a_prediction_may_hold_the_member_and_it_is_ignored():
    references = read_references(file_of(DEMANDING), RICH)
    rows = [{"id": "a", "caption": "우산", "required": "무엇이든"}]
    [item] = read_predictions(file_of(rows), RICH, references).items
    assert item.required == ()
