"""A refusal is no larger than its errors are worth: a bad body is not answered by many times its size."""

from __future__ import annotations

import json

import pytest

from malpan.api.errors import FieldError, FieldsInvalid
from malpan.api.http import ERRORS_BYTES, error_response
from malpan.submissions.errors import FileRejected
from scoring.errors import MAX_ERRORS_KEPT, FileError
from scoring.reading import MAX_ID_CHARS
from tests.factories import file_bytes, file_with_errors, rows

pytestmark = pytest.mark.django_db
REST = 4 * 1024  # of an answer: everything but the errors
MOST = 2 * ERRORS_BYTES + REST


def test_ids_of_characters_that_are_written_as_escapes(api):
    """Ten characters for each, and the list stands twice in an answer."""
    unseen = "\U000e0001" * (MAX_ID_CHARS - 3)
    unknown = [{"id": f"{number:03}{unseen}", "output": {"answer": "답"}} for number in range(200)]

    answer = api.submit(file_bytes([*rows(), *unknown]))

    body = answer.json()
    assert answer.status_code == 422
    assert len(answer.content) <= MOST
    assert body["errors"] == body["error"]["errors"]
    assert 20 < len(body["errors"]) < MAX_ERRORS_KEPT
    assert (body["total"], body["error"]["total"]) == (200 + 1, 200 + 1), "and that there are too many items"


def test_a_body_of_unknown_keys(api):
    data = {f"unknown-{number}-{'x' * 80}": 1 for number in range(20_000)}

    answer = api.client.post(
        f"/api/v1/competitions/{api.phase.track.competition.slug}/team/", data, content_type="application/json"
    )

    body = answer.json()
    assert (answer.status_code, body["code"]) == (422, "fields_invalid")
    assert len(answer.content) <= MOST
    assert (len(body["errors"]), body["total"]) == (MAX_ERRORS_KEPT, 20_001), "and that there is no name"
    assert body["error"]["errors"] == body["errors"]
    assert "20001" in body["detail"]


def test_errors_as_people_make_them_are_listed_by_the_hundred(api):
    answer = api.submit(file_with_errors(300))
    assert (len(answer.json()["errors"]), answer.json()["total"]) == (MAX_ERRORS_KEPT, 300)
    assert len(answer.content) <= MOST


@pytest.mark.parametrize("size", [1, ERRORS_BYTES - 200, ERRORS_BYTES, 10 * ERRORS_BYTES])
def test_the_worst_single_error_and_the_worst_list(size):
    for error in (
        FieldsInvalid([FieldError("body.a", "말" * (size // 3))] * 3),
        FileRejected(errors=[FileError("unknown_id", item_id="말" * (size // 3))] * 3, total=3),
    ):
        answer = error_response(error)
        assert len(answer.content) <= MOST
        assert json.loads(answer.content)["total"] == 3
