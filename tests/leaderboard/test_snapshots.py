"""Publishing a final board: what counts, when, and that nothing touches it afterwards."""

from datetime import timedelta

import pytest
from django.utils import timezone

from malpan.competitions.errors import ManageNotFound, NotAllowed
from malpan.competitions.models import Phase
from malpan.core.models import AuditEntry
from malpan.leaderboard.boards import reader_of
from malpan.leaderboard.errors import NothingToPublish, PhaseNotOver, RunsUnfinished
from malpan.leaderboard.finals import FinalRow, final_board, row_to_publish
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.published import published_board
from malpan.leaderboard.selectors import board
from malpan.leaderboard.snapshots import publish_final_board
from malpan.submissions.models import ChainEntry, HiddenResult, ScoringRun
from malpan.teams.models import Team
from scoring.signature import json_sha256
from tests.factories import (
    PhaseFactory,
    ReferenceVersionFactory,
    ScoringRunFactory,
    SubmissionFactory,
    TeamFactory,
    UserFactory,
    finished_submission,
    person_in,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    """Over, with references that have a public and a private split."""
    now = timezone.now()
    phase = PhaseFactory.create(starts_at=now - timedelta(days=9), ends_at=now - timedelta(hours=1))
    ReferenceVersionFactory.create(phase=phase, public_ids=["q1"], number=1)
    return phase


@pytest.fixture
def organiser(phase):
    return _person(phase, "organiser")


def _person(phase, role):
    return person_in(phase.track.competition, role)


def _team(phase, name, **fields):
    return TeamFactory.create(competition=phase.track.competition, name=name, **fields)


def _scored(phase, team, public, private, **fields):
    row = finished_submission(phase, team, public, **fields)
    if private is not None:
        HiddenResult.objects.create(
            run=row.live_run, final_score=private, scores={"final_score": private}, signature_hash="private"
        )
    return row


def _standing(rows):
    return [(row.rank, row.final_score) for row in rows]


def test_the_private_split_decides_and_the_public_rank_is_shown_too(phase, organiser):
    first, second = _team(phase, "가"), _team(phase, "나")
    _scored(phase, first, 0.9, 0.3)
    _scored(phase, second, 0.5, 0.7)

    publish_final_board(phase=phase, actor=organiser, note_ko="축하합니다")

    final = published_board(phase, viewer_team=second)
    assert [(row.rank, row.team_name, row.final_score, row.public_rank, row.public_score) for row in final.rows] == [
        (1, "나", 0.7, 2, 0.5),
        (2, "가", 0.3, 1, 0.9),
    ]
    assert (final.own_row, final.signature_hash) == (final.rows[0], "private")
    assert [row.team_name for row in board(phase).rows] == ["가", "나"]  # the public board stays as it was


def test_a_final_board_says_what_share_of_reasons_its_result_has(phase, organiser):
    """Of the private split where that decides, recorded with the row; not there where the recipe counts none."""
    row = _scored(phase, _team(phase, "가"), 0.9, 0.8)
    _scored(phase, _team(phase, "나"), 0.5, 0.7)
    ScoringRun.objects.filter(pk=row.live_run_id).update(coverage={"reason_coverage": 0.25})
    HiddenResult.objects.filter(run=row.live_run_id).update(coverage={"reason_coverage": 0.75})
    snapshot = publish_final_board(phase=phase, actor=organiser)
    assert [each.get("reason_coverage") for each in snapshot.rows] == [0.75, None]
    assert [each.coverage for each in published_board(phase).rows] == [0.75, None]
    phase.reference_versions.update(public_ids=None)
    assert [each.coverage for each in final_board(phase).rows] == [0.25, None]


def test_without_a_split_the_scores_themselves_are_final(organiser, phase):
    phase.reference_versions.update(public_ids=None)
    _scored(phase, _team(phase, "가"), 0.9, None)
    publish_final_board(phase=phase, actor=organiser)
    assert _standing(published_board(phase).rows) == [(1, 0.9)]


def test_the_best_of_the_chosen_counts_and_by_default_the_best_on_the_public_split(phase):
    phase.finals_limit = 2
    phase.save()
    chooses, does_not = _team(phase, "고름"), _team(phase, "안 고름")
    _scored(phase, chooses, 0.9, 0.1)
    _scored(phase, chooses, 0.5, 0.6, is_final_choice=True)
    _scored(phase, chooses, 0.4, 0.8, is_final_choice=True)
    _scored(phase, chooses, 0.1, 1.0)
    _scored(phase, does_not, 0.7, 0.2)
    _scored(phase, does_not, 0.6, 0.9)

    found = final_board(phase)

    assert [(row.final_score, row.public_rank, row.public_score) for row in found.rows] == [
        (0.8, 1, 0.9),
        (0.2, 2, 0.7),
    ]
    assert [row.moved for row in found.rows] == [0, 0]


def test_where_there_is_no_selection_every_submission_counts(phase):
    team = _team(phase, "가")
    _scored(phase, team, 0.9, 0.1)
    _scored(phase, team, 0.2, 0.8)
    assert _standing(final_board(phase).rows) == [(1, 0.8)]


def test_choices_beyond_the_limit_are_cut_to_the_best_on_the_public_split(phase):
    """Two teams that merged may hold more choices than one team could make."""
    phase.finals_limit = 1
    phase.save()
    team = _team(phase, "가")
    _scored(phase, team, 0.5, 0.2, is_final_choice=True)
    _scored(phase, team, 0.4, 0.9, is_final_choice=True)
    assert _standing(final_board(phase).rows) == [(1, 0.2)]


def test_withdrawn_and_disqualified_stand_on_no_final_board(phase):
    out, stays = _team(phase, "실격"), _team(phase, "남음")
    _scored(phase, out, 0.9, 0.9)
    _scored(phase, stays, 0.5, 0.95, withdrawn_at=timezone.now(), is_final_choice=True)
    _scored(phase, stays, 0.4, 0.4)
    Team.objects.filter(pk=out.pk).update(disqualified_at=timezone.now())
    assert _standing(final_board(phase).rows) == [(1, 0.4)]


def test_results_without_their_private_split_are_counted_as_excluded(phase):
    _scored(phase, _team(phase, "가"), 0.9, None)
    _scored(phase, _team(phase, "나"), 0.5, 0.4)
    found = final_board(phase)
    assert (_standing(found.rows), found.excluded_count) == ([(1, 0.4)], 1)


def test_baselines_stand_unranked(phase):
    _scored(phase, _team(phase, "기준", is_baseline=True), 0.9, 0.9)
    _scored(phase, _team(phase, "가"), 0.5, 0.4)
    assert _standing(final_board(phase).rows) == [(None, 0.9), (1, 0.4)]


def test_a_team_has_moved_only_between_two_ranks():
    def moved(rank, public_rank):
        row = FinalRow(rank, None, 0.5, {}, 1, public_rank, 0.5)
        return row.moved

    assert (moved(1, 3), moved(3, 1), moved(None, 1), moved(1, None)) == (2, -2, None, None)


def test_a_private_score_of_zero_is_a_score(phase):
    _scored(phase, _team(phase, "가"), 0.9, 0.0)
    assert _standing(final_board(phase).rows) == [(1, 0.0)]


def test_a_board_with_results_of_a_split_is_split_though_others_are_of_a_version_without(phase):
    _scored(phase, _team(phase, "가"), 0.9, 0.4)
    whole = ReferenceVersionFactory.create(phase=phase, number=2, is_current=False)
    older = _scored(phase, _team(phase, "나"), 0.5, None)
    ScoringRun.objects.filter(pk=older.live_run.pk).update(reference_version=whole)
    assert final_board(phase).is_split


def test_rows_have_no_minus_zero_which_the_database_would_not_give_back(phase):
    row = row_to_publish(
        rank=1, submission=_scored(phase, _team(phase, "가"), 0.9, 0.4), reader=reader_of(phase, None),
        scores={"a": -0.0}, final_score=-0.0, submission_count=1, is_demo_models=False, composite=None,
        public=(1, -0.0),
    )  # fmt: skip
    assert [str(row["final_score"]), str(row["scores"]["a"]), str(row["public_score"])] == ["0.0"] * 3


def test_a_phase_is_published_by_itself_with_a_number_of_its_own(phase, organiser):
    other = PhaseFactory.create(track=phase.track, ends_at=phase.ends_at, starts_at=phase.starts_at)
    ScoringRunFactory.create(submission=SubmissionFactory.create(phase=other, team=_team(phase, "나")))
    _scored(phase, _team(phase, "가"), 0.9, 0.5)
    for number in (1, 2, 3):
        BoardSnapshot.objects.create(
            phase=phase, kind=BoardSnapshot.Kind.PUBLIC, number=number + 3, recipe="r", rows=[], sha256="0" * 64,
            published_at=timezone.now(),
        )  # fmt: skip
        note = "가" * 400
        snapshot = publish_final_board(phase=phase, actor=organiser, note_ko=note, note_en=note)
        assert (snapshot.number, snapshot.note_ko, snapshot.note_en) == (number, note[:300], note[:300])
    other.refresh_from_db()
    assert other.final_published_at is None


def test_a_snapshot_is_hashed_audited_and_in_the_public_chain(phase, organiser):
    _scored(phase, _team(phase, "가"), 0.9, 1 / 3)
    snapshot = publish_final_board(phase=phase, actor=organiser)

    stored = BoardSnapshot.objects.get()
    assert stored.sha256 == json_sha256(stored.rows) == snapshot.sha256  # as read back from the database
    assert Phase.objects.get(pk=phase.pk).final_published_at == phase.final_published_at is not None
    assert AuditEntry.objects.get(action="phase.publish_final_board").after["sha256"] == snapshot.sha256
    entry = ChainEntry.objects.get(kind="board")
    assert (entry.payload["rows_sha256"], entry.payload["snapshot"]) == (snapshot.sha256, 1)


def test_no_later_score_touches_what_was_published_and_publishing_again_tells_why(phase, organiser):
    row = _scored(phase, _team(phase, "가"), 0.9, 0.5)
    publish_final_board(phase=phase, actor=organiser)
    moment = phase.final_published_at
    HiddenResult.objects.filter(run=row.live_run).update(final_score=0.6, scores={"final_score": 0.6})
    assert _standing(published_board(phase).rows) == [(1, 0.5)]

    publish_final_board(phase=phase, actor=organiser, note_ko="정오에 따라 다시 채점")

    final = published_board(phase)
    assert (_standing(final.rows), final.snapshot.number) == ([(1, 0.6)], 2)
    assert final.snapshot.note_ko == "정오에 따라 다시 채점"
    assert (BoardSnapshot.objects.count(), phase.final_published_at) == (2, moment)


def test_publishing_ends_freezing_and_hiding(phase, organiser):
    _scored(phase, _team(phase, "가"), 0.9, 0.5)
    Phase.objects.update(board="hidden", shows_own_score=False)
    publish_final_board(phase=phase, actor=organiser)
    assert len(board(Phase.objects.get(pk=phase.pk)).rows) == 1


def test_a_final_board_waits_for_the_end_and_for_every_run(phase, organiser):
    row = _scored(phase, _team(phase, "가"), 0.9, 0.5)
    with pytest.raises(PhaseNotOver):
        publish_final_board(phase=phase, actor=organiser, now=phase.ends_at - timedelta(microseconds=1))
    waiting = ScoringRunFactory.create(submission=SubmissionFactory.create(phase=phase, team=row.team))
    with pytest.raises(RunsUnfinished):
        publish_final_board(phase=phase, actor=organiser)
    ScoringRun.objects.filter(pk=waiting.pk).update(state="failed")
    publish_final_board(phase=phase, actor=organiser)
    assert not AuditEntry.objects.filter(action="phase.publish_final_board").exclude(actor=organiser).exists()


def test_nothing_scored_nothing_published(phase, organiser):
    with pytest.raises(NothingToPublish):
        publish_final_board(phase=phase, actor=organiser)
    assert phase.final_published_at is None


@pytest.mark.parametrize(("role", "error"), [("viewer", NotAllowed), ("operator", NotAllowed), (None, ManageNotFound)])
def test_only_those_who_manage_the_competition_publish(phase, role, error):
    _scored(phase, _team(phase, "가"), 0.9, 0.5)
    with pytest.raises(error):
        publish_final_board(phase=phase, actor=_person(phase, role) if role else UserFactory.create())
    assert not BoardSnapshot.objects.exists()
