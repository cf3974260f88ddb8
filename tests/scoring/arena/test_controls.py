"""Outputs made bad by rule."""

from __future__ import annotations

import random

import pytest

from scoring.arena.controls import RULES, bad_output, rules_for

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
    assert rules_for("하나 둘 셋 넷 다섯") == ("other_item",)
    assert rules_for("하나 둘 셋 넷 다섯 여섯") == RULES
    assert rules_for("하나 둘 셋 하나 둘 셋") == ("other_item",)
    assert rules_for("하나 둘 셋 넷 하나 둘") == RULES


@pytest.mark.parametrize(
    ("rule", "own", "others", "why"),
    [
        ("cut", "네", OTHERS, "does not fit"),
        ("unknown", OWN, OTHERS, "does not fit"),
        ("other_item", OWN, [], "no answer to another item"),
        ("other_item", OWN, [OWN, " "], "no answer to another item"),
        ("cut", ". ! ? 하나 둘 셋 넷 다섯 여섯", OTHERS, "makes nothing else"),
    ],
)
def test_a_rule_that_does_not_fit_is_refused(rule: str, own: str, others: list[str], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        bad_output(rule, own, others, rng())
