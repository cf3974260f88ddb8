"""The rule of a final in stages, held against a second writing of it in plain loops and exact fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malpan.stages.rule import Combined, Entry, Placed, Rule, combine, place

SCALE = (0.0, 100.0)


# --- the second writing -----------------------------------------------------------------------------------------------
def ranks_by_hand(entries: list[Entry], tie_rule: str) -> dict[int, int]:
    """1 + how many teams are strictly before."""
    ranks = {}
    for one in entries:
        before = 0
        for other in entries:
            higher = round(other.score, 8) > round(one.score, 8)
            equal = round(other.score, 8) == round(one.score, 8)
            before += higher or (equal and tie_rule == "earlier" and other.order < one.order)
        ranks[one.team_number] = before + 1
    return ranks


def numbers_by_hand(entries: list[Entry], rule: Rule) -> dict[int, Fraction]:
    found = {}
    ranks = ranks_by_hand(entries, rule.tie_rule)
    for one in entries:
        if rule.normalisation == "value":
            low, high = map(Fraction, rule.scale)
            found[one.team_number] = (Fraction(one.score) - low) / (high - low)
            continue
        sharing = sum(rank == ranks[one.team_number] for rank in ranks.values())
        mean_place = Fraction(2 * ranks[one.team_number] + sharing - 1, 2)
        count = len(entries)
        found[one.team_number] = Fraction(1) if count == 1 else (count - mean_place) / (count - 1)
    return found


def final_by_hand(stages: list[list[Entry]], rules: list[Rule]) -> list[tuple[Any, ...]]:
    """(team, rank, score, stopped at) in order."""
    numbers = [numbers_by_hand(entries, rule) for entries, rule in zip(stages, rules, strict=True)]
    ranks = [ranks_by_hand(entries, rule.tie_rule) for entries, rule in zip(stages, rules, strict=True)]
    weights = [Fraction(rule.weight) for rule in rules]
    last = {entry.team_number for entry in stages[-1]}
    score = {
        team: sum((w * n[team] for w, n in zip(weights, numbers, strict=True)), Fraction(0)) / sum(weights)
        for team in last
    }
    by_weight = sorted(range(len(rules)), key=lambda each: (-weights[each], each))

    def compared(team: int) -> tuple[float, ...]:
        return tuple(round(float(value), 8) for value in (score[team], *(numbers[each][team] for each in by_weight)))

    lines = [
        (team, 1 + sum(compared(other) > compared(team) for other in last), float(score[team]), None) for team in last
    ]
    lines.sort(key=lambda line: (line[1], line[0]))
    stopped = []
    for team in {entry.team_number for entry in stages[0]} - last:
        reached = max(index for index, of_stage in enumerate(ranks) if team in of_stage)
        stopped.append((-reached, ranks[reached][team], team))
    return lines + [(team, None, None, 1 - reached) for reached, _rank, team in sorted(stopped)]


# --- worlds -----------------------------------------------------------------------------------------------------------
def a_rule(rng: random.Random, *, weight: int | None = None) -> Rule:
    return Rule(
        normalisation=rng.choice(["value", "rank"]),
        scale=SCALE,
        weight=rng.randint(0, 60) if weight is None else weight,
        cut=rng.choice([None, 1, 2, 5, 9]),
        tie_rule=rng.choice(["shared", "earlier"]),
    )


def a_final(seed: int) -> tuple[list[list[Entry]], list[Rule], list[list[Placed]]]:
    """One to four stages of up to thirty teams with many equal scores."""
    rng = random.Random(seed)
    teams = list(range(1, rng.randint(1, 30)))
    teams = teams or [1]
    stages, rules, placed = [], [], []
    for number in range(rng.randint(1, 4)):
        rule = a_rule(rng, weight=rng.randint(1, 60) if number == 0 else None)
        rng.shuffle(teams)
        entries = [
            Entry(team, rng.choice([rng.randint(0, 8) * 12.5, rng.random() * 100]), n) for n, team in enumerate(teams)
        ]
        stages.append(entries)
        rules.append(rule)
        placed.append(place(entries, rule))
        teams = [each.entry.team_number for each in placed[-1] if each.goes_on]
    return stages, rules, placed


@pytest.mark.parametrize("seed", range(300))
def test_ranks_numbers_and_the_combined_standing_are_those_of_the_second_writing(seed: int) -> None:
    stages, rules, placed = a_final(seed)
    for entries, rule, found in zip(stages, rules, placed, strict=True):
        assert {each.entry.team_number: each.rank for each in found} == ranks_by_hand(entries, rule.tie_rule)
        expected = numbers_by_hand(entries, rule)
        for each in found:
            assert each.normalised == pytest.approx(float(expected[each.entry.team_number]), abs=1e-12)
    lines = combine(placed, [rule.weight for rule in rules])
    expected_lines = final_by_hand(stages, rules)
    assert [(line.team_number, line.rank, line.stopped_at) for line in lines] == [
        (team, rank, stopped) for team, rank, _score, stopped in expected_lines
    ]
    for line, (_team, _rank, score, _stopped) in zip(lines, expected_lines, strict=True):
        assert line.score == (None if score is None else pytest.approx(score, abs=1e-12))


def going_on(scores: list[float], cut: int | None, tie_rule: str) -> list[int]:
    entries = [Entry(number, score, number) for number, score in enumerate(scores, start=1)]
    return [each.entry.team_number for each in place(entries, Rule("value", SCALE, 1, cut, tie_rule)) if each.goes_on]


def test_all_that_are_equal_at_the_line_go_on() -> None:
    assert going_on([90, 80, 80, 80, 70], 2, "shared") == [1, 2, 3, 4]
    assert going_on([90, 80, 80, 80, 70], 1, "shared") == [1]


def test_the_earlier_submission_goes_on_where_the_rule_says_so() -> None:
    assert going_on([90, 80, 80, 80, 70], 2, "earlier") == [1, 2]


def test_without_a_cut_all_go_on() -> None:
    assert going_on([3, 2, 1], None, "shared") == [1, 2, 3]


def test_scores_closer_than_the_noise_of_a_computation_are_equal() -> None:
    assert going_on([80 + 1e-10, 80], 1, "shared") == [1, 2]


def test_a_scale_may_begin_anywhere() -> None:
    found = place([Entry(1, 45.0, 1), Entry(2, 20.0, 2), Entry(3, 70.0, 3)], Rule("value", (20, 70), 1, None, "shared"))
    assert {each.entry.team_number: each.normalised for each in found} == {1: 0.5, 2: 0.0, 3: 1.0}


def test_no_number_is_minus_zero() -> None:
    """The page that checks a standing writes 0 where Python would write -0.0."""
    for normalisation in ("value", "rank"):
        found = place([Entry(1, -0.0, 1), Entry(2, 50.0, 2)], Rule(normalisation, SCALE, 1, None, "shared"))
        assert [(each.normalised, math.copysign(1, each.normalised)) for each in found][1] == (0.0, 1.0)


def of(*numbers: float) -> list[Placed]:
    """A stage that gives team 1, 2, … these numbers."""
    return [Placed(Entry(team, value, team), 1, value, True) for team, value in enumerate(numbers, start=1)]


def standing(lines: list[Combined]) -> list[tuple[int, int | None]]:
    return [(line.team_number, line.rank) for line in lines]


def test_equal_scores_are_told_apart_by_the_heavier_stage() -> None:
    assert standing(combine([of(0.75, 0.5), of(0.5, 0.625)], [1, 2])) == [(2, 1), (1, 2)]


def test_of_equal_weights_the_earlier_stage_tells_them_apart() -> None:
    assert standing(combine([of(0.25, 0.75), of(0.75, 0.25)], [1, 1])) == [(2, 1), (1, 2)]


def test_who_is_equal_in_all_stages_shares_a_rank() -> None:
    assert standing(combine([of(0.5, 1.0, 0.5), of(0.5, 1.0, 0.5)], [1, 3])) == [(2, 1), (1, 2), (3, 2)]


def test_a_stage_of_weight_0_only_cuts() -> None:
    lines = combine([of(1.0, 0.0), of(0.0, 0.5)], [0, 1])
    assert standing(lines) == [(2, 1), (1, 2)]
    assert [line.score for line in lines] == [0.5, 0.0]


@pytest.mark.parametrize(("stages", "weights"), [([], []), ([of(1.0)], [0]), ([of(1.0)], [1, 2])])
def test_a_standing_without_stages_or_weight_is_refused(stages: Any, weights: Any) -> None:
    with pytest.raises(ValueError, match="weights"):
        combine(stages, weights)


FINALS = st.integers(min_value=0, max_value=10**9).map(a_final)


@settings(deadline=None)
@given(FINALS, st.randoms(use_true_random=False))
def test_the_order_in_which_teams_are_given_changes_nothing(final: Any, rng: random.Random) -> None:
    stages, rules, placed = final
    shuffled = [rng.sample(entries, len(entries)) for entries in stages]
    assert [place(entries, rule) for entries, rule in zip(shuffled, rules, strict=True)] == placed


@settings(deadline=None)
@given(FINALS)
def test_who_is_better_in_every_stage_is_not_below(final: Any) -> None:
    _stages, rules, placed = final
    lines = [line for line in combine(placed, [rule.weight for rule in rules]) if line.rank is not None]
    for one in lines:
        for other in lines:
            better = all(a.normalised >= b.normalised for a, b in zip(one.parts, other.parts, strict=True))
            assert not better or one.rank <= other.rank  # type: ignore[operator]


@settings(deadline=None)
@given(FINALS)
def test_the_teams_of_a_cut_are_the_best_and_at_least_as_many(final: Any) -> None:
    _stages, rules, placed = final
    for rule, found in zip(rules, placed, strict=True):
        on = [each for each in found if each.goes_on]
        assert len(on) >= min(rule.cut or len(found), len(found))
        if rule.tie_rule == "earlier" and rule.cut:
            assert len(on) == min(rule.cut, len(found))
        worst = min((each.entry.score for each in on), default=0)
        assert all(each.entry.score <= worst + 1e-7 for each in found if not each.goes_on)
