"""A contest by the API alone: set up by its owner, open, a team that takes part; and what only programs do."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from malpan.accounts.models import Scope
from malpan.accounts.services import create_api_token
from malpan.competitions.models import Competition
from malpan.core.models import AuditEntry
from malpan.leaderboard.rescore_orders import carry_out_due
from malpan.submissions.models import ScoringRun, Submission
from tests.factories import (
    PhaseFactory,
    TeamFactory,
    UserFactory,
    finished_submission,
    leader_of,
    prediction_bytes,
    publish,
    reference_bytes,
)

pytestmark = pytest.mark.django_db
API = "/api/v1"


class Caller:
    """A program with one person's token."""

    def __init__(self, user, scopes=tuple(Scope)):
        token = create_api_token(user=user, label="t", scopes=scopes)[1]
        self.client = Client(headers={"Authorization": f"Bearer {token}"})

    def __call__(self, method, path, body=None, status=200, **headers):
        data, kind = ("", "") if body is None else (json.dumps(body), "application/json")
        answer = self.client.generic(method, API + path, data, content_type=kind, headers=headers)
        assert answer.status_code == status, answer.content.decode()
        return answer.json() if answer.content and not answer.streaming else answer

    def upload(self, path, data, status=201, **fields):
        answer = self.client.post(API + path, {"file": SimpleUploadedFile("file.json", data), **fields})
        assert answer.status_code == status, answer.content.decode()
        return answer.json()


@pytest.fixture
def owner():
    user = UserFactory.create()
    user.user_permissions.add(Permission.objects.get(codename="add_competition"))
    return Caller(user)


def made(owner):
    now = timezone.now()
    owner("POST", "/competitions/", {"slug": "spring", "title_ko": "봄 대회"}, 201)
    manage = "/competitions/spring/manage"
    track = {"slug": "main", "title_ko": "어문 규범", "recipe": "rag-qa@1", "profile": "demo"}
    owner("POST", f"{manage}/tracks/", track, 201)
    times = {"starts_at": (now - timedelta(hours=1)).isoformat(), "ends_at": (now + timedelta(days=1)).isoformat()}
    phase = {"slug": "open", "title_ko": "본선", "daily_limit": 3, "min_interval_seconds": 0, **times}
    return manage, owner("POST", f"{manage}/tracks/main/phases/", phase, 201)


def test_a_contest_is_set_up_and_taken_part_in(owner):
    manage, phase = made(owner)
    owner("PATCH", f"{manage}/settings/", {"terms_ko": "약관", "organiser_ko": "국립국어원", "prize_places": [3, 1]})
    reference = owner.upload(f"{manage}/phases/{phase['id']}/references/", reference_bytes(3))
    assert (reference["state"], reference["item_count"]) == ("current", 3)
    file = owner.upload(f"{manage}/tracks/main/files/", b"[]", title_ko="문항", kind="data")
    owner("POST", f"{manage}/publish/", {}, 409)
    settings = owner("POST", f"{manage}/publish/", {"accepts_gaps": True})
    assert (settings["is_published"], settings["prize_places"], settings["terms_version"]) == (True, [1, 3], 1)
    assert settings["tracks"][0]["phases"][0]["references"] == 1

    person = Caller(UserFactory.create(name="홍길동"))
    assert person("GET", "/competitions/spring/tracks/main/")["files"][0]["address"] == file["address"]
    assert b"".join(person.client.get(file["address"]).streaming_content) == b"[]"
    person("POST", "/competitions/spring/team/", {"name": "말모이"}, 403)  # the terms first
    person("POST", "/competitions/spring/terms/", {"version": 1})
    team = person("POST", "/competitions/spring/team/", {"name": "말모이"}, 201)["team"]
    assert [(each["name"], each["role"]) for each in team["members"]] == [("홍길동", "leader")]

    where = "/competitions/spring/tracks/main"
    answer = person.client.post(
        f"{API}{where}/submissions/?file_name=answers.jsonl&memo=첫 제출",
        prediction_bytes(),
        content_type="application/json",
        headers={"Idempotency-Key": "run-1"},
    )
    body = answer.json()
    assert (answer.status_code, body["file_name"], body["memo"], body["team"]) == (
        *(201, "answers.jsonl", "첫 제출", "말모이"),
    )
    assert person("GET", answer["Location"].removeprefix(API))["waiting_before"] == 0
    assert b"".join(person.client.get(body["file"]).streaming_content) == prediction_bytes()
    assert person("GET", f"{where}/limits/")["left_today"] == 2
    assert person("POST", f"/submissions/{body['id']}/withdraw/")["is_withdrawn"]
    page = person("GET", f"{where}/submissions/?page_size=1")
    assert (page["count"], page["next"], len(page["history"])) == (1, None, 1)


def test_invitations_and_questions_go_by_the_api(owner):
    made(owner)
    owner("POST", "/competitions/spring/manage/publish/", {"accepts_gaps": True})
    leader, other = (Caller(UserFactory.create(name=name)) for name in ("팀장", "팀원"))
    leader("POST", "/competitions/spring/team/", {"name": "말모이"}, 201)
    token = leader("POST", "/competitions/spring/team/invitations/", status=201)["token"]
    joined = other("POST", "/invitations/accept/", {"token": token})["team"]
    assert [each["name"] for each in joined["members"]] == ["팀장", "팀원"]
    other("POST", "/invitations/accept/", {"token": token}, 410)
    other("PATCH", "/competitions/spring/team/", {"name": "다른 이름"}, 403)
    member = next(each for each in joined["members"] if each["role"] == "member")
    left = leader("DELETE", f"/competitions/spring/team/members/{member['id']}/")["team"]
    assert [each["name"] for each in left["members"]] == ["팀장"]

    asked = other("POST", "/competitions/spring/questions/", {"title": "형식", "body": "id는 문자열입니까?"}, 201)
    answer = {"answer_ko": "네.", "is_public": True}
    owner("POST", f"/competitions/spring/manage/questions/{asked['id']}/answer/", answer)
    assert leader("GET", "/competitions/spring/questions/")["items"][0]["answer"] == "네."


def test_scores_are_raw_and_as_the_page_writes_them():
    phase = PhaseFactory.create()
    publish(phase)
    team = TeamFactory.create(competition=phase.track.competition)
    row = finished_submission(phase, team, 0.123456789)
    caller = Caller(leader_of(team))

    run = caller("GET", f"/submissions/{row.public_id}/")["run"]
    board = caller("GET", f"/competitions/{phase.track.competition.slug}/tracks/{phase.track.slug}/board/")

    [final] = [each for each in run["shown"] if each["key"] == "final_score"]
    assert (run["final_score"], final["value"], final["text"]) == (0.123456789, 0.123456789, "12.3456789")
    assert board["rows"][0]["shown"]["final_score"] == "12.3456789"


def test_rescoring_applies_what_was_seen():
    phase = PhaseFactory.create()
    publish(phase)
    competition = phase.track.competition
    finished_submission(phase, TeamFactory.create(competition=competition), 0.5)
    admin = Caller(UserFactory.create(is_superuser=True))
    manage = f"/competitions/{competition.slug}/manage"

    draft = admin.upload(f"{manage}/phases/{phase.pk}/references/drafts/", reference_bytes(3), note="고침")
    started = {"phase": phase.pk, "reason": "정답 고침", "reference_version": draft["id"]}
    batch = admin("POST", f"{manage}/rescoring/", started, 201)
    assert (batch["state"], batch["queued"]) == ("running", 1)
    assert admin("GET", f"{manage}/rescoring/{batch['id']}/preview/")["rows"] == []
    admin("POST", f"{manage}/rescoring/{batch['id']}/apply/", {"seen": "0-x"}, 409)
    admin("POST", f"{manage}/rescoring/", started, 409)
    assert admin("POST", f"{manage}/rescoring/{batch['id']}/cancel/")["state"] == "cancelled"
    recipe = started | {"reference_version": None, "recipe": "captioning@1"}
    assert admin("POST", f"{manage}/rescoring/", recipe, 422)["errors"][0]["field"] == "body.recipe"


def test_a_rescoring_is_ordered_to_apply_itself():
    phase = PhaseFactory.create()
    publish(phase)
    competition = phase.track.competition
    finished_submission(phase, TeamFactory.create(competition=competition), 0.5)
    person = UserFactory.create(is_superuser=True, name="김운영")
    admin, manage = Caller(person), f"/competitions/{competition.slug}/manage/rescoring"
    one = f"{manage}/{admin('POST', f'{manage}/', {'phase': phase.pk, 'reason': '다시'}, 201)['id']}"
    assert admin("GET", f"{one}/")["order"] is None

    admin("POST", f"{one}/order/", {"guarded_places": -1}, 422)
    admin("POST", f"{one}/order/", {"title_ko": "제목만"}, 422)
    notice = {"title_ko": "다시 채점", "body_ko": "안내"}
    order = admin("POST", f"{one}/order/", {"grants_slots": 2, **notice}, 201)["order"]
    assert order | notice == order
    assert (order["state"], order["guarded_places"], order["grants_slots"]) == ("waiting", 3, 2)
    assert (order["ordered_by"], order["ended_at"], order["refusal"]) == ("김운영", None, "")
    admin("POST", f"{one}/order/", {}, 409)
    assert admin("DELETE", f"{one}/order/")["order"]["state"] == "withdrawn"
    admin("DELETE", f"{one}/order/", status=409)

    admin("POST", f"{one}/order/", {"guarded_places": 0}, 201)
    ScoringRun.objects.filter(batch__phase=phase).update(state="failed", error_code="scoring_crashed")
    carry_out_due()
    found = admin("GET", f"{manage}/")["items"][0]
    assert (found["state"], found["order"]["state"]) == ("running", "refused")
    assert found["order"]["refusal_code"] == "batch_not_ready"
    assert "실패한 채점 1건" in found["order"]["refusal"]


def test_phases_of_a_track_are_rescored_together():
    first = PhaseFactory.create()
    second, elsewhere = PhaseFactory.create(track=first.track), PhaseFactory.create()
    competition = first.track.competition
    for phase in (first, second):
        publish(phase)
        finished_submission(phase, TeamFactory.create(competition=competition), 0.5)
    admin = Caller(UserFactory.create(is_superuser=True))
    manage = f"/competitions/{competition.slug}/manage/rescoring"

    started = {"phase": first.pk, "reason": "다시", "also": [elsewhere.pk]}
    assert admin("POST", f"{manage}/", started, 422)["errors"][0]["field"] == "body.also"
    made = admin("POST", f"{manage}/", started | {"also": [second.pk]}, 201)
    assert [admin("GET", f"{manage}/{pk}/")["phase"] for pk in made["together"]] == [first.pk, second.pk]
    values = {"final_score": 0.6, "scores": {"final_score": 0.6}, "signature_hash": "new"}
    ScoringRun.objects.exclude(batch=None).update(state="finished", finished_at=timezone.now(), **values)
    seen = [admin("GET", f"{manage}/{pk}/preview/")["seen"] for pk in made["together"]]
    one = f"{manage}/{made['together'][1]}"
    assert admin("POST", f"{one}/apply/", {"seen": seen[1]}, 409)["code"] == "batch_preview_outdated"
    assert admin("POST", f"{one}/apply/", {"seen": ",".join(seen)})["state"] == "applied"
    assert {each["state"] for each in admin("GET", f"{manage}/")["items"]} == {"applied"}


def test_an_organiser_names_no_file_of_the_server_as_a_profile(owner):
    manage, _phase = made(owner)
    error = owner("PATCH", f"{manage}/tracks/main/", {"profile": "/etc/passwd"}, 422)
    assert error["code"] == "profile_not_offered"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("{", 400, "api_request_invalid"),
        ("[" * 100_000, 400, "api_request_invalid"),
        ('{"title_ko": NaN}', 400, "api_request_invalid"),
        ('{"position": ' + "9" * 5000 + "}", 400, "api_request_invalid"),
        ("[]", 422, "fields_invalid"),
        ('{"misspelled": 1}', 422, "fields_invalid"),
        ('{"title_ko": null}', 422, "fields_invalid"),
        ('{"title_ko": "\\u0000"}', 422, "fields_invalid"),
        ('{"title_ko": "\\ud800"}', 422, "fields_invalid"),
        ('{"team_size_max": 0}', 422, "fields_invalid"),
        ('{"title_ko": "' + "가" * 1_000_000 + '"}', 413, "body_too_large"),
    ],
)
def test_a_body_that_cannot_be_used_is_refused(owner, body, status, code):
    manage, _phase = made(owner)
    answer = owner.client.patch(f"{API}{manage}/settings/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer["Content-Type"] == "application/problem+json"


def test_a_moment_far_from_utc_is_that_moment(owner):
    manage, _phase = made(owner)
    notice = {"title_ko": "공지", "body_ko": "내용", "published_at": "2268-01-30T02:08:09+22:23"}
    posted = owner("POST", f"{manage}/notices/", notice, 201)
    assert datetime.fromisoformat(posted["published_at"]) == datetime(2268, 1, 29, 3, 45, 9, tzinfo=UTC)


def test_what_is_wrong_with_a_value_is_said_with_its_place_in_the_language_asked_for(owner):
    manage, _phase = made(owner)
    body = {"targets": [{"kind": "milestone", "value": 0.5}]}
    korean = owner("PUT", f"{manage}/tracks/main/targets/", body, 422)
    english = owner("PUT", f"{manage}/tracks/main/targets/", body, 422, **{"Accept-Language": "en"})
    assert korean["errors"] == [{"field": "body.targets.0.label_ko", "message": "값이 없습니다."}]
    assert english["errors"] == [{"field": "body.targets.0.label_ko", "message": "The value is missing."}]


def test_a_refusal_is_a_problem_document_and_says_what_it_said_before():
    answer = Client().get(f"{API}/whoami/", headers={"Accept-Language": "ko"})
    body = answer.json()
    assert answer["Content-Type"] == "application/problem+json"
    assert body["type"].endswith("/api/docs/#api_token_invalid")
    assert (body["title"], body["status"], body["code"], body["kind"]) == (
        *("요청 오류", 401, "api_token_invalid", "request"),
    )
    assert body["error"] == {"code": body["code"], "kind": body["kind"], "message": body["detail"]}
    assert "토큰" in answer.content.decode()


def test_what_nobody_foresaw_is_a_problem_document_too(monkeypatch):
    def fail(*_arguments):
        raise ZeroDivisionError

    monkeypatch.setattr("malpan.api.competitions.published_competitions", fail)
    answer = Client(raise_request_exception=False).get(f"{API}/competitions/")
    assert (answer.status_code, answer.json()["code"]) == (500, "server_error")
    assert "같은 Idempotency-Key" in answer.json()["detail"], "an upload may have been accepted"


@pytest.mark.parametrize("address", ["competitions/", "openapi.json", "whoami/", "nothing/"])
def test_every_answer_says_of_which_version_the_api_is(address):
    assert Client().get(f"{API}/{address}")["API-Version"] == "1.0.0"


def test_who_does_something_by_the_api_is_in_the_audit_log(owner):
    made(owner)
    assert set(AuditEntry.objects.values_list("action", flat=True)) >= {"competition.create", "track.create"}
    assert not AuditEntry.objects.filter(action__in=("track.create", "phase.create"), actor=None).exists()
    assert Competition.objects.count() == 1
    assert not Submission.objects.exists()


def test_a_hidden_competition_is_there_for_its_organisers_alone(owner):
    made(owner)
    assert owner("GET", "/competitions/spring/")["is_published"] is False
    Caller(UserFactory.create())("GET", "/competitions/spring/", status=404)
