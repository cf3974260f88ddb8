"""What a team sees of its own uploads, and nobody else does."""

import json
import uuid
from contextlib import nullcontext
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.competitions.models import CompetitionRole, Phase
from malpan.submissions.errors import SubmissionNotFound
from malpan.submissions.models import HiddenResult, Rejection, RescoreBatch, ScoringRun, Submission
from malpan.submissions.selectors import (
    is_open_to_the_team,
    other_submissions,
    own_scores,
    own_scores_beside,
    prefetch_runs,
    rejection_errors,
    run_for,
    run_to_show,
    sees_hidden,
    submission_for,
    submissions_of_upload,
    team_history,
)
from scoring.errors import FileError
from tests.factories import (
    CompetitionFactory,
    PhaseFactory,
    ScoringRunFactory,
    SubmissionFactory,
    TeamFactory,
    UserFactory,
    finished_submission,
    leader_of,
    person_in,
)

pytestmark = pytest.mark.django_db
NOW = timezone.now()


def _rejection(submission, created_at=NOW, errors=()):
    return Rejection.objects.create(
        phase=submission.phase,
        team=submission.team,
        submitted_by=submission.submitted_by,
        file_name="bad.json",
        file_size=3,
        errors=list(errors),
        error_count=1,
        created_at=created_at,
    )


@pytest.fixture
def phase():
    return PhaseFactory.create()


@pytest.fixture
def team(phase):
    return TeamFactory.create(competition=phase.track.competition)


def _scored(phase, team, minutes, score=0.5, **fields):
    """A scored submission of so many minutes after ``NOW``."""
    return finished_submission(phase, team, score, created_at=NOW + timedelta(minutes=minutes), **fields)


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


def test_history_has_what_a_merged_team_made_and_nothing_of_other_phases_and_teams(phase, team):
    merged = TeamFactory.create(competition=team.competition, merged_into=team)
    made = [SubmissionFactory.create(phase=phase, team=each) for each in (team, merged)]
    foreign = SubmissionFactory.create(phase=phase)
    elsewhere = SubmissionFactory.create(phase=PhaseFactory.create(track=phase.track), team=team)
    files = [_rejection(each) for each in (*made, foreign, elsewhere)]

    found = team_history(team, phase)

    assert {each.submission or each.rejection for each in found} == {*made, *files[:2]}


def test_own_scores_are_those_that_count_the_first_first(phase, team, django_assert_num_queries):
    later, first = _scored(phase, team, 2, 0.7), _scored(phase, team, 1, 0.9)
    withdrawn = _scored(phase, team, 3, 0.1, withdrawn_at=NOW)
    _scored(phase, team, 4, refunded_at=NOW)
    SubmissionFactory.create(phase=phase, team=team)
    _scored(PhaseFactory.create(track=phase.track), team, 0)
    _scored(phase, TeamFactory.create(competition=team.competition), 0)
    unfinished = SubmissionFactory.create(phase=phase, team=team)
    unfinished.live_run = ScoringRunFactory.create(submission=unfinished, state=ScoringRun.State.FAILED)
    unfinished.save()

    with django_assert_num_queries(1):
        found = own_scores(team, phase)

    assert [(each.submission, each.final_score, each.counts) for each in found] == [
        (first, 0.9, True), (later, 0.7, True), (withdrawn, 0.1, False),
    ]  # fmt: skip
    assert found[0].scores == {"final_score": 0.9}
    assert found[0].is_exact


def test_own_scores_that_are_kept_back_are_for_organisers_alone(phase, team):
    scored = _scored(phase, team, 1)
    Phase.objects.update(board="hidden", shows_own_score=False)
    operator = person_in(team.competition, CompetitionRole.Role.OPERATOR)

    found = {person: submission_for(person, scored.public_id) for person in (leader_of(team), operator)}

    assert own_scores(team, Phase.objects.get()) == []
    assert [own_scores_beside(person, row) != [] for person, row in found.items()] == [False, True]
    assert [run_for(person, row).final_score for person, row in found.items()] == [None, 0.5]
    assert [sees_hidden(person, row) for person, row in found.items()] == [False, True]
    assert run_for(operator, SubmissionFactory.create(phase=phase)) is None


def test_own_scores_beside_that_of_a_merged_team_are_those_of_the_team_it_is_in(phase, team):
    merged = TeamFactory.create(competition=team.competition, merged_into=team)
    old, own = _scored(phase, merged, 1), _scored(phase, team, 2)

    found = own_scores_beside(leader_of(team), submission_for(leader_of(team), old.public_id))

    assert [each.submission for each in found] == [old, own]


def test_other_submissions_of_the_phase_stand_newest_first(phase, team):
    first, shown, last, same = (
        SubmissionFactory.create(phase=phase, team=team, created_at=NOW + timedelta(minutes=minutes))
        for minutes in (1, 2, 3, 3)
    )
    SubmissionFactory.create(phase=phase)
    SubmissionFactory.create(phase=PhaseFactory.create(track=phase.track), team=team)

    assert other_submissions(team, shown) == [same, last, first]


def test_a_hidden_competition_is_there_for_no_team(phase, team):
    submission = SubmissionFactory.create(phase=phase, team=team)
    assert is_open_to_the_team(leader_of(team), submission)
    phase.track.competition.is_published = False
    phase.track.competition.save()
    with pytest.raises(SubmissionNotFound):
        submission_for(leader_of(team), submission.public_id)


def test_the_private_scores_of_a_published_phase_come_with_the_history(phase, team, django_assert_num_queries):
    for minutes in range(3):
        run = _scored(phase, team, minutes).live_run
        HiddenResult.objects.create(run=run, final_score=0.25, scores={}, signature_hash="h")
    Phase.objects.update(final_published_at=NOW)
    phase.refresh_from_db()

    with django_assert_num_queries(3):
        assert [each.run.hidden.final_score for each in team_history(team, phase)] == [0.25] * 3


def test_located_errors_are_read_back_as_they_were_stored(phase, team):
    whole = {"code": "number_as_text", "params": {"found": "1"}, "line": 3, "id": "q2", "field": "answer"}
    rejection = _rejection(SubmissionFactory.create(phase=phase, team=team), errors=[whole, {"code": "not_json"}])

    assert rejection_errors(rejection) == (
        FileError("number_as_text", {"found": "1"}, line=3, item_id="q2", field="answer"),
        FileError("not_json", {}),
    )


def test_submissions_of_an_upload_are_those_of_its_team_and_key_in_their_order(phase, team):
    made = [SubmissionFactory.create(phase=phase, team=each, upload_key=key) for each, key in (
        (team, "1"), (team, "1"), (team, "2"), (team, ""), (TeamFactory.create(), "1"),
    )]  # fmt: skip

    assert submissions_of_upload(team=team, upload_key="1") == made[:2]
    assert submissions_of_upload(team=team, upload_key="") == []


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


def test_a_run_of_a_batch_is_not_shown_before_it_counts():
    submission = SubmissionFactory.create()
    competition = submission.phase.track.competition
    batch = RescoreBatch.objects.create(
        competition=competition, phase=submission.phase, reason="사유", created_by=UserFactory.create()
    )
    own = ScoringRunFactory.create(submission=submission)
    ScoringRunFactory.create(submission=submission, batch=batch)

    assert run_to_show(submission) == own
    assert run_to_show(Submission.objects.prefetch_related("runs").get()) == own
    own.delete()
    assert run_to_show(submission) is None


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


def test_the_runs_of_a_submission_are_read_for_those_alone_who_may_see_it(django_assert_num_queries):
    submission = SubmissionFactory.create()
    run = ScoringRunFactory.create(submission=submission)
    for person, sees_it in ((leader_of(submission.team), True), (UserFactory.create(), False)):
        with (
            CaptureQueriesContext(connection) as queries,
            nullcontext() if sees_it else pytest.raises(SubmissionNotFound),
        ):
            found = submission_for(person, submission.public_id)
        assert any('FROM "submissions_scoringrun"' in query["sql"] for query in queries) == sees_it
    with django_assert_num_queries(0):
        assert list(found.runs.all()) == [run]


def test_the_other_runs_of_a_submission_are_read_for_who_shows_them(django_assert_num_queries):
    submission = finished_submission(PhaseFactory.create(), TeamFactory.create(), 0.5)
    earlier = ScoringRunFactory.create(submission=submission)
    found = submission_for(leader_of(submission.team), submission.public_id)
    with django_assert_num_queries(0):
        assert run_to_show(found) == submission.live_run
        assert found.live_run.reference_version.phase_id == submission.phase_id
        assert found.live_run.job.pk == submission.live_run.job_id
    for count in (1, 0):
        with django_assert_num_queries(count):
            prefetch_runs(found)
    with django_assert_num_queries(0):
        assert set(found.runs.all()) == {submission.live_run, earlier}


def test_a_history_has_the_first_errors_of_a_rejected_file_that_its_room_holds(phase, team):
    errors = [{"code": "unknown_id", "params": {"id": f"항목-{number}"}} for number in range(9)]
    rejection = _rejection(SubmissionFactory.create(phase=phase, team=team), errors=errors)
    size = len(json.dumps(errors[0]))

    def codes(room):
        return [error.params["id"] for error in rejection_errors(rejection, room=room)]

    assert codes(None) == [f"항목-{number}" for number in range(9)]
    assert codes(3 * size) == ["항목-0", "항목-1", "항목-2"]
    assert codes(3 * size - 1) == ["항목-0", "항목-1"]
    assert codes(size - 1) == []
