"""The database of a run of tests: migrated once for a state of the code, copied for every process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.contrib.contenttypes.models import ContentType
from django.db import connection

from malpan.core import audit
from malpan.core.models import AuditEntry
from tests import database
from tests.factories import TeamFactory


@pytest.fixture
def template(db: None) -> Iterator[str]:
    """A name for a migrated database beside the one of this run; what is made under it is dropped at the end."""
    name = f"template_of_{os.getpid()}_now"
    yield name
    with database.server() as server:
        for made in (name, f"{name}_unfinished"):
            server.execute(f'DROP DATABASE IF EXISTS "{made}"')


def write_mark(name: str) -> None:
    """A migration: a table with one row."""
    with database.server(name) as new:
        new.execute("CREATE TABLE mark AS SELECT 7 AS value")


def marks_in(name: str) -> list[tuple[int]]:
    with database.server(name) as copy:
        return copy.execute("SELECT value FROM mark").fetchall()


def databases() -> set[str]:
    with database.server() as server:
        return {name for (name,) in server.execute("SELECT datname FROM pg_database").fetchall()}


def test_processes_that_start_at_once_migrate_once_and_have_a_copy_each(template: str) -> None:
    migrated = []

    def migrate(name: str) -> None:
        migrated.append(name)
        write_mark(name)

    def use(number: int) -> list[tuple[int]]:
        with database.copied(f"copy_{os.getpid()}_{number}", template, migrate):
            return marks_in(f"copy_{os.getpid()}_{number}")

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(use, range(3))) == [[(7,)]] * 3
    assert len(migrated) == 1
    assert not {f"copy_{os.getpid()}_{number}" for number in range(3)} & databases()


def test_migrating_that_was_broken_off_is_done_again(template: str) -> None:
    def break_off(name: str) -> None:
        write_mark(name)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), database.copied("copy_of_test", template, break_off):
        pass
    with database.copied("copy_of_test", template, write_mark):
        assert marks_in("copy_of_test") == [(7,)]


def test_changed_migrations_models_or_settings_of_an_app_ask_for_another_database(tmp_path: Path) -> None:
    for name in ("migrations/0001_initial.py", "models/team.py", "apps.py", "views.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a = 1\n")
    seen = [database.fingerprint([tmp_path])]
    for name in ("migrations/0001_initial.py", "models/team.py", "apps.py"):
        (tmp_path / name).write_text("a = 2\n")
        seen.append(database.fingerprint([tmp_path]))
    (tmp_path / "migrations/0002_more.py").write_text("")
    seen.append(database.fingerprint([tmp_path]))
    assert len(set(seen)) == len(seen)

    (tmp_path / "views.py").write_text("a = 2\n")
    assert database.fingerprint([tmp_path]) == seen[-1]


def test_every_migration_and_every_module_with_a_table_is_in_the_fingerprint() -> None:
    from django.apps import apps

    for config in apps.get_app_configs():
        known = set(database.sources(Path(config.path)))
        modules = {Path(__import__(model.__module__, fromlist=["_"]).__file__ or "") for model in config.get_models()}
        assert modules <= known, config.label
        assert set(Path(config.path).glob("migrations/*.py")) <= known, config.label


@pytest.mark.django_db(transaction=True)
def test_what_a_test_commits_is_taken_back_append_only_or_not_and_what_migrating_wrote_stays() -> None:
    kinds = ContentType.objects.count()
    audit.record(actor=None, action="team.create", obj=TeamFactory.create())
    assert AuditEntry.objects.exists()

    database.empty()

    with connection.cursor() as cursor:
        for table in connection.introspection.django_table_names():
            cursor.execute(f'SELECT count(*) FROM "{table}"')
            assert (cursor.fetchone()[0] > 0) == (table in database.WRITTEN_BY_MIGRATING), table
    assert ContentType.objects.count() == kinds > 0
