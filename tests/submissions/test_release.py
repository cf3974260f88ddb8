"""What the public sees of scores: rounded, and with the Ladder only of submissions that rise."""

from __future__ import annotations

import random
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from malpan.competitions.errors import PhaseSettingsInvalid
from malpan.competitions.models import Phase
from malpan.competitions.phases import update_phase
from malpan.leaderboard.finals import final_board
from malpan.leaderboard.selectors import board
from malpan.submissions.integrity import chain
from malpan.submissions.integrity.receipts import receipt_of
from malpan.submissions.models import Submission
from malpan.submissions.release import Release, nearest, risen
from malpan.submissions.selectors import run_for_team, team_history
from malpan.submissions.visibility import shown_run, shown_scores
from tests.factories import PhaseFactory, ReferenceVersionFactory, TeamFactory, finished_submission

STEP = Decimal("0.01")
NOW = timezone.now()


@pytest.mark.parametrize(
    ("value", "step", "expected"),
    [
        (0.8349, "0.01", 0.83),
        (0.835, "0.01", 0.84),  # of two as near the even multiple
        (0.845, "0.01", 0.84),
        (0.8351, "0.005", 0.835),
        (0.1 + 0.2, "0.1", 0.3),
        (0.0, "0.01", 0.0),
        (1.0, "0.000001", 1.0),
        (1.237, "0.05", 1.25),  # CIDEr goes beyond 1
    ],
)
def test_a_score_is_rounded_to_the_nearest_multiple(value, step, expected):
    assert nearest(value, Decimal(step)) == expected


def ladder_of_the_paper(losses: list[float], eta: float) -> list[int]:
    """Algorithm 1 of Blum and Hardt (2015), written from the paper in its own terms: losses, lower is better."""
    best, released = float("inf"), []
    for t, loss in enumerate(losses):
        if loss < best - eta:
            best = round(loss / eta) * eta
            released.append(t)
    return released


@pytest.mark.parametrize("seed", range(20))
def test_the_rungs_are_those_of_the_paper(seed):
    chance = random.Random(seed)
    scores = [round(min(1, max(0, 0.5 + n / 400 + chance.gauss(0, 0.05))), 6) for n in range(200)]
    assert risen(enumerate(scores), STEP) == ladder_of_the_paper([1 - score for score in scores], float(STEP))


def test_a_rise_of_exactly_one_step_is_none():
    assert risen([(1, 0.50), (2, 0.51), (3, 0.5100001), (4, 0.52)], STEP) == [1, 3]
    assert risen([(1, 0.1 + 0.2), (2, 0.31)], STEP) == [1]  # 0.30000000000000004 is 0.3
    assert risen([(1, 0.5), (2, 0.510000004)], STEP) == [1]  # behind the digits that ranks compare
    assert risen([(1, 0.5), (2, 0.51000001)], STEP) == [1, 2]


@pytest.fixture
def phase(db):
    phase = PhaseFactory.create(score_step=STEP, is_ladder=True)
    ReferenceVersionFactory.create(phase=phase)
    return phase


@pytest.fixture
def team(phase):
    return TeamFactory.create(competition=phase.track.competition, name="오르는 팀")


def scored(phase, team, score, minute, **fields):
    return finished_submission(phase, team, score, created_at=NOW + timedelta(minutes=minute), **fields)


def shown_to_team(team, phase):
    """(score, reason it is withheld), the oldest first."""
    rows = [entry.run for entry in team_history(team, phase)]
    return [(row.final_score, row.withheld) for row in reversed(rows)]


def on_board(phase):
    rows = board(Phase.objects.select_related("track__competition").get(pk=phase.pk)).rows
    return [(row.team_name, row.final_score, row.scores.get("final_score", row.final_score)) for row in rows]


def test_team_and_board_see_only_scores_that_rise(phase, team):
    for minute, score in enumerate([0.7049, 0.7101, 0.7151, 0.69, 0.7312]):
        scored(phase, team, score, minute)
    assert shown_to_team(team, phase) == [(0.7, ""), (0.71, ""), (None, "ladder"), (None, "ladder"), (0.73, "")]
    assert on_board(phase) == [("오르는 팀", 0.73, 0.73)]


def test_a_rise_is_measured_from_the_score_shown_and_not_from_those_withheld(phase, team):
    """Else a team that climbs in small steps would never have another score."""
    for minute, score in enumerate([0.70, 0.709, 0.7095, 0.7105]):
        scored(phase, team, score, minute)
    assert [reason for _score, reason in shown_to_team(team, phase)] == ["", "ladder", "ladder", ""]


def test_withdrawing_does_not_open_the_score_of_the_next(phase, team):
    best = scored(phase, team, 0.8, 1)
    scored(phase, team, 0.7, 2)
    Submission.objects.filter(pk=best.pk).update(withdrawn_at=NOW)
    assert shown_to_team(team, phase)[1] == (None, "ladder")
    assert on_board(phase) == []
    scored(phase, team, 0.83, 3)
    assert on_board(phase) == [("오르는 팀", 0.83, 0.83)]


def test_a_refunded_submission_is_no_rung(phase, team):
    lost = scored(phase, team, 0.8, 1)
    scored(phase, team, 0.7, 2)
    Submission.objects.filter(pk=lost.pk).update(refunded_at=NOW)
    assert shown_to_team(team, phase)[1] == (0.7, "")


def test_teams_climb_each_on_their_own(phase, team):
    other = TeamFactory.create(competition=phase.track.competition, name="다른 팀")
    scored(phase, team, 0.9, 1)
    scored(phase, other, 0.5, 2)
    assert on_board(phase) == [("오르는 팀", 0.9, 0.9), ("다른 팀", 0.5, 0.5)]


def test_a_team_climbs_anew_in_every_phase(phase, team):
    elsewhere = PhaseFactory.create(track=phase.track, score_step=STEP, is_ladder=True)
    scored(elsewhere, team, 0.9, 0)
    here = scored(phase, team, 0.5, 1)
    assert Release(phase, [team.pk]).has_score(here.pk)


def test_other_results_than_the_live_ones_are_a_ladder_in_the_order_of_their_submissions(phase, team):
    """As a rescoring that is not applied has them."""
    runs = [scored(phase, team, 0.1, minute).live_run for minute in range(3)]
    for run, score in zip(runs, (0.5, 0.8, 0.7), strict=True):
        run.final_score = score
    release = Release(phase, runs=reversed(runs))
    assert [release.has_score(run.submission_id) for run in runs] == [True, True, False]


def test_equal_rounded_scores_are_ranked_by_arrival(phase, team):
    other = TeamFactory.create(competition=phase.track.competition, name="먼저 온 팀")
    scored(phase, other, 0.8001, 1)
    scored(phase, team, 0.8049, 2)
    assert on_board(phase) == [("먼저 온 팀", 0.8, 0.8), ("오르는 팀", 0.8, 0.8)]


def test_rounding_alone_shows_every_submission(phase, team):
    phase.is_ladder = False
    phase.save()
    scored(phase, team, 0.8049, 1)
    scored(phase, team, 0.8012, 2)
    assert shown_to_team(team, phase) == [(0.8, ""), (0.8, "")]


def test_organisers_see_every_digit_and_after_the_final_board_everybody(phase, team):
    scored(phase, team, 0.8049, 1)
    second = scored(phase, team, 0.8051, 2)
    assert shown_run(second.live_run, second, sees_all=True).final_score == 0.8051
    phase.final_published_at = NOW
    phase.save()
    assert shown_to_team(team, phase) == [(0.8049, ""), (0.8051, "")]


def test_who_shows_scores_knows_whether_they_have_all_digits_and_is_no_organiser_unless_said(phase, team):
    row = scored(phase, team, 0.8049, 1)
    of_team, of_all = (shown_scores(row.live_run, row, sees_all=sees_all) for sees_all in (False, True))
    assert shown_scores(row.live_run, row) == of_team
    assert [(each.final_score, each.is_exact) for each in (of_team, of_all)] == [(0.8, False), (0.8049, True)]


def test_every_score_of_a_run_is_rounded_for_the_team_and_none_for_organisers(phase, team):
    row = scored(phase, team, 0.8049, 1, scores={"bleurt": 0.5151})
    assert run_for_team(row).scores == {"final_score": 0.8, "bleurt": 0.52}
    seen = shown_run(row.live_run, row, sees_all=True, release=Release(phase))
    assert (seen.final_score, seen.scores) == (0.8049, {"final_score": 0.8049, "bleurt": 0.5151})


def test_the_final_board_counts_every_digit_and_the_public_score_beside_is_the_shown_one(phase, team):
    other = TeamFactory.create(competition=phase.track.competition, name="먼저 온 팀")
    scored(phase, other, 0.8001, 1)
    scored(phase, team, 0.8, 2)
    scored(phase, team, 0.8049, 3)
    rows = [(row.rank, row.final_score, row.public_rank, row.public_score) for row in final_board(phase).rows]
    assert rows == [(1, 0.8049, 2, 0.8), (2, 0.8001, 1, 0.8)]


def test_a_team_without_a_public_score_is_still_on_the_final_board(phase, team):
    best = scored(phase, team, 0.8, 1)
    scored(phase, team, 0.7, 2)
    Submission.objects.filter(pk=best.pk).update(withdrawn_at=NOW)
    rows = [(row.rank, row.final_score, row.public_rank, row.public_score) for row in final_board(phase).rows]
    assert rows == [(1, 0.7, None, None)]


def test_the_chain_opens_no_digit_that_the_board_withholds(phase, team):
    row = scored(phase, team, 0.8049, 1)
    chain.append_scores([row])
    row.refresh_from_db()
    assert [each.opening for each in receipt_of(row).scores] == [None]
    phase.final_published_at = NOW
    phase.save()
    row = Submission.objects.get(pk=row.pk)
    assert [each.opening["final_score"] for each in receipt_of(row).scores] == ["0.8049"]


def test_changing_the_step_changes_the_board(phase, team):
    scored(phase, team, 0.8049, 1)
    assert on_board(phase)[0][1] == 0.8
    update_phase(phase=phase, actor=None, score_step=Decimal("0.001"))
    assert on_board(phase)[0][1] == 0.805
    update_phase(phase=phase, actor=None, score_step=None, is_ladder=False)
    assert on_board(phase)[0][1] == 0.8049


def test_a_ladder_needs_a_step_and_a_step_is_small(phase):
    for settings in ({"score_step": None}, {"score_step": Decimal("0.11")}, {"score_step": Decimal(0)}):
        with pytest.raises((PhaseSettingsInvalid, ValidationError)):
            update_phase(phase=phase, actor=None, **settings)
        with pytest.raises(IntegrityError), transaction.atomic():
            Phase.objects.filter(pk=phase.pk).update(**settings)


def test_one_query_for_a_team_and_none_without_a_ladder(phase, team, django_assert_num_queries):
    rows = [scored(phase, team, 0.5, minute).pk for minute in range(3)]
    with django_assert_num_queries(1):
        release = Release(phase, [team.pk])
        assert [release.has_score(row) for row in rows] == [True, False, False]
    phase.is_ladder = False
    with django_assert_num_queries(0):
        assert Release(phase).has_score(1)


def test_a_run_alone_is_shown_as_in_the_history(phase, team):
    scored(phase, team, 0.8, 1)
    second = scored(phase, team, 0.805, 2)
    assert run_for_team(second).withheld == "ladder"
