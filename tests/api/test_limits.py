"""Limits of requests: told before they are used up, and how long to wait then."""

from __future__ import annotations

import re

import pytest
from django.core.cache import cache
from django.test import Client
from redis.exceptions import ConnectionError as RedisConnectionError

from malpan.accounts.services import create_api_token
from malpan.core import limits
from tests.factories import PhaseFactory, TeamFactory, UserFactory, leader_of, publish

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    cache.clear()
    monkeypatch.setattr(limits.time, "time", lambda: 1_800_000_020.0)  # 20 seconds into a minute


def client_of(user):
    return Client(headers={"Authorization": f"Bearer {create_api_token(user=user, label='t')[1]}"})


def test_a_token_has_so_many_requests_a_minute(settings):
    settings.API_REQUESTS_PER_TOKEN = 2
    client, other = client_of(UserFactory.create()), client_of(UserFactory.create())

    first, second, third = (client.get("/api/v1/whoami/") for _time in range(3))

    assert (first.status_code, first["RateLimit"], first["RateLimit-Policy"]) == (
        *(200, '"token";r=1;t=40', '"token";q=2;w=60'),
    )
    assert second["RateLimit"] == '"token";r=0;t=40'
    assert (third.status_code, third["Retry-After"], third.json()["code"]) == (429, "40", "too_many_requests")
    assert other.get("/api/v1/whoami/").status_code == 200


def test_an_address_has_so_many_requests_a_minute_with_or_without_a_token(settings):
    settings.API_REQUESTS_PER_ADDRESS = 1
    assert Client().get("/api/v1/competitions/").status_code == 200
    assert client_of(UserFactory.create()).get("/api/v1/whoami/").status_code == 429
    assert Client(REMOTE_ADDR="203.0.113.9").get("/api/v1/competitions/").status_code == 200


def test_a_team_has_so_many_uploads_a_minute_and_none_is_read_after_them(settings, monkeypatch):
    settings.API_UPLOADS_PER_TEAM = 1
    phase = PhaseFactory.create()
    publish(phase)
    client = client_of(leader_of(TeamFactory.create(competition=phase.track.competition)))
    where = f"/api/v1/competitions/{phase.track.competition.slug}/tracks/{phase.track.slug}/check/"
    assert client.post(where, b"[]", content_type="application/json").status_code == 422

    monkeypatch.setattr("malpan.api.submissions.uploaded", lambda request: pytest.fail("the body was read"))
    answer = client.post(where, b"[]", content_type="application/json")

    assert answer.status_code == 429
    assert re.search(r'"team";r=0;t=40', answer["RateLimit"])


def test_a_minute_is_one_of_the_clock(settings, monkeypatch):
    settings.API_REQUESTS_PER_ADDRESS = 1
    for second, status in ((0, 200), (59.9, 429), (60, 200), (119, 429)):
        monkeypatch.setattr(limits.time, "time", lambda second=second: 1_800_000_000.0 + second)
        assert Client().get("/api/v1/competitions/").status_code == status, second


def test_a_cache_that_was_away_is_asked_again_after_five_seconds(settings, monkeypatch):
    settings.API_REQUESTS_PER_ADDRESS = 1
    now, is_away = 100.0, True
    add = limits.cache.add

    def sometimes(*arguments, **options):
        if is_away:
            raise RedisConnectionError
        return add(*arguments, **options)

    monkeypatch.setattr(limits.time, "monotonic", lambda: now)
    monkeypatch.setattr(limits, "_away_until", 0.0)
    monkeypatch.setattr(limits.cache, "add", sometimes)
    assert Client().get("/api/v1/competitions/").status_code == 200
    is_away = False
    for now, status in ((104.9, 200), (105.1, 200), (105.2, 429)):  # noqa: B007  # not counted, the first, the second
        assert Client().get("/api/v1/competitions/").status_code == status


def test_where_nobody_counts_every_request_is_answered_and_the_cache_is_left_alone(settings, monkeypatch):
    settings.API_REQUESTS_PER_ADDRESS = 1
    asked = []

    def fail(*_arguments, **_options):
        asked.append(1)
        raise RedisConnectionError

    monkeypatch.setattr(limits.cache, "add", fail)
    monkeypatch.setattr(limits, "_away_until", 0.0)
    statuses = [Client().get("/api/v1/competitions/").status_code for _time in range(3)]
    monkeypatch.setattr(limits, "_away_until", 0.0)

    assert statuses == [200, 200, 200]
    assert len(asked) == 1
