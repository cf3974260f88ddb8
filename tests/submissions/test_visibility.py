"""What a team sees of its own scoring, in every state of the board."""

from datetime import timedelta

import pytest
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.submissions.models import HiddenResult, ScoringRun
from malpan.submissions.selectors import run_for, run_for_team, team_history
from malpan.submissions.visibility import is_frozen, shown_run, shows_own_score, shows_upload
from tests.factories import PhaseFactory, ScoringRunFactory, TeamFactory, UserFactory, finished_submission, update_jobs

pytestmark = pytest.mark.django_db

NOW = timezone.now()
FROZEN = {"board": "frozen", "frozen_at": NOW}
PUBLISHED = {"final_published_at": NOW}


def _submission(minutes, **settings):
    """A scored submission of so many minutes after ``NOW``, with a private split."""
    phase = PhaseFactory.create(**settings)
    phase.reference_versions.create(number=1, is_current=True, item_count=3, public_ids=["q1"], file_sha256="a" * 64)
    team = TeamFactory.create(competition=phase.track.competition)
    row = finished_submission(phase, team, 0.5, created_at=NOW + timedelta(minutes=minutes))
    ScoringRun.objects.update(coverage={"items": 1}, warnings=[{"code": "x"}], signature={"a": 1})
    HiddenResult.objects.create(run=row.live_run, final_score=0.25, scores={"final_score": 0.25}, signature_hash="h")
    row.live_run.refresh_from_db()
    return row


@pytest.mark.parametrize(
    ("rules", "minutes", "is_shown"),
    [
        ({}, 1, True),
        ({"shows_own_score": False}, 1, True),  # the board is live
        (FROZEN, 1, True),
        ({**FROZEN, "shows_own_score": False}, -1, True),  # it stands on the frozen board
        ({**FROZEN, "shows_own_score": False}, 0, False),
        ({**FROZEN, "shows_own_score": False}, 1, False),
        ({**FROZEN, "frozen_at": NOW + timedelta(days=1), "shows_own_score": False}, 1, True),  # not frozen yet
        ({"board": "hidden"}, -1, True),
        ({"board": "hidden", "shows_own_score": False}, -1, False),
        ({"board": "hidden", "shows_own_score": False, **PUBLISHED}, -1, True),
        ({**FROZEN, "shows_own_score": False, **PUBLISHED}, 1, True),
    ],
)
def test_own_score_is_kept_back_as_the_phase_says(rules, minutes, is_shown):
    assert shows_own_score(_submission(minutes, **rules)) is is_shown


@pytest.mark.parametrize(
    ("rules", "minutes", "is_known"),
    [
        ({}, 1, True),
        ({"shows_own_score": False}, 1, True),
        (FROZEN, -1, True),
        (FROZEN, 0, False),
        (FROZEN, 1, False),
        ({**FROZEN, "frozen_at": NOW + timedelta(days=1)}, 1, True),  # not frozen yet
        ({**FROZEN, "board": "live"}, 1, True),
        ({**FROZEN, **PUBLISHED}, 1, True),
        ({"board": "hidden"}, -1, False),
        ({"board": "hidden", **PUBLISHED}, -1, True),
    ],
)
def test_everybody_may_know_of_an_upload_that_the_public_board_counts(rules, minutes, is_known):
    submission = _submission(minutes, **rules)
    assert shows_upload(submission.phase, submission.created_at) is is_known


def test_a_board_is_frozen_from_its_moment_on():
    phase = PhaseFactory.create(**FROZEN)
    assert [is_frozen(phase, NOW + timedelta(seconds=late)) for late in (-1, 0, 1)] == [False, True, True]


def test_of_a_run_that_is_not_over_the_team_sees_how_far_it_is():
    run = ScoringRunFactory.create(state=ScoringRun.State.RUNNING)
    update_jobs(ScoringRun.objects.all(), stage="bleurt", progress=0.25)
    run.job.refresh_from_db()
    shown = shown_run(run, run.submission)
    assert (shown.state, shown.stage, shown.progress, shown.final_score) == ("running", "bleurt", 0.25, None)
    assert (shown.is_exact, shown.is_demo_models) == (True, False)


def test_a_run_without_a_job_is_done_or_not_begun():
    row = _submission(1)
    ScoringRun.objects.update(job=None)
    row.live_run.refresh_from_db()
    shown = run_for_team(row)
    assert (shown.stage, shown.progress, shown.is_exact) == ("", 1.0, True)
    row.live_run.state = ScoringRun.State.QUEUED
    assert shown_run(row.live_run, row).progress == 0.0


def test_the_models_of_a_run_and_what_it_covers_are_told():
    row = _submission(1)
    assert (run_for_team(row).is_demo_models, run_for_team(row).covers) == (False, "public")
    ScoringRun.objects.update(is_demo_models=True)
    row.phase.reference_versions.update(public_ids=None)
    row = type(row).objects.get(pk=row.pk)
    assert (run_for_team(row).is_demo_models, run_for_team(row).covers) == (True, "all")


def test_a_score_kept_back_leaves_nothing_to_be_seen_but_the_state():
    row = _submission(1, board="hidden", shows_own_score=False)
    for shown in (run_for_team(row), team_history(row.team, row.phase)[0].run):
        assert (shown.state, shown.is_score_hidden) == ("finished", True)
        assert (shown.final_score, shown.scores, shown.coverage, shown.warnings) == (None, {}, {}, ())
        assert (shown.signature, shown.signature_hash, shown.hidden) == ({}, "", None)


def test_the_private_split_is_shown_once_the_final_board_is_published():
    assert run_for_team(_submission(1)).hidden is None
    shown = run_for_team(_submission(1, **PUBLISHED))
    assert (shown.covers, shown.hidden.final_score) == ("public", 0.25)


def test_hints_at_playing_the_metrics_are_for_organisers_alone():
    row = _submission(1)
    ScoringRun.objects.update(warnings=[{"code": "near_constant"}, {"code": "many_normalized"}])
    row.live_run.refresh_from_db()
    for shown in (run_for_team(row), team_history(row.team, row.phase)[0].run):
        assert [warning["code"] for warning in shown.warnings] == ["many_normalized"]
    seen = run_for(UserFactory.create(is_superuser=True), row).warnings
    assert [warning["code"] for warning in seen] == ["near_constant", "many_normalized"]


def test_organisers_see_the_private_split_and_scores_that_are_kept_back():
    row = _submission(1, board="hidden", shows_own_score=False)
    shown = run_for(UserFactory.create(is_superuser=True), row)
    assert (shown.final_score, shown.hidden.final_score, shown.is_score_hidden) == (0.5, 0.25, False)


def test_runs_of_a_batch_stand_for_nothing_before_it_is_applied():
    row = _submission(1)
    batch = row.phase.rescore_batches.create(
        competition=row.phase.track.competition, reason="r", created_by=row.submitted_by
    )
    ScoringRun.objects.update(batch=batch)
    row.live_run = None
    row.save()
    assert run_for_team(row) is None


def test_the_history_of_a_published_phase_takes_no_query_for_each_submission(django_assert_num_queries):
    row = _submission(1, **PUBLISHED)
    for _number in range(4):
        finished_submission(row.phase, row.team, 0.1)
    phase = Phase.objects.get()
    with django_assert_num_queries(3):
        assert len(team_history(row.team, phase)) == 5
