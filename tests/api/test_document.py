"""The OpenAPI document: of the code, in the reader's language, and what its page shows of it."""

from __future__ import annotations

import json
import shlex
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from ninja import Schema

from malpan.accounts.models import Scope
from malpan.accounts.services import create_api_token
from malpan.api.documentation import examples, operations_of
from malpan.api.documents import document
from malpan.api.routes import api
from malpan.core.errors import DomainError
from tests.factories import PhaseFactory, TeamFactory, leader_of, prediction_bytes, publish

pytestmark = pytest.mark.django_db


def schemas(of=Schema):
    for each in of.__subclasses__():
        if each.__module__.startswith("malpan.api") and "[" not in each.__name__:
            yield each
        yield from schemas(each)


def test_no_two_schemas_have_one_name():
    """In the document the second would take the place of the first."""
    found = {each.__module__ + each.__qualname__: each.__name__ for each in schemas()}
    names = sorted(found.values())
    assert names == sorted(set(names))


def test_it_is_openapi_3_1_and_readable():
    answer = Client().get(reverse("api-openapi"))
    assert answer.json()["openapi"] == "3.1.0"
    assert "\\u" not in answer.content.decode()
    assert "순위표" in answer.content.decode()


def test_its_texts_are_in_the_language_asked_for():
    korean, english = (
        Client().get(reverse("api-openapi"), headers={"Accept-Language": language}).json() for language in ("ko", "en")
    )
    board = "/api/v1/competitions/{slug}/tracks/{track}/board/"
    assert korean["paths"][board]["get"]["summary"] == "순위표"
    assert english["paths"][board]["get"]["summary"].isascii()
    assert korean["components"] != english["components"] or korean["paths"] != english["paths"]


def test_every_operation_says_what_it_takes_and_that_its_refusals_are_problems():
    for methods in document(api)["paths"].values():
        for each in methods.values():
            assert each["security"]
            refused = {status: answer for status, answer in each["responses"].items() if status >= "400"}
            assert {"401", "404", "422", "429", "503"} <= refused.keys()
            assert all("application/problem+json" in answer["content"] for answer in refused.values())


def test_where_a_refusal_says_when_to_ask_again_the_document_has_it():
    """Of every error that may have ``Retry-After``, by its class or by what it is made of."""
    waiting = {
        str(each.http_status)
        for each in DomainError.by_code.values()
        if each.retry_after is not None or "retry_after" in each.__init__.__code__.co_names
    }
    assert waiting == {"429", "503"}
    for methods in document(api)["paths"].values():
        for each in methods.values():
            told = {
                status for status, answer in each["responses"].items() if "Retry-After" in answer.get("headers", {})
            }
            assert told == waiting


def test_all_refusals_are_of_one_model():
    """One for each status of each operation, 1,800 in all, was a second of the start of every process."""
    operations = [
        each for _, router in api._routers for path in router.path_operations.values() for each in path.operations
    ]
    models = {id(model) for each in operations for status, model in each.response_models.items() if status >= 400}
    assert len(operations) > 100
    assert len(models) == 1


@pytest.mark.parametrize("language", ["ko", "en"])
def test_the_page_shows_every_operation_and_every_code(language):
    text = Client().get(reverse("api-docs"), headers={"Accept-Language": language}).content.decode()
    for methods in document(api)["paths"].values():
        for each in methods.values():
            assert f'id="{each["operationId"]}"' in text
    assert 'id="quota_exceeded"' in text
    assert "%(" not in text


def test_its_commands_are_understood():
    """Each as a shell would read it: none is refused for what it sends or for where it sends it."""
    phase = PhaseFactory.create(daily_limit=50)
    publish(phase)
    track = phase.track
    team = TeamFactory.create(competition=track.competition)
    token = create_api_token(user=leader_of(team), label="t", scopes=list(Scope))[1]
    named = {"slug": track.competition.slug, "track": track.slug, "pk": "1", "number": "1"}
    named |= dict.fromkeys(("judge_pk", "judgement_pk", "exclusion_pk"), "1")
    named |= dict.fromkeys(("public_id", "one_id", "other_id", "with_id"), "00000000-0000-0000-0000-000000000000")
    for shown, _tag in operations_of(document(api), named):
        answer = run(shown.command, token)
        code = answer.json().get("code", "") if "problem" in answer.get("Content-Type", "") else ""
        assert answer.status_code < 500, (shown.command, code)
        assert code not in {"fields_invalid", "api_request_invalid", "address_not_found", "api_token_invalid"} or (
            code == "address_not_found" and "/1/" in shown.command
        ), (shown.command, answer.content.decode())


def run(command, token):
    words = iter(shlex.split(command.replace("$MALPAN_TOKEN", token))[1:])
    method, headers, body, form, address = "GET", {}, None, {}, ""
    for word in words:
        if word == "-X":
            method = next(words)
        elif word == "-H":
            name, _colon, value = next(words).partition(": ")
            headers[name] = value
        elif word == "-d":
            body = next(words)
            json.loads(body)
        elif word == "-F":
            name, _equals, value = next(words).partition("=")
            form[name] = SimpleUploadedFile("answers.json", prediction_bytes()) if value.startswith("@") else value
        elif word != "-OJ":
            address = word
    path = address.partition("/api/")[2]
    kind = headers.pop("Content-Type", "application/json")
    client = Client(headers=headers)
    if form:
        return client.post(f"/api/{path}", form)
    return client.generic(method, f"/api/{path}", body or "", content_type=kind if body else "")


def test_examples_name_a_competition_that_is_open_where_there_is_one():
    now = timezone.now()
    day = timedelta(days=1)
    PhaseFactory.create(track__competition__slug="past", starts_at=now - 9 * day, ends_at=now - day)
    assert examples()["slug"] == "past"
    PhaseFactory.create(track__competition__slug="open", starts_at=now - day, ends_at=now + day)
    assert examples()["slug"] == "open"
