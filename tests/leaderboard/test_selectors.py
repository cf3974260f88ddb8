"""The board as each reader sees it."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.competitions.phases import set_board, update_phase
from malpan.leaderboard.selectors import board
from malpan.submissions.models import ScoringRun
from malpan.teams.models import Team
from tests.factories import (
    PhaseFactory,
    ReferenceVersionFactory,
    ScoringRunFactory,
    SubmissionFactory,
    TeamFactory,
    finished_submission,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    return PhaseFactory.create()


def _team(phase, **fields):
    return TeamFactory.create(competition=phase.track.competition, **fields)


def _standing(found):
    return [(row.rank, row.team_name) for row in found.rows]


def test_teams_stand_by_their_best_with_the_count_of_their_submissions(phase):
    first, second = _team(phase, name="가"), _team(phase, name="나")
    finished_submission(phase, first, 0.3)
    finished_submission(phase, first, 0.8, scores={"exact_match": 0.7})
    finished_submission(phase, second, 0.5)

    found = board(phase)

    assert _standing(found) == [(1, "가"), (2, "나")]
    assert [row.submission_count for row in found.rows] == [2, 1]
    assert found.rows[0].scores == {"final_score": 0.8, "exact_match": 0.7}
    assert [column.key for column in found.columns][:2] == ["final_score", "exact_match"]


def test_number_of_queries_does_not_grow_with_the_board(phase, django_assert_num_queries):
    for number in range(8):
        team = _team(phase, is_baseline=number == 0)
        finished_submission(phase, team, number / 10)
        finished_submission(phase, team, number / 20)

    board(phase)  # somebody read it before
    with django_assert_num_queries(1):  # the phase with its marks
        found = board(phase)
        for row in found.rows:
            assert row.submission.public_id
            assert row.team_name


def test_own_row_is_marked_for_its_team_only(phase):
    own, other = _team(phase), _team(phase)
    finished_submission(phase, own, 0.5)
    finished_submission(phase, other, 0.6)

    found = board(phase, viewer_team=own)

    assert found.own_row == found.rows[1]
    assert [row.is_own for row in found.rows] == [False, True]
    assert board(phase).own_row is None


def test_baseline_is_listed_unranked(phase):
    finished_submission(phase, _team(phase, name="기준", is_baseline=True), 0.9)
    finished_submission(phase, _team(phase, name="팀"), 0.5)

    assert _standing(board(phase)) == [(None, "기준"), (1, "팀")]


def test_unfinished_failed_refunded_and_foreign_results_do_not_stand_on_the_board(phase):
    finished_submission(phase, _team(phase, name="점수"), 0.1)
    finished_submission(phase, _team(phase), 0.9, refunded_at=timezone.now())
    finished_submission(PhaseFactory.create(track=phase.track), _team(phase), 0.9)
    for state in (ScoringRun.State.QUEUED, ScoringRun.State.FAILED):
        ScoringRunFactory.create(submission=SubmissionFactory.create(phase=phase), state=state)

    assert _standing(board(phase)) == [(1, "점수")]


def test_finished_run_that_is_not_live_does_not_count(phase):
    submission = finished_submission(phase, _team(phase), 0.2)
    ScoringRunFactory.create(
        submission=submission,
        state=ScoringRun.State.FINISHED,
        finished_at=timezone.now(),
        final_score=0.99,
        signature_hash="s",
    )

    assert [row.final_score for row in board(phase).rows] == [0.2]


def test_scores_of_another_signature_do_not_rank_beside_the_others(phase):
    for _number in range(2):
        finished_submission(phase, _team(phase), 0.5)
    finished_submission(phase, _team(phase), 0.9, signature_hash="other models")

    found = board(phase)

    assert [row.final_score for row in found.rows] == [0.5, 0.5]
    assert (found.signature_hash, found.excluded_count) == ("s", 1)


def test_scores_by_earlier_references_leave_the_board_until_scored_again(phase):
    finished_submission(phase, _team(phase), 0.9, signature_hash="old")
    phase.reference_versions.update(is_current=False)
    ReferenceVersionFactory.create(phase=phase)

    emptied = board(phase)
    assert (emptied.rows, emptied.excluded_count, emptied.signature_hash) == ((), 1, None)

    finished_submission(phase, _team(phase), 0.4, signature_hash="new")
    found = board(phase)
    assert [row.final_score for row in found.rows] == [0.4]
    assert (found.signature_hash, found.excluded_count) == ("new", 1)


def test_new_version_of_the_same_content_keeps_the_scores(phase):
    finished_submission(phase, _team(phase), 0.9)
    phase.reference_versions.update(is_current=False)
    ReferenceVersionFactory.create(phase=phase)
    finished_submission(phase, _team(phase), 0.4)

    assert [row.final_score for row in board(phase).rows] == [0.9, 0.4]


def test_scores_by_another_recipe_do_not_stand_on_the_board(phase):
    finished_submission(phase, _team(phase), 0.9)
    phase.track.recipe = "rag-qa-strict@1"
    phase.track.save()

    assert board(phase).rows == ()
    assert board(phase).excluded_count == 1


def test_hidden_board_shows_organisers_everything_and_others_nothing(phase):
    team = _team(phase)
    finished_submission(phase, team, 0.5)
    phase = set_board(phase=phase, board=Phase.Board.HIDDEN, actor=None)

    hidden = board(phase, viewer_team=team)
    assert (hidden.rows, hidden.own_row, hidden.signature_hash, hidden.excluded_count) == ((), None, None, 0)
    assert hidden.is_hidden
    shown = board(phase, for_organiser=True)
    assert (len(shown.rows), shown.is_hidden) == (1, False)


def test_frozen_board_counts_what_came_before_its_moment(phase):
    team, moment = _team(phase), timezone.now()
    finished_submission(phase, team, 0.5, created_at=moment - timedelta(minutes=1))
    finished_submission(phase, team, 0.9, created_at=moment + timedelta(minutes=1))
    phase = set_board(phase=phase, board=Phase.Board.FROZEN, actor=None, now=moment)

    frozen = board(phase, viewer_team=team)
    assert [(row.final_score, row.submission_count) for row in frozen.rows] == [(0.5, 1)]
    assert frozen.frozen_at == moment
    assert [row.final_score for row in board(phase, for_organiser=True).rows] == [0.9]


def test_a_moment_set_ahead_freezes_the_board_when_it_comes(phase):
    now = timezone.now()
    finished_submission(phase, _team(phase), 0.5, created_at=now - timedelta(minutes=1))
    update_phase(phase=phase, actor=None, board="frozen", frozen_at=now + timedelta(hours=1))
    phase.refresh_from_db()

    assert board(phase).frozen_at is None
    assert board(phase, now=now + timedelta(hours=2)).frozen_at == phase.frozen_at


def test_withdrawn_and_disqualified_leave_the_board_and_the_ranks_move_up(phase):
    withdrawn, disqualified, rest = (_team(phase, name=name) for name in "철실남")
    for team, score in ((withdrawn, 0.9), (disqualified, 0.8), (rest, 0.1)):
        finished_submission(phase, team, score)
    assert [rank for rank, _name in _standing(board(phase))] == [1, 2, 3]
    withdrawn.submissions.update(withdrawn_at=timezone.now())
    Team.objects.filter(pk=disqualified.pk).update(
        disqualified_at=timezone.now(), disqualification_note_ko="두 계정으로 참가"
    )

    found = board(phase)

    assert _standing(found) == [(1, "남")]
    assert [(each.team_name, each.note) for each in found.disqualified] == [("실", "두 계정으로 참가")]


def test_names_are_blind_while_a_phase_runs_except_ones_own(phase):
    competition = phase.track.competition
    competition.has_blind_names = True
    competition.save()
    own, other = _team(phase, name="우리", number=1), _team(phase, name="남의 팀", number=7)
    finished_submission(phase, own, 0.5)
    finished_submission(phase, other, 0.9)

    assert _standing(board(phase, viewer_team=own)) == [(1, "참가팀 7"), (2, "우리")]
    assert _standing(board(phase, for_organiser=True)) == [(1, "남의 팀"), (2, "우리")]
    assert _standing(board(phase, now=phase.ends_at)) == [(1, "남의 팀"), (2, "우리")]


def test_board_made_with_demo_models_says_so(phase):
    assert not board(phase).is_demo_models
    submission = finished_submission(phase, _team(phase), 0.5)
    ScoringRun.objects.filter(pk=submission.live_run_id).update(is_demo_models=True)

    assert board(phase).is_demo_models


def test_rows_have_the_share_of_reasons_that_counts_where_the_recipe_has_it(phase):
    for name, score, coverage in (("가", 0.8, {"reason_coverage": 0.75}), ("나", 0.6, {"items": 3})):
        row = finished_submission(phase, _team(phase, name=name), score)
        ScoringRun.objects.filter(pk=row.live_run_id).update(coverage=coverage)
    ScoringRun.objects.update(final_score=F("final_score"))  # which the standings follow
    assert [(row.team_name, row.coverage) for row in board(phase).rows] == [("가", 0.75), ("나", None)]
