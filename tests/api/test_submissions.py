"""Submissions by the API: sent, refused without a charge, followed, checked only."""

import uuid
from contextlib import ExitStack
from datetime import datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http.multipartparser import MultiPartParser
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from malpan.competitions.models import Competition
from malpan.competitions.services import update_competition
from malpan.core.times import kst_day
from malpan.submissions import checking
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.quota import services as quota
from malpan.submissions.withdrawal import withdraw
from malpan.teams.models import Membership
from tests.api.conftest import Api
from tests.factories import (
    CANARY,
    PhaseFactory,
    SubmissionFactory,
    TeamFactory,
    UserFactory,
    file_bytes,
    file_with_errors,
    finished_submission,
    leader_of,
    prediction_bytes,
    rows,
    update_jobs,
)

pytestmark = pytest.mark.django_db


def test_file_is_submitted_and_followed_to_its_address(api, team):
    answer = api.submit(memo="첫 제출")

    body = answer.json()
    assert (answer.status_code, body["memo"], body["run"]["state"]) == (201, "첫 제출", "queued")
    followed = api.client.get(answer["Location"])
    assert followed.json()["id"] == body["id"] == str(Submission.objects.get(team=team).public_id)


def test_history_and_quota_are_the_teams_own(api):
    api.submit()
    api.submit(b"not json", name="bad.json")

    body = api.client.get(api.address("api-submissions")).json()

    assert [entry["kind"] for entry in body["history"]] == ["rejection", "submission"]
    assert body["history"][0]["errors"][0]["message"]
    assert (body["quota"]["left_today"], body["quota"]["can_submit"]) == (1, True)


def test_quota_says_what_of_the_limits_was_granted(api, phase, team):
    quota.grant(phase=phase, team=team, slots=3, day=kst_day(timezone.now()), reason="장애 보상", actor=leader_of(team))

    body = api.client.get(api.address("api-submissions")).json()["quota"]

    assert (body["daily_limit"], body["granted_today"], body["granted_total"]) == (5, 3, 0)


def test_quota_says_what_people_of_the_team_used_in_other_teams(api, phase, team):
    person = UserFactory.create(name="홍길동")
    SubmissionFactory.create(phase=phase, submitted_by=person)
    Membership.objects.create(team=team, user=person, competition=team.competition)

    body = api.client.get(api.address("api-submissions")).json()["quota"]

    assert (body["elsewhere_today"], body["elsewhere_total"], body["elsewhere_by"]) == (1, 1, ["홍길동"])
    assert body["left_today"] == 1


def test_terms_to_accept_are_named_before_a_file_is_refused_for_them(api, phase):
    competition = phase.track.competition
    update_competition(competition=competition, actor=None, terms_ko="새 약관", renews_terms=True)

    assert api.client.get(reverse("api-competition", args=[competition.slug])).json()["terms_version"] == 1
    assert api.client.get(api.address("api-submissions")).json()["needs_terms"] is True
    assert api.submit().json()["error"]["code"] == "terms_not_accepted"


def test_withdrawn_submission_says_when(api, team):
    api.submit()
    withdraw(submission=Submission.objects.get(team=team), actor=leader_of(team))

    entry = api.client.get(api.address("api-submissions")).json()["history"][0]

    assert (entry["is_withdrawn"], bool(entry["withdrawn_at"]), entry["refunded_at"]) == (True, True, None)


def test_expected_end_is_told_where_it_is_known_and_null_where_not(api, phase, team):
    created = api.submit().json()
    assert created["estimated_finish_at"] is None

    now = timezone.now()
    over = finished_submission(phase, team, 0.5).runs.all()
    over.update(started_at=now - timedelta(seconds=70), finished_at=now - timedelta(seconds=60))
    update_jobs(over, cost=1000, worker="w")
    update_jobs(ScoringRun.objects.filter(submission__public_id=created["id"]), cost=12_000)

    one = api.client.get(reverse("api-submission", args=[created["id"]])).json()
    done, waiting = api.client.get(api.address("api-submissions")).json()["history"]
    assert now + timedelta(minutes=2) <= datetime.fromisoformat(one["estimated_finish_at"]) < now + timedelta(minutes=4)
    assert waiting["estimated_finish_at"] is not None
    assert done["estimated_finish_at"] is None


def test_malformed_file_is_answered_with_located_errors_and_costs_nothing(api):
    answer = api.submit(file_bytes([*rows(2), {"id": "q3", "output": {"answer": 7}}]))

    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["kind"]) == (422, "file_rejected", "submission")
    assert (error["total"], error["errors"][0]["id"]) == (1, "q3")
    assert not Submission.objects.exists()


@pytest.mark.parametrize(("total", "shown"), [(99, 99), (100, 100), (101, 100)])
def test_a_hundred_errors_are_answered_and_all_are_counted(api, total, shown):
    error = api.submit(file_with_errors(total)).json()["error"]
    assert (error["total"], len(error["errors"])) == (total, shown)

    [entry] = api.client.get(api.address("api-submissions")).json()["history"]
    assert len(entry["errors"]) == shown


def test_too_many_rejected_files_are_429_with_the_seconds_to_wait(api, settings):
    settings.REJECTIONS_PER_TEAM = 1
    assert api.submit(b"[]").status_code == 422

    answer = api.submit()

    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "too_many_rejections")
    assert 590 <= int(answer["Retry-After"]) <= 600  # the share of one in ten minutes


def test_used_up_quota_is_429_with_the_exact_moment(api):
    for mark in range(2):
        assert api.submit(prediction_bytes(mark=mark)).status_code == 201

    answer = api.submit(prediction_bytes(mark=2))

    error = answer.json()["error"]
    assert (answer.status_code, error["limit_kind"]) == (429, "daily")
    assert error["next_allowed_at"].endswith(("+09:00", "Z"))


def test_request_sent_again_with_its_key_names_the_first(api):
    first = api.submit(key="again-1").json()["id"]

    answer = api.submit(key="again-1")

    assert (answer.status_code, answer.json()["error"]["submission"]) == (409, first)


def test_a_key_that_was_used_for_another_file_is_refused_and_nothing_is_charged(api, team):
    api.submit(key="again-1")

    answer = api.submit(prediction_bytes() + b" ", key="again-1")

    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "upload_key_reused")
    assert Submission.objects.filter(team=team).count() == 1


def test_body_over_the_limit_is_refused_unread(api, settings):
    settings.UPLOAD_MAX_BYTES = 10

    answer = api.submit(b"x" * 200_000)

    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "upload_too_large")


def test_file_just_over_the_limit_is_named_so_too(api, settings):
    settings.UPLOAD_MAX_BYTES = 1_000

    answer = api.submit(b"x" * 1_001)

    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "upload_too_large")


def test_a_large_file_is_refused_unread_while_others_are_checked(api, team, settings, monkeypatch):
    monkeypatch.setattr("malpan.submissions.checking.INLINE_BYTES", 0)
    monkeypatch.setattr(MultiPartParser, "parse", lambda parser: pytest.fail("the body was read"))
    with ExitStack() as places:
        for _place in range(settings.LARGE_CHECKS):
            places.enter_context(checking._place())
        answer = api.submit(b"x" * 200_000)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "checks_busy")
    assert int(answer["Retry-After"]) > 0

    monkeypatch.undo()
    assert api.submit().status_code == 201


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ({}, None),
        ("", "application/json"),
        ("no boundary", "multipart/form-data"),
        ("--b\r\n", "multipart/form-data; boundary=b"),
    ],
)
def test_request_without_a_file_is_told_so(api, body, content_type):
    options = {"content_type": content_type} if content_type else {}

    answer = api.client.post(api.address("api-submissions"), body, **options)

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "api_request_invalid")


def test_person_without_a_team_cannot_submit(phase):
    answer = Api(UserFactory.create(), phase).submit()

    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "not_team_member")


def test_submission_of_another_team_does_not_exist(api, phase):
    other = finished_submission(phase, TeamFactory.create(competition=phase.track.competition), 0.5)

    for public_id in (other.public_id, uuid.uuid4()):
        assert api.client.get(reverse("api-submission", args=[public_id])).status_code == 404


def test_own_submission_goes_with_its_competition_when_that_is_hidden(api, phase, team):
    followed = api.submit()["Location"]
    assert api.client.get(followed).status_code == 200
    Competition.objects.filter(pk=phase.track.competition_id).update(is_published=False)
    assert api.client.get(followed).status_code == 404


def test_upcoming_competition_can_be_read_but_takes_no_file():
    soon = timezone.now() + timedelta(days=1)
    phase = PhaseFactory.create(starts_at=soon, ends_at=soon + timedelta(days=1))
    team = TeamFactory.create(competition=phase.track.competition)

    answer = Api(leader_of(team), phase).submit()

    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "phase_not_open")
    assert Competition.objects.count() == 1


# --- a dry run --------------------------------------------------------------------------------------------------------
def check(api, data):
    return api.client.post(api.address("api-check"), {"file": SimpleUploadedFile("answers.json", data)})


def test_a_sound_file_is_checked_and_nothing_is_kept_or_charged(api, team):
    def quota():
        return api.client.get(api.address("api-submissions")).json()["quota"] | {"next_allowed_at": "now"}

    before = quota()
    response = check(api, prediction_bytes())
    body = response.json()
    assert response.status_code == 200
    assert (body["item_count"], body["format"], body["same_as"]) == (3, "json-array", None)
    assert not Submission.objects.exists()
    assert quota() == before
    assert CANARY not in response.content.decode()


def test_a_check_names_the_submission_of_the_same_file_and_every_error_of_a_bad_one(api, team):
    api.submit()
    assert check(api, prediction_bytes()).json()["same_as"] == str(Submission.objects.get().public_id)
    bad = check(api, file_with_errors(3))
    assert bad.status_code == 422
    assert len(bad.json()["error"]["errors"]) == 3


def test_a_check_takes_a_token_and_a_team(api, phase):
    assert Client().post(api.address("api-check")).status_code == 401
    stranger = Api(UserFactory.create(), phase)
    assert check(stranger, prediction_bytes()).json()["error"]["code"] == "not_team_member"
