"""What the page of a result says beyond its scores, by the API: intervals and kinds of items, for the same readers."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.leaderboard.models import ResultSureness
from malpan.submissions.models import HiddenResult, Submission
from tests.api.conftest import Api
from tests.factories import UserFactory, leader_of
from tests.submissions.kinds_world import scored
from tests.web import html
from tests.web.conftest import client_of
from tests.web.visibility_world import STATES, State

pytestmark = pytest.mark.django_db

PUBLIC = {"final_score": [0.4182, 0.6293], "bleurt": [0.3071, 0.5174], "of_no_score": [0.1, 0.2]}
PRIVATE = {"final_score": [0.2318, 0.3927]}


@pytest.fixture
def submission() -> Submission:
    run = scored(None)
    HiddenResult.objects.create(
        run=run, final_score=0.3, scores={"final_score": 0.3}, coverage={}, warnings=[], signature_hash="6" * 64
    )
    for is_private, ends in ((False, PUBLIC), (True, PRIVATE)):
        ResultSureness.objects.create(run=run, is_private=is_private, scores=ends)
    return Submission.objects.select_related("phase", "team").get(pk=run.submission_id)


def run_of(submission: Submission, user: Any = None) -> dict[str, Any]:
    api = Api(user or leader_of(submission.team))
    found: dict[str, Any] = api.client.get(reverse("api-submission", args=[submission.public_id])).json()["run"]
    return found


def test_intervals_and_kinds_of_items_are_those_of_the_page(submission: Submission) -> None:
    run = run_of(submission)
    assert run["intervals"] == {name: PUBLIC[name] for name in ("final_score", "bleurt")}
    page = html.parse(
        client_of(leader_of(submission.team)).get(f"/submissions/{submission.public_id}/").content.decode()
    )
    assert "41.82–62.93" in page.text
    found = {each["dimension"]: each for each in run["breakdown"]}
    assert list(found) == ["type", "category", "length"]
    assert [(each["name"], each["count"]) for each in found["category"]["groups"]] == [("말", 80), ("", 40)]
    told = found["type"]["groups"][0]["means"]["exact_match"]
    assert f"{100 * told:.2f}" in page.text
    metrics = found["type"]["metrics"]
    assert {"exact_match", "bleurt"} <= {each["key"] for each in metrics}
    assert all(each["label"] in page.text for each in metrics)


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
def test_they_are_told_where_the_score_is_and_those_of_the_private_split_after_the_final_board(
    submission: Submission, state: State
) -> None:
    now = timezone.now()
    settings = dict(state.settings)
    if settings.get("board") == "frozen":
        settings["frozen_at"] = now - timedelta(hours=1)  # the submission came later
    if state.is_published:
        settings["final_published_at"] = now
    Submission.objects.update(created_at=now)
    Phase.objects.filter(pk=submission.phase_id).update(**settings)
    run = run_of(submission)
    is_told = state.is_published or settings.get("shows_own_score", True)
    assert ("scores" in run, "intervals" in run, "breakdown" in run) == (is_told, is_told, is_told)
    private = run.get("private") or {}
    assert private.get("intervals") == (PRIVATE if state.is_published else None)


def test_a_rounded_score_has_neither_but_for_organisers(submission: Submission) -> None:
    Phase.objects.filter(pk=submission.phase_id).update(score_step=Decimal("0.01"))
    run = run_of(submission)
    assert run["is_exact"] is False
    assert not {"intervals", "breakdown"} & run.keys()
    told = run_of(submission, UserFactory.create(is_superuser=True))
    assert (told["intervals"].keys(), told["private"]["intervals"]) == ({"final_score", "bleurt"}, PRIVATE)


def test_lists_have_neither(submission: Submission) -> None:
    api = Api(leader_of(submission.team), submission.phase)
    [entry] = api.client.get(api.address("api-submissions")).json()["history"]
    assert "scores" in entry["run"]
    assert not {"intervals", "breakdown"} & entry["run"].keys()
