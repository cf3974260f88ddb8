"""Controls and repeats among the votes: what passes, in every protocol."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.arena.checks import Check, checks_of
from scoring.arena.vote_records import ArenaItem, Criterion, Exclusion, Judge, Protocol, System, Vote, Votes

SYSTEMS = tuple(System(label) for label in ("S01", "S02", "S03"))
ONE, TWO, THREE = ("S01",), ("S01", "S02"), ("S01", "S02", "S03")


def votes_of(protocol: Protocol, *votes: Vote, **fields: Any) -> Votes:
    criteria = (Criterion("fluency", 1, 5),) if protocol == "rubric" else ()
    return Votes({}, protocol, SYSTEMS, (ArenaItem("I0001"),), (Judge("J01"),), votes, criteria, **fields)


def vote(number: int, systems: tuple[str, ...], value: dict[str, Any], kind: Any = "real", **fields: Any) -> Vote:
    return Vote(number, "J01", "I0001", systems, value, kind, **fields)


@pytest.mark.parametrize(
    ("choice", "bad", "failed"),
    [("first", 1, 0), ("second", 0, 0), ("first", 0, 1), ("second", 1, 1), ("tie", 0, 1), ("both_bad", 1, 1)],
)
def test_the_bad_output_of_a_pair_must_lose(choice: str, bad: int, failed: int) -> None:
    votes = votes_of("pairwise", vote(1, TWO, {"choice": choice}, "control", bad=bad))
    assert list(checks_of(votes)) == [Check(1, "J01", "control", failed, 1)]


@pytest.mark.parametrize(("ranks", "failed"), [([1, 2, 3], 0), ([1, 1, 2], 0), ([1, 3, 2], 1), ([1, 2, 2], 1)])
def test_the_bad_output_of_a_ranking_must_be_last_alone(ranks: list[int], failed: int) -> None:
    votes = votes_of("ranking", vote(1, THREE, {"ranks": ranks}, "control", bad=2))
    assert [each.failed for each in checks_of(votes)] == [failed]


def test_a_bad_output_that_is_rated_must_be_below_the_mean_of_the_judge() -> None:
    real = [vote(number, ONE, {"scores": {"fluency": points}}) for number, points in ((1, 2), (2, 4))]
    low, high = [vote(number, ONE, {"scores": {"fluency": number}}, "control", bad=0) for number in (3, 4)]
    assert [each.failed for each in checks_of(votes_of("rubric", *real, low, high))] == [1, 1], "3 is the mean"
    lower = vote(5, ONE, {"scores": {"fluency": 2}}, "control", bad=0)
    assert [each.failed for each in checks_of(votes_of("rubric", *real, lower))] == [0]
    assert [each.failed for each in checks_of(votes_of("rubric", high))] == [0], "nothing to compare it with"


def test_a_repeat_of_a_ranking_counts_its_pairs_and_the_order_shown_does_not_matter() -> None:
    first = vote(1, THREE, {"ranks": [1, 2, 3]})
    again = vote(2, ("S03", "S01", "S02"), {"ranks": [3, 2, 1]}, "repeat", repeats=1)
    [found] = checks_of(votes_of("ranking", first, again))
    assert (found.kind, found.failed, found.count) == ("repeat", 1, 3)


@pytest.mark.parametrize(("score", "failed"), [(62, 0), (63, 1), (37, 1)])
def test_a_repeated_rating_is_the_same_within_half_a_step(score: int, failed: int) -> None:
    first, again = vote(1, ONE, {"score": 50}), vote(2, ONE, {"score": score}, "repeat", repeats=1)
    assert [each.failed for each in checks_of(votes_of("errors", first, again))] == [failed]


def test_what_is_left_out_is_no_check() -> None:
    first, again = vote(1, TWO, {"choice": "first"}), vote(2, TWO, {"choice": "tie"}, "repeat", repeats=1)
    bad = vote(3, TWO, {"choice": "first"}, "control", bad=0)
    votes = votes_of("pairwise", first, again, bad, exclusions=(Exclusion("왜", vote=1), Exclusion("왜", vote=3)))
    assert list(checks_of(votes)) == []
