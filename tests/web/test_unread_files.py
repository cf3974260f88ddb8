"""What the upload page refuses without reading the file: as much a minute, and at the same moments, as the API."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpRequest
from django.test import Client

from malpan.competitions.models import Phase
from malpan.core import limits, uploads
from malpan.core.limits import network_of
from malpan.submissions import checking
from malpan.submissions.models import Submission
from malpan.web.pages import submit
from tests.factories import prediction_bytes
from tests.web import html

pytestmark = pytest.mark.usefixtures("team")
PAGES = ["submit/", "submit/check/"]


@pytest.fixture(autouse=True)
def _at_twenty_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(limits.time, "time", lambda: 1_800_000_020.0)


def send(client: Client, phase: Phase, page: str = "submit/", mark: str = "") -> Any:
    form = {"file": SimpleUploadedFile("a.json", prediction_bytes(mark=mark)), "track": phase.track.slug, "memo": ""}
    return client.post(f"/competitions/{phase.track.competition.slug}/{page}", form)


def reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HttpRequest, "_load_post_and_files", lambda _request: pytest.fail("the body was read"))


@pytest.mark.parametrize("page", PAGES)
def test_a_person_sends_so_many_files_a_minute_and_none_is_read_after_them(
    phase: Phase, member: Client, settings: Any, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    settings.API_UPLOADS_PER_TEAM = 2
    assert [send(member, phase, each, str(mark)).status_code for mark, each in enumerate(PAGES)] == [302, 200]
    before = Submission.objects.count()
    with monkeypatch.context() as patched:
        reads_nothing(patched)
        strict = Client(enforce_csrf_checks=True)
        strict.cookies = member.cookies
        refused = send(strict, phase, page)
    assert (refused.status_code, refused["Retry-After"], Submission.objects.count()) == (429, "40", before)
    text = html.parse(refused.content.decode()).text
    assert "40초 뒤에 다시" in text
    assert "제출 횟수도 줄지 않았습니다" in text
    monkeypatch.setattr(limits.time, "time", lambda: 1_800_000_060.0)
    assert send(member, phase, "submit/", "another minute").status_code == 302


def test_another_person_has_a_minute_of_their_own_and_a_page_that_takes_no_file_has_none(
    phase: Phase, member: Client, settings: Any
) -> None:
    settings.API_UPLOADS_PER_TEAM = 1
    send(member, phase)
    assert send(member, phase).status_code == 429
    assert send(Client(), phase).status_code == 302  # to log in
    assert send(Client(), phase).status_code == 429
    assert member.get(f"/competitions/{phase.track.competition.slug}/submit/").status_code == 200
    assert member.post("/language/", {"language": "en", "next": "/"}).status_code == 302


def test_an_address_has_as_many_requests_as_by_api_whoever_sends_them(
    phase: Phase, member: Client, settings: Any
) -> None:
    settings.API_REQUESTS_PER_ADDRESS = 1
    assert send(member, phase).status_code == 302
    assert send(Client(), phase).status_code == 429
    assert Client().get("/api/v1/competitions/").status_code == 429
    assert Client(REMOTE_ADDR="192.0.2.9").get("/api/v1/competitions/").status_code == 200


@pytest.mark.parametrize("page", PAGES)
def test_a_large_file_is_refused_unread_while_all_places_are_taken(
    phase: Phase, member: Client, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.setattr(checking, "INLINE_BYTES", -uploads.FORM_BYTES)  # every file is a large one
    with ExitStack() as taken, monkeypatch.context() as patched:
        while checking._places.acquire(blocking=False):
            taken.callback(checking._places.release)
        reads_nothing(patched)
        refused = send(member, phase, page)
    assert (refused.status_code, "Retry-After" in refused.headers) == (503, True)
    assert html.problems(html.parse(refused.content.decode())) == []


def test_every_page_of_a_participants_file_is_marked() -> None:
    assert submit.submit_page.takes_file
    assert submit.check_page.takes_file


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("192.0.2.8", "192.0.2.8"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:0:1::7", "2001:db8:0:1::/64"),
        ("2001:db8:0:1:ffff:ffff:ffff:ffff", "2001:db8:0:1::/64"),
        ("2001:db8:0:2::7", "2001:db8:0:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("a name", "a name"),
    ],
)
def test_a_limit_by_address_counts_the_network_of_a_customer(address: str, network: str) -> None:
    request = HttpRequest()
    request.META["REMOTE_ADDR"] = address
    assert network_of(request) == network


def test_whoever_changes_within_their_network_is_counted_on(phase: Phase, settings: Any) -> None:
    settings.BOARD_DOWNLOADS_PER_ADDRESS = settings.CHAIN_DOWNLOADS_PER_ADDRESS = 1
    settings.API_REQUESTS_PER_ADDRESS = 1
    slug, track = phase.track.competition.slug, phase.track.slug
    for path in (
        f"/competitions/{slug}/board/?as=csv",
        f"/competitions/{slug}/chain.json",
        f"/api/v1/competitions/{slug}/tracks/{track}/board/",
    ):
        ends = ("1::7", "1::8", "2::7")
        answers = [Client(REMOTE_ADDR=f"2001:db8:0:{end}").get(path).status_code for end in ends]
        assert answers == [200, 429, 200], path
