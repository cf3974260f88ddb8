"""Error pages: the same in development and production, without a session where that is what broke."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.middleware.csrf import CsrfViewMiddleware
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import translation
from django.views.defaults import bad_request, server_error
from psycopg.errors import DiskFull
from redis.exceptions import ConnectionError as RedisConnectionError

from malpan.accounts.services import create_api_token
from malpan.api.http import error_response
from malpan.core.errors import DatabaseAway, StorageFull
from malpan.core.messages import text_of
from malpan.core.service_faults import fault_of
from malpan.submissions.errors import ChecksBusy
from malpan.web.pages import competition
from malpan.wsgi import Request, application
from tests.factories import CANARY
from tests.web import html
from tests.web.conftest import Contest


def page_of(response: Any) -> html.Element:
    return html.parse(response.content.decode())


@pytest.mark.parametrize("debug", [True, False])
def test_an_unknown_address_has_our_page_in_every_mode(db: None, client: Client, settings: Any, debug: bool) -> None:
    settings.DEBUG = debug
    response = client.get("/no/such/page/")
    assert response.status_code == 404
    assert page_of(response).one("h1").text == "페이지를 찾을 수 없습니다"


def test_a_missing_slash_is_still_put_right(contest: Contest, client: Client) -> None:
    response = client.get(contest.url("board"))
    assert (response.status_code, response["Location"]) == (301, contest.url("board/"))


def test_a_fault_of_ours_is_named_so_with_its_status(
    contest: Contest, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any) -> None:
        raise StorageFull

    monkeypatch.setattr(competition, "page_context", fail)
    response = client.get(contest.url())
    page = page_of(response)
    assert response.status_code == 507
    assert page.one("span", "badge").text == "시스템 오류"
    assert "저장 공간이 부족해" in page.one("main").text


def test_a_refusal_for_a_time_tells_programs_when_to_ask_again(
    contest: Contest, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any) -> None:
        raise ChecksBusy

    monkeypatch.setattr(competition, "page_context", fail)
    page, answer = client.get(contest.url()), error_response(ChecksBusy())
    assert (page.status_code, page["Retry-After"]) == (answer.status_code, answer["Retry-After"]) == (503, "15")
    assert not error_response(StorageFull()).has_header("Retry-After")


def test_an_unexpected_fault_shows_no_variable_of_the_program(
    contest: Contest, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any) -> None:
        answers = [CANARY]
        raise RuntimeError(len(answers))

    monkeypatch.setattr(competition, "page_context", fail)
    client.raise_request_exception = False
    response = client.get(contest.url())
    assert response.status_code == 500
    assert CANARY not in response.content.decode()
    assert page_of(response).one("h1").text


def test_the_local_default_keeps_the_debug_pages_off() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from malpan import settings; print(settings.LOCAL, settings.DEBUG)"],
        env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["True", "False"]


def disk_full() -> OperationalError:
    """PostgreSQL's, as Django hands it on."""
    error = OperationalError("could not extend file: No space left on device")
    error.__cause__ = DiskFull()
    return error


SERVICES = [
    (OperationalError("refused"), 503, "데이터베이스에 연결하지 못했습니다", "the database is unreachable"),
    (disk_full(), 507, "저장 공간이 부족해", "the disk of the database has no room left"),
    (RedisConnectionError("refused"), 503, "비밀번호가 틀린 것이 아니며", "Redis is unreachable"),
    (OSError(errno.ENOSPC, "refused"), 507, "저장 공간이 부족해", "a disk of this machine has no room left"),
]


@pytest.mark.parametrize(("error", "status", "said", "logged"), SERVICES)
@pytest.mark.parametrize("place", ["view", "middleware"])
def test_a_service_that_fails_has_a_page_that_needs_none_and_operators_are_told_which(
    contest: Contest, client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    error: Exception, status: int, said: str, logged: str, place: str,
) -> None:  # fmt: skip
    def fail(*_args: Any) -> None:
        raise error

    if place == "view":
        monkeypatch.setattr(competition, "page_context", fail)
    else:
        monkeypatch.setattr(CsrfViewMiddleware, "process_view", fail)
        client.raise_request_exception = False
    response = client.get(contest.url())
    page = page_of(response)
    assert (response.status_code, response["Retry-After"]) == (status, "30")
    assert page.one("h1").text == "잠시 이용할 수 없습니다"
    assert said in page.one("main").text
    assert "refused" not in response.content.decode()
    assert logged in caplog.messages


@pytest.mark.parametrize("error", [error for error, *_others in SERVICES])
def test_only_what_was_certainly_not_done_is_said_to_cost_nothing(error: Exception) -> None:
    fault = fault_of(error)
    is_certain = not isinstance(fault, DatabaseAway)
    assert ("차감되지 않습니다" in text_of(fault)) is is_certain
    assert ("이미 접수되었을 수 있으니" in text_of(fault)) is not is_certain
    assert json.loads(error_response(fault).content)["error"]["kind"] == "system"


@pytest.mark.parametrize("language", ["ko", "en"])
def test_the_plain_pages_are_sound_without_session_and_user(language: str) -> None:
    request = RequestFactory().get("/")
    with translation.override(language):
        for response in (server_error(request), bad_request(request, ValueError(CANARY))):
            page = page_of(response)
            assert html.problems(page) == []
            assert page.one("html").attributes["lang"] == language
            assert CANARY not in response.content.decode()


def test_a_form_without_its_token_is_explained_and_nothing_is_taken(contest: Contest) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(contest.leader)
    form = {"file": SimpleUploadedFile("a.json", b"[]"), "track": contest.track.slug}
    response = client.post(contest.url("submit/"), form)
    page = page_of(response)
    assert response.status_code == 403
    assert "제출 횟수도 차감되지 않았습니다" in page.one("main").text
    assert page.one("a", "button", href=contest.url("submit/")).text == "페이지 새로 열기"
    assert html.problems(page) == []


def test_a_method_that_a_page_does_not_have_is_refused(contest: Contest, member: Client) -> None:
    for page in ("", "data/", "board/", "submissions/", "team/"):
        assert member.post(contest.url(page)).status_code == 405, page
        assert member.delete(contest.url(page)).status_code == 405, page


@pytest.mark.parametrize("charset", ["rot13", "hex", "euc-kr", "no-such-thing"])
def test_a_request_in_another_character_set_is_refused_in_a_sentence(
    contest: Contest, client: Client, charset: str
) -> None:
    """``rot13`` and ``hex`` are codecs of Python that decode no bytes: they ended in a 500."""
    body = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n'
    content_type = f"multipart/form-data; boundary=x; charset={charset}"

    page = client.generic("POST", contest.url("submit/"), body, content_type)
    upload = reverse("api-submissions", args=[contest.competition.slug, contest.track.slug])
    token = {"Authorization": f"Bearer {create_api_token(user=contest.leader, label='t')[1]}"}
    answer = client.generic("POST", upload, body, content_type, headers=token)
    in_utf8 = client.generic("POST", upload, body, "multipart/form-data; boundary=x; charset=utf-8", headers=token)

    assert (page.status_code, answer.status_code) == (415, 415)
    assert f"UTF-8만 읽습니다(받은 charset: {charset})" in page_of(page).one("main").text
    assert answer.json()["error"]["code"] == "unsupported_charset"
    assert in_utf8.json()["error"]["code"] == "api_request_invalid", "the address reads what it is sent"


def test_a_content_type_that_cannot_be_parsed_is_none(db: None) -> None:
    """Django raised it out of the application, and the web server closed with a 500 of its own."""
    content_type = "multipart/form-data; boundary=x; a*=no-such-charset''%41"
    request = Request({**RequestFactory().post("/").environ, "CONTENT_TYPE": content_type})
    assert (request.content_type, dict(request.POST)) == ("", {})
    answers: list[str] = []
    environ = {**RequestFactory().get("/healthz/").environ, "CONTENT_TYPE": content_type}
    application(environ, lambda status, headers: answers.append(status))
    assert not answers[0].startswith("500")


def test_a_request_that_cannot_be_parsed_is_logged_in_one_line(
    db: None, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    response = client.generic("POST", "/accounts/login/", b"x", "multipart/form-data; boundary=")
    assert response.status_code == 400
    assert not any(record.exc_info for record in caplog.records)


def test_health_is_answered_by_address_and_nothing_else_is(db: None, client: Client) -> None:
    assert client.get("/healthz/", headers={"host": "10.0.0.7"}).status_code == 200
    assert client.get("/", headers={"host": "10.0.0.7"}).status_code == 400
