"""Files that organisers publish: who may have them is decided here, wherever their bytes come from."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse

from malpan.competitions.services import add_data_file
from malpan.core.storage import s3
from malpan.core.storage.s3 import S3Store
from malpan.core.storage.stores import Copy
from tests.factories import PhaseFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def file() -> Any:
    track = PhaseFactory.create().track
    return add_data_file(track=track, kind="data", title_ko="자료", file_name="자료.json", data=b"[1]")


@pytest.fixture
def elsewhere(file: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is in S3, which browsers reach at an address of its own; no server is needed to sign."""
    settings.MALPAN_STORAGE, settings.S3_PUBLIC_ENDPOINT = "s3://bucket/prefix", "https://files.example.org"
    settings.S3_ACCESS_KEY, settings.S3_SECRET_KEY = "key", "secret-key"
    copy = Copy(file.file_sha256, 3, f"prefix/{file.file_sha256}", timedelta())
    monkeypatch.setattr(S3Store, "_copies_of", lambda store, sha256: [copy])


@pytest.fixture(params=["page", "API"])
def address(file: Any, request: pytest.FixtureRequest) -> str:
    if request.param == "API":
        return reverse("getDataFile", args=[file.pk])
    return reverse("data_file", args=[file.pk, file.file_name])


def test_the_site_hands_out_what_is_on_its_disk(client, address):
    answer = client.get(address)
    assert (b"".join(answer.streaming_content), answer["Content-Length"]) == (b"[1]", "3")


@pytest.mark.usefixtures("elsewhere")
def test_who_asks_is_sent_to_the_store_for_minutes(client, file, address):
    answer = client.get(address)
    assert answer.status_code == 302
    assert answer["Location"].startswith(f"https://files.example.org/bucket/prefix/{file.file_sha256}?")
    assert f"X-Amz-Expires={s3.ADDRESS_SECONDS}&" in answer["Location"]
    assert "secret-key" not in answer["Location"]
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.usefixtures("elsewhere")
def test_who_may_not_see_the_competition_gets_no_address(client, file, address):
    competition = file.track.competition
    competition.is_published = False
    competition.save()
    answer = client.get(address)
    assert (answer.status_code, "Location" in answer) == (404, False)


@pytest.mark.parametrize(
    ("headers", "status", "body", "place"),
    [
        ({"Range": "bytes=1-"}, 206, b"1]", "bytes 1-2/3"),
        ({"Range": "bytes=1-", "If-Range": "own"}, 206, b"1]", "bytes 1-2/3"),
        ({"Range": "bytes=1-", "If-Range": '"another"'}, 200, b"[1]", None),
        ({"Range": "bytes=0-"}, 200, b"[1]", None),
        ({"Range": "bytes=3-"}, 200, b"[1]", None),
        ({"Range": "bytes=1-1"}, 200, b"[1]", None),
        ({"Range": "bytes=-1"}, 200, b"[1]", None),
        ({"Range": "lines=1-"}, 200, b"[1]", None),
    ],
)
def test_a_download_goes_on_where_it_broke_off(client, file, address, headers, status, body, place):
    headers = {name: f'"{file.file_sha256}"' if value == "own" else value for name, value in headers.items()}
    answer = client.get(address, headers=headers)
    assert (answer.status_code, b"".join(answer.streaming_content)) == (status, body)
    assert (answer.headers.get("Content-Range"), answer["Content-Length"]) == (place, str(len(body)))
    assert (answer["Accept-Ranges"], answer["ETag"]) == ("bytes", f'"{file.file_sha256}"')
