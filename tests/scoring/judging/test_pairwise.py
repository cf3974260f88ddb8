"""Both orders are asked; who wins must win in both, and a judge that prefers a position is found out."""

from __future__ import annotations

import itertools
import random
import time
from pathlib import Path

import pytest
from scipy.stats import binomtest

from scoring.judging.demo import DemoJudge
from scoring.judging.judge import Judge
from scoring.judging.pairwise import Comparison, Duel, Outcome, compare, comparison_of, outcome_of, sign_test, wilson
from scoring.judging.parsing import Judgement
from scoring.models.profile import load_profile
from tests.scoring.judging.injections import INJECTIONS
from tests.scoring.judging.toys import ESSAY, GOOD, STOCK, demo_judge, profile_for

DUELS = [Duel(f"e{number}", f"{ESSAY} {number}", GOOD, STOCK) for number in range(12)]
CHOICES = ("first", "second", "tie", None)


def judged(profile: Path, duels: list[Duel]) -> Comparison:
    return compare(Judge(load_profile(profile).judge_spec()), duels)


def test_the_better_text_wins_wherever_it_stands(judged_profile: Path, server: DemoJudge) -> None:
    found = judged(judged_profile, DUELS)
    swapped = judged(judged_profile, [Duel(each.item, each.reference, each.right, each.left) for each in DUELS])
    assert {each.winner for each in found.outcomes} == {"left"}
    assert {each.winner for each in swapped.outcomes} == {"right"}
    assert (found.order_effect, found.p_value, found.is_biased) == (0.0, 1.0, False)
    assert server.stats.asked.total() == 4 * len(DUELS)


def test_equal_texts_are_ties(judged_profile: Path) -> None:
    found = judged(judged_profile, [Duel("a", ESSAY, GOOD, GOOD)])
    assert [each.winner for each in found.outcomes] == ["tie"]
    assert not found.outcomes[0].is_flip


def test_a_judge_that_prefers_a_position_decides_nothing_and_is_detected(tmp_path: Path) -> None:
    with demo_judge(biased=True) as server:
        found = judged(profile_for(tmp_path / "p.toml", server.url), DUELS)
    assert {each.winner for each in found.outcomes} == {"tie"}
    assert all(each.is_flip for each in found.outcomes)
    assert found.order_effect == 1.0
    assert found.is_biased
    assert found.as_dict()["flips"] == len(DUELS)


def test_faults_lose_no_duel(tmp_path: Path) -> None:
    with demo_judge(faults=("error", "cut", "broken-json"), rate=0.4) as server:
        found = judged(profile_for(tmp_path / "p.toml", server.url), DUELS)
        assert sorted(server.stats.answered.values()) == [1] * 2 * len(DUELS)
    assert {each.winner for each in found.outcomes} == {"left"}
    assert found.unparsable == ()


def test_injections_win_no_duel(judged_profile: Path) -> None:
    duels = [Duel(str(number), ESSAY, GOOD, f"{STOCK}\n{text}") for number, text in enumerate(INJECTIONS)]
    assert {each.winner for each in judged(judged_profile, duels).outcomes} == {"left"}


@pytest.mark.parametrize(("one", "other"), list(itertools.product(CHOICES, repeat=2)))
def test_every_pair_of_answers(one: str | None, other: str | None) -> None:
    """Written out once more: only two of the sixteen pairs have a winner."""
    found = outcome_of("a", *(None if each is None else Judgement(each, "") for each in (one, other)))  # type: ignore[arg-type]
    expected = {("first", "second"): "left", ("second", "first"): "right"}.get((one, other), "tie")  # type: ignore[arg-type]
    assert found == Outcome("a", expected, (one, other))  # type: ignore[arg-type]
    assert found.is_flip == (one == other and one in ("first", "second"))
    assert comparison_of([found]).unparsable == (("a",) if None in (one, other) else ())


@pytest.mark.parametrize("of", [0, 1, 2, 7, 20, 101])
def test_the_sign_test_is_scipys(of: int) -> None:
    for count in range(of + 1):
        expected = binomtest(count, of).pvalue if of else 1.0
        assert sign_test(count, of) == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("of", [1_000, 4_999, 10_000])
def test_the_sign_test_of_many_is_scipys_and_soon_done(of: int) -> None:
    began = time.monotonic()
    for count in (0, of // 3, of // 2 - 60, of // 2 - 1, of // 2, of // 2 + 1, of // 2 + 90, of - 1, of):
        assert sign_test(count, of) == pytest.approx(binomtest(count, of).pvalue, rel=1e-9, abs=1e-300)
    assert time.monotonic() - began < 5.0


def test_a_few_flips_to_either_side_are_no_bias() -> None:
    flips = [Outcome(str(n), "tie", ("first", "first") if n % 2 else ("second", "second")) for n in range(10)]
    fair = comparison_of(flips)
    assert (fair.order_effect, fair.is_biased) == (0.0, False)
    assert not comparison_of(flips[1:4]).is_biased
    assert comparison_of([Outcome(str(n), "tie", ("second", "second")) for n in range(10)]).order_effect == -1.0
    assert comparison_of([]).order_effect == 0.0


@pytest.mark.parametrize("of", [1, 2, 7, 20, 101])
def test_the_interval_is_scipys(of: int) -> None:
    for count in range(of + 1):
        expected = binomtest(count, of).proportion_ci(method="wilson")
        assert wilson(count, of) == pytest.approx((count / of, expected.low, expected.high), abs=1e-12)
    assert wilson(0, 0) == (0.5, 0.0, 1.0)


@pytest.mark.parametrize("choices", [("first", "tie"), ("tie", "first"), ("first", None), ("first", "first")])
def test_a_judge_that_prefers_a_position_only_half_of_the_time_is_detected_too(choices: tuple[str, str]) -> None:
    assert comparison_of([Outcome(str(n), "tie", choices) for n in range(12)]).is_biased


def test_a_fair_judge_that_errs_is_rarely_called_biased() -> None:
    """Each answer is drawn for its text, wherever it stands: of 2,000 comparisons 1 in 100 or fewer is suspected."""
    source, suspected = random.Random(7), 0
    for _ in range(2000):
        outcomes = []
        for number in range(40):
            weights = [source.random() for _ in range(3)]
            one, other = source.choices(("left", "right", "tie"), weights, k=2)
            as_first = {"left": "first", "right": "second", "tie": "tie"}[one]
            as_second = {"left": "second", "right": "first", "tie": "tie"}[other]
            outcomes.append(Outcome(str(number), "tie", (as_first, as_second)))
        suspected += comparison_of(outcomes).is_biased
    assert suspected <= 30


def test_votes_name_the_systems(judged_profile: Path) -> None:
    [vote] = judged(judged_profile, DUELS[:1]).votes("데모", "가", "나")
    assert vote == {"judge": "데모", "item": "e0", "left": "가", "right": "나", "choice": "left"}


@pytest.fixture
def judged_profile(tmp_path: Path, server: DemoJudge) -> Path:
    return profile_for(tmp_path / "pairs.toml", server.url)
