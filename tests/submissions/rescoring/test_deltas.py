"""What organisers see as the effect of a rescoring, by hand on few submissions and two boards."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from malpan.submissions.rescoring import deltas
from malpan.submissions.rescoring.deltas import FINAL, NOISE, Bar, Change, Histogram, Place, RankMove, Scored

WHEN = datetime(2026, 11, 25, 9, 0, tzinfo=UTC)
TINY = NOISE / 2
TWO_SCORES = (FINAL, "rouge1")
Scores = dict[str, float]


def row(number: int, before: float | Scores | None, after: float | Scores, **hidden: Scores) -> Scored:
    """A submission with these scores, or a final score alone; ``before`` is ``None`` where none counted."""
    old, new = ({FINAL: each} if isinstance(each, float) else each for each in (before, after))
    return Scored(number, f"sub{number}", number, f"팀 {number}", WHEN, old, new or {}, **hidden)


def move(team: int, before: int | None, after: int | None, *, old: float | None, new: float | None) -> RankMove:
    return RankMove(team, f"팀 {team}", before, after, old, new, crossed=(), is_own=True)


# --- one submission ---------------------------------------------------------------------------------------------------
def test_a_difference_is_after_minus_before_of_a_score_that_both_have() -> None:
    one = row(1, 0.25, 0.75, hidden_before={FINAL: 0.5}, hidden_after={FINAL: 0.25, "rouge1": 0.5})
    assert (one.delta(), one.hidden_delta()) == (0.5, -0.25)
    assert (one.delta("rouge1"), one.hidden_delta("rouge1")) == (None, None)
    new = row(2, None, 0.75, hidden_after={FINAL: 0.5})
    assert (new.delta(), new.hidden_delta()) == (None, None)
    only_before = row(3, {FINAL: 0.5, "rouge1": 0.1}, 0.5, hidden_before={FINAL: 0.5})
    assert (only_before.delta("rouge1"), only_before.hidden_delta()) == (None, None)


# --- all submissions --------------------------------------------------------------------------------------------------
def test_a_change_counts_who_has_the_score_on_both_sides_and_whose_value_moves() -> None:
    rows = [
        row(1, 0.50, 0.75, hidden_before={FINAL: 0.5}, hidden_after={FINAL: 0.25}),
        row(2, 0.50, 0.25),
        row(3, 0.50, 0.50),
        row(4, 0.50, 0.50 + TINY),
        row(5, None, 0.90),
        row(6, {FINAL: 0.5, "rouge1": 0.1}, {FINAL: 0.75, "rouge1": 0.1}),
    ]
    [final, rouge] = deltas.changes(rows, [FINAL, "meteor_ko", "rouge1"])
    assert (final.score, final.count, final.changed) == (FINAL, 5, 3)
    assert (final.mean, final.minimum, final.maximum) == (pytest.approx(0.05), -0.25, 0.25)
    assert rouge == Change("rouge1", 1, 0, 0.0, 0.0, 0.0)
    assert deltas.changes(rows, [FINAL], is_private=True) == [Change(FINAL, 1, 1, -0.25, -0.25, -0.25)]


def test_a_difference_of_just_the_noise_is_none_and_one_above_it_is_one() -> None:
    for size, changed in ((NOISE, 0), (1.5 * NOISE, 1)):
        rows = [row(1, 0.0, size), row(2, size, 0.0)]
        assert [each.changed for each in deltas.changes(rows, [FINAL])] == [2 * changed]
        assert deltas.count_changed(rows, [FINAL]) == 2 * changed
        assert deltas.histogram([size, -size]).unchanged == 2 - 2 * changed


def test_a_difference_within_the_spread_of_its_score_does_not_count() -> None:
    rows = [row(1, 0.50, 0.53), row(2, 0.50, 0.47), row(3, 0.50, 0.54)]
    for spreads, changed in (({FINAL: 0.03}, 1), ({"rouge1": 0.03}, 3), ({FINAL: 0.029}, 3), ({}, 3)):
        assert [each.changed for each in deltas.changes(rows, [FINAL], spreads=spreads)] == [changed]
        assert deltas.count_changed(rows, [FINAL], spreads=spreads) == changed
    assert deltas.is_within(0.03 + TINY, FINAL, {FINAL: 0.03})
    assert not deltas.is_within(0.03 + 2 * NOISE, FINAL, {FINAL: 0.03})
    assert deltas.is_within(NOISE, FINAL, {FINAL: 0.0})


def test_a_submission_counts_once_however_many_of_its_scores_change() -> None:
    both = row(1, {FINAL: 0.5, "rouge1": 0.5}, {FINAL: 0.6, "rouge1": 0.4})
    one = row(2, {FINAL: 0.5, "rouge1": 0.5}, {FINAL: 0.5, "rouge1": 0.4})
    new = row(3, None, 0.5, hidden_before={FINAL: 0.5}, hidden_after={FINAL: 0.6})
    assert deltas.count_changed([both, one, new], TWO_SCORES) == 2
    assert deltas.count_changed([both, one, new], [FINAL]) == 1
    assert deltas.count_changed([both, one, new], TWO_SCORES, is_private=True) == 1


def test_a_histogram_has_as_many_steps_below_zero_as_above_up_to_the_largest_difference() -> None:
    found = deltas.histogram([0.0, -0.5, 0.5, 0.25, 0.3, -0.1, TINY], bars=4)
    assert found == Histogram(
        (Bar(-0.5, -0.25, 1), Bar(-0.25, 0.0, 1), Bar(0.0, 0.25, 0), Bar(0.25, 0.5, 3)), unchanged=2
    )
    assert found.highest == 3
    lopsided = deltas.histogram([-1.0], bars=2)
    assert lopsided == Histogram((Bar(-1.0, 0.0, 1), Bar(0.0, 1.0, 0)), unchanged=0)
    assert len(deltas.histogram([0.5]).bars) == 20


def test_a_histogram_of_no_difference_has_no_steps() -> None:
    assert deltas.histogram([0.0, -TINY]) == Histogram((), 2)
    assert deltas.histogram([]).highest == 0


# --- boards -----------------------------------------------------------------------------------------------------------
def test_teams_are_listed_by_new_rank_and_those_that_leave_last() -> None:
    before = {team: Place(rank, 0.5, team, {}) for team, rank in ((1, 1), (2, 2), (3, 3), (4, None), (5, 4), (6, 4))}
    after = {team: Place(rank, 0.5, team, {}) for team, rank in ((3, 1), (2, 2), (7, 2), (1, 2), (4, None))}
    names = {team: f"팀 {team}" for team in range(1, 7)}

    found = deltas.rank_moves(before, after, names, [])

    assert [(each.team_id, each.before, each.after) for each in found] == [
        (3, 3, 1),
        (7, None, 2),  # of the same new rank, who was not on the board before
        (1, 1, 2),
        (2, 2, 2),
        (4, None, None),
        (5, 4, None),
        (6, 4, None),
    ]
    assert [each.team_name for each in found[:2]] == ["팀 3", ""]
    assert [each.places for each in found] == [2, None, -1, 0, None, None, None]
    assert [each.moves for each in found] == [True, True, True, False, False, True, True]
    assert [each.is_ranked for each in found] == [True, True, True, True, False, True, True]


def test_the_first_of_a_new_board_comes_before_all_others() -> None:
    after = {9: Place(1, 0.9, 9, {}), 1: Place(2, 0.8, 1, {})}
    found = deltas.rank_moves({}, after, {}, [])
    assert [each.team_id for each in found] == [9, 1]


def test_prize_places_are_crossed_where_one_is_reached_or_lost() -> None:
    def crossed(before: int | None, after: int | None) -> tuple[int, ...]:
        boards = [{} if rank is None else {1: Place(rank, 0.5, 1, {})} for rank in (before, after)]
        [found] = deltas.rank_moves(*boards, {}, [10, 3, 1, 3])
        return found.crossed

    assert crossed(4, 3) == crossed(3, 4) == (3,)
    assert crossed(1, 3) == (1,)
    assert crossed(2, 3) == crossed(4, 5) == crossed(11, 12) == ()
    assert crossed(11, 1) == (1, 3, 10)
    assert crossed(None, 2) == crossed(2, None) == (3, 10)


@pytest.mark.parametrize(
    ("before", "after", "least"),  # the fewest guarded places that it changes; none where it moves nobody
    [
        (1, 2, 1),
        (2, 1, 1),
        (3, 4, 3),
        (4, 3, 3),
        (5, 9, 5),
        (None, 2, 2),
        (2, None, 2),
        (3, 3, None),
        (None, None, None),
    ],
)
def test_a_team_changes_the_first_places_where_it_gets_loses_or_changes_one(
    before: int | None, after: int | None, least: int | None
) -> None:
    one = move(1, before, after, old=0.5, new=0.5)
    for first in range(11):
        assert deltas.places_changed([one], first) == (least is not None and first >= least)
    assert deltas.places_changed([one, one], 10) == 2 * (least is not None)


def test_the_values_a_team_is_ranked_by_stand_beside_its_ranks() -> None:
    [both] = deltas.rank_moves({1: Place(2, 0.25, 1, {})}, {1: Place(1, 0.75, 1, {})}, {}, [])
    assert (both.score_before, both.score_after, both.delta) == (0.25, 0.75, 0.5)
    [new] = deltas.rank_moves({}, {1: Place(1, 0.75, 1, {})}, {}, [])
    assert (new.before, new.score_before, new.score_after, new.delta) == (None, None, 0.75, None)
    [gone] = deltas.rank_moves({1: Place(2, 0.25, 1, {})}, {}, {}, [])
    assert (gone.after, gone.score_before, gone.score_after, gone.delta) == (None, 0.25, None, None)


@pytest.mark.parametrize(
    ("after", "is_own"),
    [
        (Place(5, 0.1, 7, {"rouge1": 0.5, "bleurt": 0.25}), False),  # others moved
        (Place(1, 0.5, 7, {"rouge1": 0.5 + NOISE / 2, "bleurt": 0.25}), False),
        (Place(1, 0.5, 7, {"rouge1": 0.5, "bleurt": 0.25 - 2 * NOISE}), True),
        (Place(1, 0.5, 7, {"rouge1": 0.5 + 2 * NOISE, "bleurt": 0.25}), True),
        (Place(1, 0.5, 8, {"rouge1": 0.5, "bleurt": 0.25}), True),
        (Place(1, 0.5, 7, {"rouge1": 0.5}), True),
        (Place(1, 0.5, 7, {"rouge1": 0.5, "bleurt": 0.25, "chrf": 0.1}), True),
        (None, True),
    ],
)
def test_a_move_is_a_teams_own_where_its_submission_or_one_of_its_scores_changes(
    after: Place | None, is_own: bool
) -> None:
    old = {1: Place(1, 0.5, 7, {"rouge1": 0.5, "bleurt": 0.25})}
    new = {} if after is None else {1: after}
    assert [each.is_own for each in deltas.rank_moves(old, new, {}, [])] == [is_own]
    assert [each.is_own for each in deltas.rank_moves(new, old, {}, [])] == [is_own]


def test_a_score_that_changes_by_just_the_noise_is_the_same() -> None:
    old, new = ({1: Place(1, 0.5, 7, {"rouge1": value})} for value in (0.0, NOISE))
    assert [each.is_own for each in deltas.rank_moves(old, new, {}, [])] == [False]


# --- lists ------------------------------------------------------------------------------------------------------------
def test_submissions_are_filtered_by_their_largest_change_shown_or_hidden() -> None:
    shown, fallen = row(1, 0.5, 0.75), row(2, 1.0, 0.25)
    hidden = row(3, 0.5, 0.5, hidden_before={FINAL: 0.0}, hidden_after={FINAL: 0.5})
    same, new = row(5, 0.5, 0.5), row(4, None, 0.9)
    equal = row(0, 0.25, 0.5)
    rows = [same, new, shown, fallen, hidden, equal]
    assert deltas.at_least(rows, 0.25) == [fallen, hidden, equal, shown]
    assert deltas.at_least(rows, 0.25 + TINY) == [fallen, hidden, equal, shown]
    assert deltas.at_least(rows, 0.25 + 2 * NOISE) == [fallen, hidden]
    assert deltas.at_least(rows, 0.0) == [fallen, hidden, equal, shown, new, same]
    assert deltas.at_least([row(1, 0.0, NOISE)], 2 * NOISE) == [row(1, 0.0, NOISE)]

    other = row(6, {FINAL: 0.5, "rouge1": 0.9}, {FINAL: 0.5, "rouge1": 0.1})
    assert deltas.at_least([other], 0.25) == []
    assert deltas.at_least([other], 0.25, TWO_SCORES) == [other]


def test_ranked_teams_are_filtered_by_the_change_of_what_they_are_ranked_by() -> None:
    rises = move(1, 3, 1, old=0.5, new=0.75)
    falls = move(2, 1, 3, old=1.0, new=0.5)
    equal = move(0, 2, 2, old=0.25, new=0.5)
    same = move(3, 4, 4, old=0.5, new=0.5)
    just_noise = move(6, 4, 4, old=0.0, new=NOISE)
    baseline = move(4, None, None, old=0.1, new=0.9)
    new = move(5, None, 5, old=None, new=0.9)
    appears = move(7, None, 6, old=0.25, new=0.375)  # was not ranked, and is now
    moves = [same, baseline, new, rises, falls, equal, just_noise, appears]
    assert deltas.moved_at_least(moves, 0.0) == [falls, equal, rises, appears]
    assert deltas.moved_at_least(moves, 0.25) == [falls, equal, rises]
    assert deltas.moved_at_least(moves, 0.25 + 2 * NOISE) == [falls]
    assert deltas.moved_at_least([move(1, 1, 1, old=0.0, new=2 * NOISE)], 0.0) != []


def test_spreads_are_of_the_runs_that_have_the_score() -> None:
    runs = [{FINAL: 0.5, "rouge1": 0.1}, {FINAL: 0.75}, {FINAL: 0.5}, {FINAL: 0.25}]
    assert deltas.spreads(runs, [FINAL, "chrf", "rouge1"]) == [
        Change(FINAL, 4, 2, 0.5, 0.25, 0.75),
        Change("rouge1", 1, 0, 0.1, 0.1, 0.1),
    ]
    assert deltas.spreads([], [FINAL]) == []


# --- the file ---------------------------------------------------------------------------------------------------------
def test_the_file_has_a_line_for_each_submission_with_every_score_before_and_after() -> None:
    first = row(1, 0.25, {FINAL: 0.75, "rouge1": 0.5})
    header, lines = deltas.as_table([first, row(2, None, 0.5)], TWO_SCORES, has_hidden=False)
    assert header == [
        *("submission", "team", "submitted_at"),
        *("final_score_before", "final_score_after", "final_score_delta"),
        *("rouge1_before", "rouge1_after", "rouge1_delta"),
    ]
    assert lines == [
        ["sub1", "팀 1", WHEN, 0.25, 0.75, 0.5, None, 0.5, None],
        ["sub2", "팀 2", WHEN, None, 0.5, None, None, None, None],
    ]


def test_the_file_has_the_hidden_split_where_there_is_one() -> None:
    one = row(1, 0.25, 0.75, hidden_before={FINAL: 0.5}, hidden_after={FINAL: 0.25})
    header, lines = deltas.as_table([one, row(2, 0.5, 0.5)], [FINAL], has_hidden=True)
    assert header[3:] == [
        *("final_score_before", "final_score_after", "final_score_delta"),
        *("hidden_final_score_before", "hidden_final_score_after", "hidden_final_score_delta"),
    ]
    assert [line[3:] for line in lines] == [
        [0.25, 0.75, 0.5, 0.5, 0.25, -0.25],
        [0.5, 0.5, 0.0, None, None, None],
    ]


def test_the_file_ends_with_what_its_team_is_ranked_by_where_that_is_a_composite() -> None:
    rises = move(1, 3, 1, old=0.5, new=0.75)
    header, lines = deltas.as_table([row(1, 0.5, 0.5), row(2, 0.5, 0.5)], [FINAL], has_hidden=False, moves=[rises])
    assert header[6:] == [
        *("team_composite_before", "team_composite_after", "team_composite_delta"),
        *("team_rank_before", "team_rank_after"),
    ]
    assert [line[6:] for line in lines] == [[0.5, 0.75, 0.25, 3, 1], [None] * 5]
