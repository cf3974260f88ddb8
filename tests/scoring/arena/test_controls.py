"""Outputs made bad by rule."""

from __future__ import annotations

import random

import pytest

from scoring.arena.controls import FEWEST_WORDS, RULES, bad_output, rules_for

OWN = "세종은 백성이 쉽게 배워 쓰도록 스물여덟 글자를 새로 만들어 널리 폈다."
OTHERS = ["한글날은 시월 구일이다.", "훈민정음 해례본은 간송이 지켰다."]


def rng(seed: int = 1) -> random.Random:
    return random.Random(seed)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_makes_something_else(rule: str, seed: int) -> None:
    made = bad_output(rule, OWN, OTHERS, rng(seed))
    assert made.split() != OWN.split()
    assert made == bad_output(rule, OWN, OTHERS, rng(seed))


def test_what_each_rule_makes() -> None:
    words = OWN.split()
    assert bad_output("other_item", OWN, [OWN, OTHERS[0]], rng()) == OTHERS[0]
    assert sorted(bad_output("shuffled", OWN, (), rng()).split()) == sorted(words)
    assert bad_output("cut", OWN, (), rng()).split() == words[: len(words) // 3]
    looped = bad_output("looped", OWN, (), rng()).split()
    assert set(looped) == set(words[:3])
    assert len(looped) == len(words)


def test_short_and_repeating_texts_have_one_rule() -> None:
    assert rules_for("네") == ("other_item",)
    assert rules_for(" ".join(["말"] * 20)) == ("other_item",)
    assert rules_for(" ".join(f"말{n}" for n in range(FEWEST_WORDS))) == RULES


@pytest.mark.parametrize(
    ("rule", "own", "others"),
    [("cut", "네", OTHERS), ("unknown", OWN, OTHERS), ("other_item", OWN, []), ("other_item", OWN, [OWN, " "])],
)
def test_a_rule_that_does_not_fit_is_refused(rule: str, own: str, others: list[str]) -> None:
    with pytest.raises(ValueError, match=r"rule|another item"):
        bad_output(rule, own, others, rng())
