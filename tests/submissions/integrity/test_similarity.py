"""Nearly equal answers: rare agreements count, common ones do not, and no pair above the threshold is missed."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest

from malpan.submissions.integrity import similarity
from malpan.submissions.integrity.similarity import Pair
from tests.submissions.integrity import slow_similarity

Files = dict[str, dict[str, str]]
ITEMS = [f"q{number}" for number in range(40)]


def similar_pairs(files: Files, **limits: Any) -> list[Pair]:
    return similarity.similar_pairs(iter(files.items()), **limits)


def independent(count: int, items: list[str] = ITEMS) -> Files:
    """Files that agree in nothing."""
    return {f"team{n}": {item: f"{item} 답 {n}" for item in items} for n in range(count)}


def copied(share: float, source: dict[str, str], mark: str = "!") -> dict[str, str]:
    """``source`` with all but ``share`` of its answers changed."""
    kept = int(len(source) * share)
    return {item: text if at < kept else text + mark for at, (item, text) in enumerate(source.items())}


def test_independent_files_make_no_pair() -> None:
    assert similar_pairs(independent(10)) == []


def test_a_copied_file_is_found_among_many() -> None:
    files = independent(30)
    files["copy"] = dict(files["team7"])
    assert similar_pairs(files) == [Pair("team7", "copy", score=1.0, same=40, compared=40, only_theirs=40)]


def test_a_copy_with_some_answers_changed_is_found_with_its_counts() -> None:
    files = independent(30)
    files["copy"] = copied(0.8, files["team7"])
    [pair] = similar_pairs(files)
    assert (pair.same, pair.compared, pair.only_theirs) == (32, 40, 32)
    assert 0.75 < pair.score < 0.85


def test_white_space_hides_no_copy() -> None:
    files = independent(10)
    files["copy"] = {item: f"  {text.replace(' ', chr(9) + ' ')}\n" for item, text in files["team3"].items()}
    assert [(pair.one, pair.other, pair.score) for pair in similar_pairs(files)] == [("team3", "copy", 1.0)]


def test_what_everybody_answers_does_not_count() -> None:
    """Thirty of forty answers are everybody's: two who agree in them alone are as independent as the others."""
    files = {
        name: {item: "모두의 답" if at < 30 else text for at, (item, text) in enumerate(answers.items())}
        for name, answers in independent(20).items()
    }
    assert similar_pairs(files) == []
    files["copy"] = dict(files["team2"])
    [pair] = similar_pairs(files)
    assert (pair.score, pair.same, pair.only_theirs) == (1.0, 40, 10)


def test_a_field_in_which_all_agree_says_nothing() -> None:
    assert similar_pairs({f"team{n}": dict.fromkeys(ITEMS, "가") for n in range(20)}) == []


def test_in_a_small_field_every_item_counts_the_same() -> None:
    files = independent(1)
    files["copy"] = copied(0.9, files["team0"])
    [pair] = similar_pairs(files)
    assert pair.score == pytest.approx(0.9)


def test_a_rare_agreement_weighs_more_than_a_common_one() -> None:
    files = independent(20)
    for name in list(files)[:10]:
        files[name] |= dict.fromkeys(ITEMS[:10], "흔한 답")
    files["rare"] = dict(files["team19"]) | {item: f"다른 {item}" for item in ITEMS[:10]}
    pairs = similar_pairs(files, least=0.1)
    assert (pairs[0].one, pairs[0].other) == ("team19", "rare")
    assert all(pair.score < 0.5 for pair in pairs[1:])


def test_empty_answers_are_no_agreement() -> None:
    assert similar_pairs({f"team{n}": dict.fromkeys(ITEMS, " \n") for n in range(3)}) == []


def test_items_left_out_are_not_compared() -> None:
    files = independent(10)
    files["part"] = dict(list(files["team1"].items())[:30])
    [pair] = similar_pairs(files)
    assert (pair.same, pair.compared) == (30, 30)


def test_too_few_same_answers_are_no_evidence() -> None:
    files = independent(10, ITEMS[:4])
    files["copy"] = dict(files["team1"])
    assert similar_pairs(files) == []
    assert len(similar_pairs(files, fewest=4)) == 1


def test_no_file_and_one_file_make_no_pair() -> None:
    assert similar_pairs({}) == []
    assert similar_pairs(independent(1)) == []
    assert similar_pairs({"a": {}, "b": {}}) == []


def test_the_number_of_pairs_is_bounded() -> None:
    files = {f"team{n}": {item: f"{item} {n % 2}" for item in ITEMS} for n in range(12)}
    assert len(similar_pairs(files)) == 30
    assert len(similar_pairs(files, most=7)) == 7


def test_four_hundred_teams_and_five_hundred_items_take_seconds() -> None:
    chance = random.Random(1)
    items = [f"q{number}" for number in range(500)]
    files = {f"t{n}": {item: f"{item} {chance.randrange(5000)}" for item in items} for n in range(399)}
    files["copy"] = copied(0.9, files["t0"])
    started = time.process_time()
    pairs = similar_pairs(files)
    taken = time.process_time() - started
    assert [(pair.one, pair.other) for pair in pairs] == [("t0", "copy")]
    assert taken < 15, f"{taken:.1f} s"


@pytest.mark.parametrize("seed", range(40))
def test_the_numbers_are_those_of_comparing_every_pair(seed: int) -> None:
    """To the last bit, with gaps, empty answers, white space and items in any order."""
    chance = random.Random(seed)
    answers, items = chance.choice([2, 4, 50]), [f"q{number}" for number in range(chance.randrange(1, 40))]
    files: Files = {}
    for number in range(chance.randrange(30)):
        source = chance.choice(list(files.values())) if files and chance.random() < 0.4 else {}
        kept = {item: text for item, text in source.items() if chance.random() < 0.7}
        own = {item: chance.choice(["", " a  {}", "a {}"]).format(chance.randrange(answers)) for item in items}
        both = [(item, text) for item, text in (own | kept).items() if chance.random() < 0.95]
        files[f"t{number}"] = dict(chance.sample(both, len(both)))
    for limits in ({}, {"least": 0.2, "fewest": 1}, {"least": 0.05, "fewest": 0, "most": 7}):
        assert similar_pairs(files, **limits) == slow_similarity.similar_pairs(files, **limits)


def test_pairs_beyond_those_that_wait_are_dropped_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "_WAITING", 3)
    files = {f"team{n}": {item: f"{item} {n % 2 if at > n else n}" for at, item in enumerate(ITEMS)} for n in range(14)}
    limits = {"least": 0.1, "most": 5}
    assert similar_pairs(files, **limits) == slow_similarity.similar_pairs(files, **limits) != []


def test_two_thousand_teams_of_independent_texts_take_seconds() -> None:
    files = {f"t{n}": {f"q{at}": f"{n} {at}" for at in range(100)} for n in range(2000)}
    files["copy"] = copied(0.9, files["t0"])
    started = time.process_time()
    pairs = similar_pairs(files)
    taken = time.process_time() - started
    assert [(pair.one, pair.other) for pair in pairs] == [("t0", "copy")]
    assert taken < 15, f"{taken:.1f} s"
