"""The history of a team stays small whatever its rejected files held, and says how many errors there were."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from malpan.submissions.models import Rejection
from malpan.submissions.selectors import HISTORY_ERRORS_BYTES, SHOWN_REJECTIONS
from tests.factories import leader_of
from tests.web.conftest import client_of

pytestmark = pytest.mark.django_db
TAG = "\U000e0041"  # a tag character: four bytes, and twelve as JSON
ERRORS = 100


def rejections(phase: Any, team: Any, text: str) -> None:
    row = {"code": "missing_id", "params": {}, "line": 3, "id": text, "field": None}
    for _number in range(SHOWN_REJECTIONS):
        Rejection.objects.create(
            phase=phase,
            team=team,
            submitted_by=leader_of(team),
            file_name="a.json",
            file_size=1,
            errors=[row] * ERRORS,
            error_count=3 * ERRORS,
            created_at=timezone.now(),
        )


def test_errors_of_many_bytes_are_cut_and_all_of_them_counted(api: Any, phase: Any, team: Any) -> None:
    rejections(phase, team, TAG * 200)
    answer = api.client.get(api.address("api-submissions"))
    history = answer.json()["history"]
    assert len(answer.content) < 4 * SHOWN_REJECTIONS * HISTORY_ERRORS_BYTES
    assert [entry["total"] for entry in history] == [3 * ERRORS] * SHOWN_REJECTIONS
    assert all(0 < len(entry["errors"]) < 10 for entry in history)
    page = client_of(leader_of(team)).get(f"/competitions/{phase.track.competition.slug}/submissions/").content.decode()
    assert len(page.encode()) < 4 * SHOWN_REJECTIONS * HISTORY_ERRORS_BYTES
    assert page.count("가운데") >= SHOWN_REJECTIONS


def test_usual_errors_are_all_there(api: Any, phase: Any, team: Any) -> None:
    rejections(phase, team, "q1")
    history = api.client.get(api.address("api-submissions")).json()["history"]
    assert [len(entry["errors"]) for entry in history] == [ERRORS] * SHOWN_REJECTIONS
