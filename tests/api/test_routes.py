"""The API: one shape of refusal, tokens only, and never more than the pages show."""

import json

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from malpan.competitions.models import Phase
from malpan.competitions.phases import set_board
from malpan.submissions.models import Submission
from tests.api.conftest import Api
from tests.factories import (
    CANARY,
    CompetitionFactory,
    UserFactory,
    file_bytes,
    finished_submission,
    leader_of,
    rows,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("header", [None, "Bearer wrong", "Basic abc", "Bearer ", "Bearer mlp_한글"])
def test_wrong_token_is_401(phase, header):
    client = Client(headers={"Authorization": header} if header else {})

    answer = client.get(Api(phase=phase).address("api-submissions"))

    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "api_token_invalid")
    assert answer["WWW-Authenticate"] == "Bearer"


def test_session_cookie_opens_nothing(phase, team):
    client = Client()
    client.force_login(leader_of(team))

    assert client.get(Api(phase=phase).address("api-submissions")).status_code == 401


def test_board_is_public_and_marks_the_own_row_for_a_token(api, phase, team):
    finished_submission(phase, team, 0.5)

    public = Api(phase=phase).client.get(api.address("api-board")).json()
    own = api.client.get(api.address("api-board")).json()

    assert [(row["rank"], row["team"], row["is_own"]) for row in public["rows"]] == [(1, team.name, False)]
    assert own["rows"][0]["is_own"]


def test_hidden_board_has_no_rows_not_even_for_staff(phase, team):
    finished_submission(phase, team, 0.5)
    set_board(phase=phase, board=Phase.Board.HIDDEN, actor=None)
    staff = Api(UserFactory.create(is_staff=True), phase)

    body = staff.client.get(staff.address("api-board")).json()

    assert (body["rows"], body["is_hidden"]) == ([], True)


def test_competitions_are_listed_with_their_tracks(phase):
    hidden = CompetitionFactory.create(is_published=False)
    competition = phase.track.competition

    listed = Client().get(reverse("api-competitions")).json()
    detail = Client().get(reverse("api-competition", args=[competition.slug])).json()

    assert [each["slug"] for each in listed["running"]] == [competition.slug]
    assert detail["tracks"][0]["phase"]["daily_limit"] == 2
    assert Client().get(reverse("api-competition", args=[hidden.slug])).status_code == 404


@pytest.mark.parametrize(
    "address",
    [
        *("/api/", "/api/v1/", "/api/v1/nothing/", "/api/v1/submissions/1/"),
        *("/api/v1/competitions/a%0Ab/", "/api/%0A", "/api/v1/competitions/a/tracks/b/limits/%0A"),
    ],
)
def test_unknown_address_is_answered_in_json(address):
    answer = Client().get(address)

    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "address_not_found")


def test_database_that_is_away_is_told_in_json(api, monkeypatch):
    def fail(*_arguments, **_options):
        raise OperationalError("connection refused at 10.0.0.7")

    monkeypatch.setattr("malpan.api.reading.get_competition", fail)

    answer = api.client.get(api.address("api-board"))

    assert (answer.status_code, answer.json()["error"]["kind"]) == (503, "system")
    assert "10.0.0.7" not in answer.content.decode()


def test_no_cache_keeps_what_a_token_asked_for(api):
    assert "no-store" in api.client.get(api.address("api-board"))["Cache-Control"]


def test_wrong_method_is_405_and_names_the_right_ones(api):
    answer = api.client.delete(api.address("api-submissions"))

    assert (answer.status_code, answer["Allow"]) == (405, "GET, POST")


def test_message_is_in_the_language_asked_for(api):
    korean = api.client.get("/api/v1/nothing/", headers={"Accept-Language": "ko"}).json()["error"]["message"]

    assert korean == "이런 주소는 없습니다."


def test_no_answer_leaves_by_the_api(api, phase, team, caplog):
    """Every address, sound and broken files: the planted string stands in none of the answers."""
    finished_submission(phase, team, 0.5)
    answers = [
        api.submit(),
        api.submit(file_bytes(rows(2))),
        api.submit(b"{"),
        api.submit(file_bytes([{"id": "q1", "output": {"answer": {"a": 1}}}])),
        api.client.get(api.address("api-submissions")),
        api.client.get(api.address("api-board")),
        api.client.get(reverse("api-competitions")),
        api.client.get(reverse("api-competition", args=[phase.track.competition.slug])),
        *(api.client.get(reverse("api-submission", args=[each.public_id])) for each in Submission.objects.all()),
    ]

    text = json.dumps([each.json() for each in answers], ensure_ascii=False) + caplog.text
    assert CANARY not in text
