"""The ranking rule, by example and on random boards."""

import itertools
import math
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from malpan.leaderboard.ranking import (
    Entry,
    Rule,
    board_signature,
    counted_finals,
    counting_entries,
    counting_entry,
    rank,
)
from scoring.composite import Component

START = datetime(2026, 11, 1, tzinfo=UTC)
TIES = Rule(("exact_match", "bleurt"))


def entry(team, final, *, minute=0, baseline=False, number=None, signature="s", **scores) -> Entry:
    return Entry(
        team_id=team,
        is_baseline=baseline,
        submission_id=number or minute * 100 + team,
        submitted_at=START + timedelta(minutes=minute),
        final_score=final,
        scores=scores,
        signature_hash=signature,
    )


def teams(ranked):
    return [(each.rank, each.entry.team_id) for each in ranked]


def test_higher_final_score_stands_higher():
    assert teams(rank([entry(1, 0.4), entry(2, 0.6), entry(3, 0.5)], TIES)) == [(1, 2), (2, 3), (3, 1)]


def test_best_submission_of_a_team_counts_not_the_last():
    best = entry(1, 0.9, minute=1)

    assert [each.entry for each in rank([entry(1, 0.2), best, entry(1, 0.3, minute=2)], TIES)] == [best]


def test_tie_is_broken_by_the_recipes_scores_in_turn():
    first = entry(1, 0.5, exact_match=0.4, bleurt=0.9)
    second = entry(2, 0.5, exact_match=0.6, bleurt=0.1, minute=9)
    third = entry(3, 0.5, exact_match=0.6, bleurt=0.2, minute=9)

    assert teams(rank([first, second, third], TIES)) == [(1, 3), (2, 2), (3, 1)]


def test_full_tie_goes_to_the_earlier_submission_and_shares_no_rank():
    assert teams(rank([entry(1, 0.5, minute=2), entry(2, 0.5, minute=1)], TIES)) == [(1, 2), (2, 1)]


def test_same_moment_goes_to_the_submission_received_first():
    assert teams(rank([entry(1, 0.5, number=8), entry(2, 0.5, number=7)], TIES)) == [(1, 2), (2, 1)]


def test_earlier_of_a_teams_equal_submissions_counts():
    early, late = entry(1, 0.5, minute=1), entry(1, 0.5, minute=5)

    assert counting_entries([late, early], TIES) == [early]


@pytest.mark.parametrize("score", [0.0, -1.0])  # Spearman's correlation goes down to -1
def test_missing_tie_score_stands_below_every_score(score):
    for missing in ({}, {"exact_match": math.nan}):
        board = [entry(1, 0.5, **missing), entry(2, 0.5, minute=5, exact_match=score)]
        assert teams(rank(board, TIES)) == [(1, 2), (2, 1)]


def test_baseline_stands_in_its_place_without_a_rank():
    board = [entry(1, 0.9), entry(2, 0.8, baseline=True), entry(3, 0.7), entry(4, 0.1, baseline=True)]

    assert teams(rank(board, TIES)) == [(1, 1), (None, 2), (2, 3), (None, 4)]


@pytest.mark.parametrize("noise", [1e-15, 2.6e-10, 4e-9])
def test_a_difference_behind_the_eighth_decimal_is_a_tie(noise):
    """2.6e-10 is what one of five fillings of the store of pair values moved a final score by."""
    assert teams(rank([entry(1, 0.5), entry(2, 0.5 + noise, minute=5)], TIES)) == [(1, 1), (2, 2)]
    assert teams(rank([entry(1, 0.5 + noise, exact_match=0.1), entry(2, 0.5, exact_match=0.2)], TIES))[0] == (1, 2)
    tie_break = [entry(1, 0.5, exact_match=0.2), entry(2, 0.5, exact_match=0.2 + noise, minute=5)]
    assert teams(rank(tie_break, TIES)) == [(1, 1), (2, 2)]


def test_a_difference_in_the_eighth_decimal_is_none():
    assert teams(rank([entry(1, 0.5), entry(2, 0.5 + 1e-8, minute=5)], TIES)) == [(1, 2), (2, 1)]


def test_equal_means_equal_to_eight_decimals_so_that_ties_are_transitive():
    """Scores closer than that differ if they round apart: a tolerance would make 1 = 2 and 2 = 3, but not 1 = 3."""
    assert teams(rank([entry(1, 0.5 + 4.9e-9), entry(2, 0.5 + 5.1e-9, minute=5)], TIES)) == [(1, 2), (2, 1)]
    chain = [entry(team, 0.5 + team * 6e-9, minute=team) for team in (1, 2, 3)]
    assert teams(rank(chain, TIES)) == [(1, 3), (2, 1), (3, 2)]


def test_ties_are_transitive_however_many_stand_close_together():
    """A chain of neighbours 3e-9 apart: who is tied with whom depends on no third."""
    board = [entry(team, 0.5 + 3e-9 * team, minute=20 - team) for team in range(1, 20)]
    order = [each.entry.team_id for each in rank(board, TIES)]
    for left, right in itertools.combinations(board, 2):
        alone = [each.entry.team_id for each in rank([left, right], TIES)]
        assert alone == [team for team in order if team in alone]


def test_of_a_teams_results_that_are_tied_the_earlier_counts():
    early, late = entry(1, 0.5, minute=1), entry(1, 0.5 + 1e-10, minute=5)

    assert counting_entries([late, early], TIES) == [early]


def test_empty_board():
    assert rank([], TIES) == []
    assert board_signature([]) is None


def test_board_signature_is_that_of_the_majority_and_then_of_the_newest():
    odd = entry(1, 0.9, minute=9, signature="odd")

    assert board_signature([entry(2, 0.1), entry(3, 0.2), odd]) == "s"
    assert board_signature([entry(2, 0.1), odd]) == "odd"


def test_chosen_submissions_count_in_the_place_of_the_best_and_only_of_the_team_that_chose():
    board = [
        entry(1, 0.9, number=11), entry(1, 0.5, number=12), entry(1, 0.7, number=13),
        entry(2, 0.8, number=21), entry(2, 0.6, number=22),
    ]  # fmt: skip

    assert counted_finals(board, set(), 2, TIES) == {11, 21}
    assert counted_finals(board, {12, 13}, 2, TIES) == {12, 13, 21}
    assert counted_finals(board, {12, 13}, 1, TIES) == {13, 21}
    assert counted_finals(board, {12, 13}, None, TIES) == {11, 12, 13, 21, 22}


def _random_board(seed: int) -> list[Entry]:
    """Few distinct scores and moments, so that ties of every kind occur."""
    dice = random.Random(seed)
    return [
        entry(
            dice.randrange(12),
            dice.choice([0.1, 0.5, 0.9]),
            minute=dice.randrange(4),
            number=number,
            exact_match=dice.choice([0.0, 0.5]),
            bleurt=dice.choice([0.0, 0.5]),
        )
        for number in range(1, dice.randrange(1, 60))
    ]


@pytest.mark.parametrize("seed", range(40))
def test_properties_of_every_board(seed):
    entries = _random_board(seed)
    baselines = {each.team_id for each in entries if each.team_id % 5 == 0}
    entries = [
        entry(
            each.team_id, each.final_score, minute=0, number=each.submission_id, baseline=each.team_id in baselines,
            **each.scores,
        )
        for each in entries
    ]  # fmt: skip
    ranked = rank(entries, TIES)

    shuffled = entries[:]
    random.Random(seed).shuffle(shuffled)
    assert rank(shuffled, TIES) == ranked  # the order of arrival in memory changes nothing
    assert sorted(each.entry.team_id for each in ranked) == sorted({each.team_id for each in entries})
    assert [each.rank for each in ranked if each.rank] == list(range(1, len(ranked) + 1 - len(baselines)))
    assert {each.entry.team_id for each in ranked if each.rank is None} == baselines
    finals = [each.entry.final_score for each in ranked]
    assert finals == sorted(finals, reverse=True)
    for each in ranked:  # nobody is represented by less than their best
        assert each.entry.final_score == max(x.final_score for x in entries if x.team_id == each.entry.team_id)


@pytest.mark.parametrize("seed", range(10))
def test_better_result_never_costs_a_place(seed):
    entries = _random_board(seed)
    team = entries[0].team_id
    before = {each.entry.team_id: each.rank for each in rank(entries, TIES)}

    after = {each.entry.team_id: each.rank for each in rank([*entries, entry(team, 0.95, minute=99)], TIES)}

    assert after[team] == 1
    assert all(after[other] >= place for other, place in before.items() if other != team)


COMPOSITE = Rule(TIES.tie_breaks, (Component("rmse", 45, higher_is_better=False), Component("spearman", 45)), "latest")


def test_composite_orders_by_places_not_by_values_and_ties_by_the_earlier():
    board = [
        entry(1, 0.9, minute=3, rmse=0.9, spearman=0.1),
        entry(2, 0.1, minute=2, rmse=0.1, spearman=0.7),
        entry(3, 0.1, minute=1, rmse=0.2, spearman=0.9),
    ]
    ranked = rank(board, COMPOSITE)
    assert teams(ranked) == [(1, 3), (2, 2), (3, 1)]
    assert [each.composite.value for each in ranked] == [0.75, 0.75, 0.0]


def test_of_a_team_the_latest_the_chosen_or_the_best_by_a_score_counts():
    first = entry(1, 0.9, minute=1, rmse=0.3, spearman=0.2)
    second = entry(1, 0.5, minute=2, rmse=0.2, spearman=0.1)
    last = entry(1, 0.1, minute=3, rmse=0.4)
    board = [second, last, first]
    for rule, expected in (
        (COMPOSITE, last),
        (replace(COMPOSITE, counting="chosen"), last),
        (replace(COMPOSITE, counting="best"), first),
        (replace(COMPOSITE, counting="best", best_by="rmse", best_is_lowest=True), second),
        (replace(COMPOSITE, counting="best", best_by="spearman"), first),
    ):
        assert counting_entry(board, rule) == expected
    chosen = [replace(each, is_chosen=True) if each is second else each for each in board]
    assert counting_entry(chosen, replace(COMPOSITE, counting="chosen")).submission_id == second.submission_id
    assert counting_entry(chosen, COMPOSITE).submission_id == last.submission_id
    assert counting_entry(chosen, TIES).submission_id == first.submission_id
    both = [replace(each, is_chosen=True) for each in (first, second)]
    assert counting_entry(both, replace(COMPOSITE, counting="chosen")).submission_id == second.submission_id
    assert counting_entry([], COMPOSITE) is counting_entry([], TIES) is None


def test_what_counts_finally_where_a_composite_ranks():
    board = [entry(1, 0.9, minute=1, number=11), entry(1, 0.5, minute=2, number=12), entry(2, 0.3, number=21)]
    assert counted_finals(board, {11}, None, COMPOSITE) == {12, 21}
    assert counted_finals(board, {11}, 1, COMPOSITE) == {12, 21}
    chosen = [replace(each, is_chosen=each.submission_id == 11) for each in board]
    assert counted_finals(chosen, {11}, 1, replace(COMPOSITE, counting="chosen")) == {11, 21}
    best = replace(COMPOSITE, counting="best")
    assert counted_finals(board, set(), None, best) == {11, 12, 21}
    assert counted_finals(board, {12}, 1, best) == {12, 21}


def test_baselines_of_a_composite_have_a_place_and_change_nobody():
    board = [entry(team, 0.5, minute=team, rmse=team / 10, spearman=0.5) for team in (1, 2, 3)]
    alone = rank(board, COMPOSITE)
    ranked = rank([*board, entry(9, 0.5, baseline=True, rmse=0.15, spearman=0.5)], COMPOSITE)
    assert teams(ranked) == [(1, 1), (None, 9), (2, 2), (3, 3)]
    assert [each.composite for each in ranked if each.rank] == [each.composite for each in alone]
