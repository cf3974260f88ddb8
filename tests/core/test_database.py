"""A database server that hangs: nobody waits for ever, and who is merely slow is not cut off."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from django.db import OperationalError, connection, connections
from django.db.backends.postgresql.psycopg_any import register_tzloader
from django.test import Client

from malpan.core.database import base
from malpan.local.programs import programs_alone
from tests.clocks import let_pass_in
from tests.hanging import Forwarder, forwarded

if TYPE_CHECKING:
    from pytest_django import DjangoDbBlocker

ALIAS = "behind"
CONNECT_SECONDS = 2
LIMITS = "^(statement|idle_in_transaction_session)_timeout$"


@pytest.fixture
def server(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Forwarder]:
    """The way to the server of the tests, of the connection ``ALIAS``; a silence is a tenth as long."""
    monkeypatch.setattr(base, "SILENCE_SECONDS", 0.4)
    monkeypatch.setattr(base, "AGAIN_SECONDS", 60.0)  # no test takes as long: see ``later``
    monkeypatch.setattr(base, "_unanswered_at", None)
    own = connection.settings_dict
    folder, port = own["OPTIONS"]["host"], own["OPTIONS"]["port"]
    with django_db_blocker.unblock(), forwarded(Path(folder) / f".s.PGSQL.{port}") as forwarder:
        options = own["OPTIONS"] | {"host": "127.0.0.1", "port": forwarder.port, "connect_timeout": CONNECT_SECONDS}
        del options["options"]  # of tests alone (tests.settings), in the place of those of a program
        connections.settings[ALIAS] = own | {"OPTIONS": options, "CONN_HEALTH_CHECKS": False}
        try:
            yield forwarder
        finally:
            forwarder.flows.set()
            connections[ALIAS].close()
            del connections[ALIAS], connections.settings[ALIAS]


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Lets the seconds pass in which nobody tries to connect again."""
    let_pass = let_pass_in(base, monkeypatch)
    return lambda: let_pass(base.AGAIN_SECONDS)


def ask(statement: str = "SELECT 1") -> None:
    with connections[ALIAS].cursor() as cursor:
        cursor.execute(statement)


def test_a_statement_that_takes_longer_than_the_silence_is_not_cut_off(server: Forwarder) -> None:
    ask("SELECT pg_sleep(1.5)")
    ask()


def test_a_server_that_hangs_ends_a_statement_within_seconds_and_refuses_the_next_ones_at_once(
    server: Forwarder, later: Callable[[], None]
) -> None:
    ask()
    server.flows.clear()
    began = time.monotonic()
    with pytest.raises(OperationalError, match="does not answer"):
        ask()
    assert 0.4 < time.monotonic() - began < 6

    connections[ALIAS].close()
    began = time.monotonic()
    with pytest.raises(OperationalError, match="a moment ago"):
        ask()
    assert time.monotonic() - began < CONNECT_SECONDS

    server.flows.set()
    later()
    connections[ALIAS].close()
    ask()


def test_a_server_that_hangs_holds_nobody_who_connects(server: Forwarder) -> None:
    server.flows.clear()
    began = time.monotonic()
    with pytest.raises(OperationalError):
        ask()
    assert time.monotonic() - began < 6
    with pytest.raises(OperationalError, match="a moment ago"):
        ask()


def test_an_attempt_that_is_given_up_leaves_the_server_no_connection(
    server: Forwarder, later: Callable[[], None]
) -> None:
    """That of a statement which looks whether anybody is answered, and one to connect."""
    ask()
    server.flows.clear()
    gc.disable()
    try:
        with pytest.raises(OperationalError, match="does not answer"):
            ask()
        assert connected_to(server) == 0
        later()
        connections[ALIAS].close()
        with pytest.raises(OperationalError, match="timeout expired"):
            ask()
        assert connected_to(server) == 0
    finally:
        gc.enable()


def connected_to(server: Forwarder) -> int:
    """How many sockets of this process lead there."""
    held = psutil.Process().net_connections("tcp4")
    return sum(each.raddr != () and each.raddr.port == server.port for each in held)


@pytest.mark.django_db
def test_a_connection_has_the_name_of_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('application_name')")
        [name] = cursor.fetchone()
    assert name.startswith("malpan ")
    monkeypatch.setenv("MALPAN_PROGRAM", "worker-2")
    assert connection.get_connection_params()["application_name"] == "malpan worker-2"


def test_the_limits_of_web_servers_are_those_of_their_connections(
    server: Forwarder, monkeypatch: pytest.MonkeyPatch
) -> None:
    [web] = [each for each in programs_alone(Path(), worker_number=0, threads=1).values() if each.name == "web"]
    monkeypatch.setenv("PGOPTIONS", web.environment["PGOPTIONS"])
    with connections[ALIAS].cursor() as cursor:
        cursor.execute("SELECT current_setting(name) FROM pg_settings WHERE name ~ %s ORDER BY name DESC", [LIMITS])
        assert cursor.fetchall() == [("2min",), ("5min",)]


def test_the_page_of_a_hanging_database_says_that_it_is_ours_and_when_to_come_again(
    server: Forwarder, monkeypatch: pytest.MonkeyPatch, django_db_blocker: object
) -> None:
    monkeypatch.setattr(base, "_unanswered_at", time.monotonic() + 60)
    connection.close()
    with django_db_blocker.unblock():
        answer = Client().get("/")
    assert answer.status_code == 503
    assert answer["Retry-After"] == "30"
    assert "이용하시는 분의 잘못이 아니며" in answer.content.decode()


@pytest.mark.django_db
def test_moments_are_read_as_django_reads_them() -> None:
    texts = ("1890-01-01", "2026-11-30 06:44:17.9", "2026-11-30 06:44:17.000001+09", "2000-02-29 23:59:59.999999-11:30")
    moments = " UNION ALL ".join(f"SELECT ARRAY['{text}'::timestamptz, NULL], '{text}'::timestamptz" for text in texts)
    with connection.cursor() as cursor:
        found = cursor.execute(moments).fetchall()
    with connection.connection.cursor() as cursor:
        register_tzloader(connection.timezone, cursor)
        expected = cursor.execute(moments).fetchall()
    assert found == expected
    assert {moment.tzinfo for _moments, moment in found} == {UTC}
    assert {type(moment.tzinfo) for _moments, moment in found} == {type(UTC)}
