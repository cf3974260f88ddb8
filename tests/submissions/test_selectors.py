"""What a team sees of its own uploads, and nobody else does."""

import uuid
from contextlib import nullcontext
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.competitions.models import CompetitionRole
from malpan.submissions.errors import SubmissionNotFound
from malpan.submissions.models import Rejection, ScoringRun
from malpan.submissions.selectors import run_to_show, submission_for, team_history
from tests.factories import (
    CompetitionFactory,
    PhaseFactory,
    ScoringRunFactory,
    SubmissionFactory,
    TeamFactory,
    UserFactory,
    finished_submission,
    leader_of,
)

pytestmark = pytest.mark.django_db


def _rejection(submission, created_at):
    return Rejection.objects.create(
        phase=submission.phase,
        team=submission.team,
        submitted_by=submission.submitted_by,
        file_name="bad.json",
        file_size=3,
        errors=[],
        error_count=1,
        created_at=created_at,
    )


def test_history_holds_submissions_and_rejected_files_newest_first(django_assert_num_queries):
    phase = PhaseFactory.create()
    team = TeamFactory.create(competition=phase.track.competition)
    now = timezone.now()
    first = finished_submission(phase, team, 0.5, created_at=now - timedelta(hours=3))
    rejected = _rejection(first, now - timedelta(hours=2))
    last = SubmissionFactory.create(phase=phase, team=team, created_at=now)
    queued = ScoringRunFactory.create(submission=last)
    SubmissionFactory.create(phase=phase)
    SubmissionFactory.create(team=team)

    with django_assert_num_queries(3):
        entries = team_history(team, phase)

    assert [(each.kind, each.submission or each.rejection, each.run and each.run.pk) for each in entries] == [
        ("submission", last, queued.pk),
        ("rejection", rejected, None),
        ("submission", first, first.live_run_id),
    ]


def test_history_does_not_grow_with_rejected_files(monkeypatch):
    monkeypatch.setattr("malpan.submissions.selectors.SHOWN_REJECTIONS", 2)
    first = SubmissionFactory.create()
    files = [_rejection(first, first.created_at + timedelta(minutes=minute)) for minute in range(1, 5)]

    entries = team_history(first.team, first.phase)

    assert [each.submission or each.rejection for each in entries] == [files[3], files[2], first]


def test_live_run_is_shown_before_a_newer_one_that_does_not_count():
    phase = PhaseFactory.create()
    submission = finished_submission(phase, TeamFactory.create(competition=phase.track.competition), 0.5)
    ScoringRunFactory.create(submission=submission)

    assert run_to_show(submission) == submission.live_run


def test_newest_run_is_shown_while_none_is_live():
    submission = SubmissionFactory.create()
    ScoringRunFactory.create(submission=submission, state=ScoringRun.State.FAILED)
    retried = ScoringRunFactory.create(submission=submission)

    assert run_to_show(submission) == retried


def test_members_and_the_manage_of_the_competition_see_a_submission_and_nobody_else():
    submission = SubmissionFactory.create(team=TeamFactory.create(members=1))
    member = submission.team.memberships.get(role="member").user
    viewer, foreign, staff = UserFactory.create(), UserFactory.create(), UserFactory.create(is_staff=True)
    competition = submission.phase.track.competition
    CompetitionRole.objects.create(user=viewer, competition=competition, role=CompetitionRole.Role.VIEWER)
    CompetitionRole.objects.create(user=foreign, competition=CompetitionFactory.create(), role="owner")

    for allowed in (leader_of(submission.team), member, viewer, UserFactory.create(is_superuser=True)):
        assert submission_for(allowed, submission.public_id) == submission
    for refused in (AnonymousUser(), UserFactory.create(), leader_of(TeamFactory.create()), foreign, staff):
        with pytest.raises(SubmissionNotFound):
            submission_for(refused, submission.public_id)
    with pytest.raises(SubmissionNotFound):
        submission_for(member, uuid.uuid4())


def test_the_runs_of_a_submission_are_read_for_those_alone_who_may_see_it():
    submission = SubmissionFactory.create()
    run = ScoringRunFactory.create(submission=submission)
    for person, sees_it in ((leader_of(submission.team), True), (UserFactory.create(), False)):
        with (
            CaptureQueriesContext(connection) as queries,
            nullcontext() if sees_it else pytest.raises(SubmissionNotFound),
        ):
            assert list(submission_for(person, submission.public_id).runs.all()) == [run]
        assert any('FROM "submissions_scoringrun"' in query["sql"] for query in queries) == sees_it
