"""A database whose disk is full is told wherever the state of the site is: it can be read as if all were well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.db import OperationalError, connection, transaction
from django.test import Client
from django.urls import reverse
from redis.exceptions import ConnectionError as RedisConnectionError

from malpan.core.database import room
from malpan.jobs.heartbeat import beat
from tests.factories import CompetitionFactory, UserFactory
from tests.waiting import wait_for
from tests.web import html
from tests.web.manage_people import client_with_role

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("contexts")]

# what PostgreSQL says, by its code
NO_ROOM = "DO $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left' USING ERRCODE = '53100'; END $$"


@pytest.fixture(autouse=True)
def _nothing_noted() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def refuse() -> None:
    with pytest.raises(OperationalError, match="could not extend"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(NO_ROOM)


def healthz() -> tuple[int, str]:
    response = Client().get("/healthz/?format=text")
    return response.status_code, response.content.decode()


def shown(settings: Any) -> dict[str, bool]:
    """Where it is told."""
    staff, competition = Client(), CompetitionFactory.create()
    staff.force_login(UserFactory.create(is_staff=True))
    settings.METRICS_TOKEN = "token"
    manage = client_with_role(competition, "viewer").get(reverse("manage_overview", args=[competition.slug]))
    alarms = staff.get("/manage/site/").context["alarms"]
    metrics = Client().get("/openmetrics/", headers={"Authorization": "Bearer token"}).content.decode()
    page = html.parse(manage.content.decode())
    assert html.problems(page) == []
    return {
        "site": "데이터베이스 디스크가 가득 찼습니다" in alarms[0].text and alarms[0].is_urgent,
        "health": "DatabaseRoom(): Warning: the disk of the database has no room left" in healthz()[1],
        "metrics": "\nmalpan_database_full 1" in metrics,
        "manage": "데이터베이스 디스크가 가득 찼습니다" in page.text,
    }


def test_it_is_told_everywhere_once_it_happened(settings: Any) -> None:
    nowhere = dict.fromkeys(("site", "health", "metrics", "manage"), False)
    assert shown(settings) == nowhere
    refuse()
    assert shown(settings) == dict.fromkeys(nowhere, True)
    assert healthz()[0] == 200  # the pages can be read


def test_another_error_of_the_database_is_none_of_its_disk() -> None:
    with pytest.raises(OperationalError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(NO_ROOM.replace("53100", "53200"))
    assert room.no_room_at() is None


def test_it_is_over_some_minutes_after_the_last_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 60 < room.KEPT_SECONDS <= 600
    monkeypatch.setattr(room, "KEPT_SECONDS", 1)
    refuse()
    wait_for(lambda: room.no_room_at() is None, "that it is over")


def test_a_cache_that_is_away_changes_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_args: Any) -> None:
        raise RedisConnectionError

    monkeypatch.setattr(cache, "set", away)
    monkeypatch.setattr(cache, "get", away)
    refuse()
    assert room.no_room_at() is None


def test_a_process_that_only_says_that_it_is_there_notes_it() -> None:
    """Whoever meets it: a heartbeat that finds no room is only logged."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;"
            "CREATE TRIGGER no_room BEFORE INSERT ON jobs_worker FOR EACH ROW EXECUTE FUNCTION no_room()"
        )
    try:
        with pytest.raises(OperationalError):
            beat("scoring@a/0", {})
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION no_room CASCADE")
    assert room.no_room_at() is not None
