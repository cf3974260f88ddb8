"""The database of one process of tests: a copy of one that was migrated once for this state of the code.

Migrating takes seconds, copying a fraction of one. The migrated database stays on the server for the next run; its
name says which code it was made from, so that changed models or migrations never meet a database of before.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import django
import psycopg
import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.sql import SQL, Composed, Identifier, Literal

_LOCK: Final = 20261120  # among the advisory locks of the server: one process at a time makes or copies
_SOURCES: Final = (
    "apps.py",
    "models.py",
    "models/**/*.py",
    "migrations/**/*.py",
    "append_only.py",
    "triggers.py",
    "looks.py",
)
WRITTEN_BY_MIGRATING: Final = ("auth_permission", "django_content_type", "django_migrations")


def fingerprint(folders: Iterable[Path]) -> str:
    """A name for all that decides how the tables of the apps in ``folders`` look."""
    digest = hashlib.sha256(django.__version__.encode())
    for folder in folders:
        for path in sources(folder):
            digest.update(f"{path.relative_to(folder)} {path.stat().st_size}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def sources(folder: Path) -> list[Path]:
    """The files of an app that say how its tables look."""
    return sorted({found for pattern in _SOURCES for found in folder.glob(pattern)})


@contextmanager
def copied(name: str, template: str, migrate: Callable[[str], None]) -> Iterator[None]:
    """A database ``name``, a copy of ``template``, gone afterwards; ``migrate`` fills the template if there is none."""
    _copy(name, template, migrate)
    try:
        yield
    finally:
        with server() as postgres:
            postgres.execute(_drop(name))


def _copy(name: str, template: str, migrate: Callable[[str], None]) -> None:
    """Make ``name`` a fresh copy of ``template``."""
    with server() as postgres:
        postgres.execute("SELECT pg_advisory_lock(%s)", [_LOCK])  # until the end of the connection
        postgres.execute(_drop(name))
        _provide(postgres, template, migrate)
        postgres.execute(SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(name), Identifier(template)))


def _drop(name: str) -> Composed:
    return SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(name))


@contextmanager
def of_this_process() -> Iterator[None]:
    """Django on a fresh, migrated database of this process."""
    before = settings.DATABASES["default"]["NAME"]
    name = f"test_malpan_{os.getpid()}"
    with copied(name, _migrated(), _migrate):
        _connect_to(name)
        yield
        _connect_to(before)


def made_anew() -> None:
    """The database of this process is again as migrating left it: for a test that took its tables."""
    connection.close()
    _copy(connection.settings_dict["NAME"], _migrated(), _migrate)


def _migrated() -> str:
    """The name of the migrated database for this state of the code."""
    return f"migrated_{fingerprint(Path(config.path) for config in apps.get_app_configs())}"


def empty() -> None:
    """Take every row a test committed, as ``flush`` does in many times the time: that rewrites every table each time.

    What migrating wrote stays. The triggers are off meanwhile: some tables let nobody delete a row.
    """
    tables = [name for name in connection.introspection.django_table_names() if name not in WRITTEN_BY_MIGRATING]
    any_row = SQL(" UNION ALL ").join(
        SQL("SELECT {} WHERE EXISTS (SELECT FROM {})").format(Literal(table), Identifier(table)) for table in tables
    )
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(any_row)
        for (table,) in cursor.fetchall():
            cursor.execute(SQL("DELETE FROM {}").format(Identifier(table)))
        cursor.execute("SET session_replication_role = DEFAULT")


@contextmanager
def written_for_now() -> Iterator[None]:
    """What is written inside is taken back at the end; to Django it is several transactions, as in the tests."""
    world = transaction.atomic()
    world._from_testcase = True  # type: ignore[attr-defined]
    with world:
        yield
        transaction.set_rollback(True)


def count_rows() -> None:
    """Let PostgreSQL count the rows that a test made by the hundred, before they are joined.

    A table that was vacuumed when all its rows had been rolled back counts as empty for as long as it has the same
    pages: joins of five hundred rows were planned as loops within loops and took a quarter of an hour.
    """
    with connection.cursor() as cursor:
        # what a statement of the store of pair values may take lasts until the end of its transaction: here the test's
        cursor.execute("SET statement_timeout = 0")
        cursor.execute("ANALYZE")


@contextmanager
def away() -> Iterator[None]:
    """The database of this process closes every connection and refuses new ones."""
    name = connection.settings_dict["NAME"]
    allow = SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
    with server() as postgres:
        postgres.execute(allow.format(Identifier(name), SQL("false")))
        try:
            postgres.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
            yield
        finally:
            postgres.execute(allow.format(Identifier(name), SQL("true")))


@contextmanager
def away_for(seconds: float) -> Iterator[Callable[[], None]]:
    """A function that takes the database ``away`` for ``seconds``, at once; within the block it comes back."""
    with ExitStack() as ends:

        def begin() -> None:
            outage = ends.enter_context(ExitStack())
            outage.enter_context(away())
            timer = threading.Timer(seconds, outage.close)
            timer.start()
            ends.callback(timer.join)

        yield begin


def lose_next_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next commit is done, and the connection breaks before its answer is there."""
    commit = BaseDatabaseWrapper.commit

    def commit_and_break(this: BaseDatabaseWrapper) -> None:
        monkeypatch.setattr(BaseDatabaseWrapper, "commit", commit)
        commit(this)
        this.connection.close()
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(BaseDatabaseWrapper, "commit", commit_and_break)


def _provide(postgres: psycopg.Connection, template: str, migrate: Callable[[str], None]) -> None:
    """Make ``template`` if there is none: under another name at first, so that it is never there half done."""
    family = template.rpartition("_")[0] + "_"
    found = postgres.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [family]).fetchall()
    for (other,) in found:
        if other != template:  # of earlier code, or broken off
            postgres.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(other)))
    if (template,) not in found:
        unfinished = f"{template}_unfinished"
        postgres.execute(SQL("CREATE DATABASE {}").format(Identifier(unfinished)))
        migrate(unfinished)
        postgres.execute(SQL("ALTER DATABASE {} RENAME TO {}").format(Identifier(unfinished), Identifier(template)))


def _migrate(name: str) -> None:
    before = connection.settings_dict["NAME"]
    _connect_to(name)
    try:
        call_command("migrate", verbosity=0, interactive=False)
    finally:
        _connect_to(before)


def _connect_to(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = settings.DATABASES["default"]["NAME"] = name


@contextmanager
def server(name: str = "postgres", **how: str) -> Iterator[psycopg.Connection]:
    """A connection to the server of the tests that Django knows nothing of; ``how``: as another ``user``."""
    where = connection.get_connection_params() | {"dbname": name, "cursor_factory": psycopg.Cursor} | how
    with psycopg.connect(**where, autocommit=True) as opened:
        yield opened
