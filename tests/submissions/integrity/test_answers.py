"""Answers of stored files for pages: large files are read apart, once, and by nobody who may not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.conf import settings as site

from malpan.core import limits
from malpan.core.storage import store_private
from malpan.submissions import checking
from malpan.submissions.errors import ReadsBusy
from malpan.submissions.integrity import answers
from malpan.submissions.models import Submission
from scoring.errors import InvalidFile
from scoring.lru import LruCache
from tests.api.conftest import Api
from tests.factories import file_bytes, leader_of, rows
from tests.leaderboard.compared_world import ANSWERS, two_results
from tests.web.conftest import client_of

pytestmark = pytest.mark.django_db
Pair = tuple[Submission, Submission]


@pytest.fixture
def pair() -> Pair:
    """Two submissions whose files are padded with what takes long to read: the later one has another third answer."""
    both = two_results()
    for number, row in enumerate(both):
        items = rows(3, ANSWERS[0])
        items[0]["input"] = {"pad": [{}] * checking.INLINE_BYTES}
        items[2]["output"]["answer"] = ANSWERS[number]
        keep(row, file_bytes(items))
    return both


def keep(row: Submission, data: bytes) -> None:
    stored = store_private(data)
    row.file_sha256, row.file_size = stored.sha256, stored.size
    row.save(update_fields=["file_sha256", "file_size"])


def addresses(pair: Pair) -> list[str]:
    one, other = pair
    parts = [f"submissions/{one.public_id}/items/", f"submissions/{one.public_id}/compare/{other.public_id}/"]
    return [*(f"/{part}" for part in parts), f"/api/v1/{parts[0]}", f"/api/v1/{parts[1]}items/"]


def test_pages_and_the_api_never_read_a_large_file_themselves_and_once_at_all(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Api(leader_of(pair[0].team)).client
    member = client_of(leader_of(pair[0].team))
    monkeypatch.setattr("scoring.reading._read", lambda *_: pytest.fail("read in the web process"))
    for address in addresses(pair):
        text = (client if address.startswith("/api") else member).get(address).content.decode()
        assert ANSWERS[0] in text, address
    monkeypatch.setattr("scoring.checking.subprocess.run", lambda *_, **__: pytest.fail("read again"))
    for address in addresses(pair):
        text = (client if address.startswith("/api") else member).get(address).content.decode()
        assert ANSWERS[0] in text, address
        assert (ANSWERS[1] in text) == ("compare" in address)


def test_a_file_read_apart_says_what_it_says_here(pair: Pair) -> None:
    apart = answers.answers_of(pair[1])
    small = two_results()[1]
    assert dict(apart) == dict(answers.answers_of(small)) == {"q1": ANSWERS[0], "q2": ANSWERS[0], "q3": ANSWERS[1]}
    assert apart.print_of("q1") == apart.print_of("q2") != apart.print_of("q3")
    assert (apart.print_of("q9"), apart.question_of("q9")) == ("", "")
    assert [apart.question_of(item) for item in ("q2", "q3")] == ["2번 문제", "3번 문제"]


def test_a_read_that_finds_no_place_says_when_to_come_again(pair: Pair) -> None:
    member = client_of(leader_of(pair[0].team))
    for _place in range(site.LARGE_CHECKS):
        assert checking._places.acquire(blocking=False)
    try:
        refused = [member.get(address) for address in addresses(pair)[:2]]
        with pytest.raises(ReadsBusy):
            answers.answers_of(pair[0])
    finally:
        for _place in range(site.LARGE_CHECKS):
            checking._places.release()
    assert [(answer.status_code, answer["Retry-After"]) for answer in refused] == [(429, "5")] * 2
    assert member.get(addresses(pair)[0]).status_code == 200


def test_a_file_that_cannot_be_read_is_not_read_again(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(pair[0], b"no json" + b" " * checking.INLINE_BYTES)
    with pytest.raises(InvalidFile):
        answers.answers_of(pair[0])
    monkeypatch.setattr("scoring.checking.subprocess.run", lambda *_, **__: pytest.fail("read again"))
    with pytest.raises(InvalidFile):
        answers.answers_of(pair[0])


def test_answers_are_kept_for_an_hour_within_a_size(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    real = answers._read_now

    def reading(row: Submission, *arguments: Any, **options: Any) -> Any:
        read.append(row.pk)
        return real(row, *arguments, **options)

    monkeypatch.setattr(answers, "_read_now", reading)
    one, other = two_results()
    room = answers.answers_of(one).size + answers.answers_of(other).size - 1
    assert read == [one.pk, other.pk]
    answers.answers_of(one)
    assert len(read) == 2
    later = answers.time.monotonic() + answers.KEPT_SECONDS + 1
    monkeypatch.setattr(answers.time, "monotonic", lambda: later)
    answers.answers_of(one)
    assert len(read) == 3
    monkeypatch.setattr(answers, "_kept", LruCache(room, lambda kept: kept.size))
    for row in (one, other, one):
        answers.answers_of(row)
    assert len(read) == 6


def test_a_person_has_so_many_lists_of_items_a_minute(
    pair: Pair, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits.time, "time", lambda: 1_800_000_020.0)
    settings.ITEM_LISTS_PER_PERSON = 4
    user = leader_of(pair[0].team)
    clients = [client_of(user)] * 2 + [Api(user).client] * 2
    assert [client.get(path).status_code for client, path in zip(clients, addresses(pair), strict=True)] == [200] * 4
    refused = [client.get(path) for client, path in zip(clients, addresses(pair), strict=True)]
    assert [(answer.status_code, answer["Retry-After"]) for answer in refused] == [(429, "40")] * 4
    assert json.loads(refused[-1].content)["error"]["code"] == "too_many_requests"
