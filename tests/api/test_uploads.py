"""What of an upload's request is refused rather than guessed: two files, a key too long, sizes that look alike."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.test import Client

from malpan.submissions.models import Submission
from tests.factories import leader_of, prediction_bytes

pytestmark = pytest.mark.django_db


def test_a_key_longer_than_is_kept_is_refused_and_not_cut(api: Any) -> None:
    keys = ["k" * 72 + last for last in "ab"]
    for key in keys:
        answer = api.submit(key=key)
        assert (answer.status_code, answer.json()["code"]) == (422, "upload_key_too_long")
        assert "73자입니다. 64자 이하" in answer.json()["detail"]
    assert not Submission.objects.exists()
    assert api.submit(key="k" * 64).status_code == 201
    assert Submission.objects.get().upload_key == "k" * 64


def test_a_form_with_a_key_too_long_says_so(api: Any, team: Any) -> None:
    client = Client()
    client.force_login(leader_of(team))
    form = {"file": SimpleUploadedFile("a.json", prediction_bytes()), "upload_key": "k" * 65}
    page = client.post(f"/competitions/{api.phase.track.competition.slug}/submit/", form, follow=True)
    assert "65자입니다" in page.content.decode()
    assert not Submission.objects.exists()


@pytest.mark.parametrize("name", ["api-submissions", "api-check"])
def test_of_two_files_none_is_taken(api: Any, name: str) -> None:
    files = [SimpleUploadedFile(f"{mark}.json", prediction_bytes(mark=mark)) for mark in range(2)]
    answer = api.client.post(api.address(name), {"file": files})
    assert (answer.status_code, answer.json()["code"]) == (400, "several_files")
    assert "‘file’ 파일이 2개" in answer.json()["detail"]
    assert not Submission.objects.exists()


def test_a_form_with_two_files_is_refused(api: Any, team: Any) -> None:
    client = Client()
    client.force_login(leader_of(team))
    files = [SimpleUploadedFile(f"{mark}.json", prediction_bytes(mark=mark)) for mark in range(2)]
    page = client.post(f"/competitions/{api.phase.track.competition.slug}/submit/", {"file": files}, follow=True)
    assert "파일이 2개 있어" in page.content.decode()
    assert not Submission.objects.exists()


def test_sizes_that_round_to_the_same_are_told_in_bytes(api: Any, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = 20 * 1024 * 1024
    address = api.address("api-submissions")
    near, far = (
        api.client.generic("POST", address, b" " * size, content_type="application/json")
        for size in (21_000_000, 42_000_000)
    )
    assert near.status_code == far.status_code == 413
    assert "21,000,000바이트)가 상한(20,971,520바이트)" in near.json()["detail"]
    assert "40.1" in far.json()["detail"]
    assert "바이트" not in far.json()["detail"]


def test_a_database_that_is_away_says_when_to_come_again(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_arguments: Any) -> None:
        raise OperationalError

    monkeypatch.setattr("malpan.api.competitions.published_competitions", away)
    answer = api.client.get("/api/v1/competitions/")
    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (503, "database_away", "30")
