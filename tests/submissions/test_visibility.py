"""What a team sees of its own scoring, in every state of the board."""

from datetime import timedelta

import pytest
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.submissions.models import HiddenResult, ScoringRun
from malpan.submissions.selectors import run_for, run_for_team, team_history
from malpan.submissions.visibility import shows_own_score
from tests.factories import PhaseFactory, TeamFactory, UserFactory, finished_submission

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
