"""A site with something of everything, and another site: a database and a disk of its own."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection

from malpan.competitions.models import Competition
from tests import database
from tests.archive import full_competition
from tests.in_s3 import new_place
from tests.snapshots import Snapshot
from tests.submissions.conftest import rings

__all__ = ["rings"]  # a fixture


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Snapshot]:
    """The site with the competition, made by the first test that asks."""
    return functools.cache(lambda: _make(tmp_path_factory.mktemp("made") / "files"))


def _make(files: Path) -> Snapshot:
    full_competition.make()
    return Snapshot.take(files)


@pytest.fixture
def competition(
    transactional_db: None, rings: list[str], settings: Any, made_once: Callable[[], Snapshot]
) -> Competition:
    if settings.MALPAN_STORAGE:
        return full_competition.make()
    made_once().put_back()
    return Competition.objects.get()


@pytest.fixture
def other_site(transactional_db: None, tmp_path: Path, settings: Any) -> Iterator[Callable[[], None]]:
    """Go to a site where nothing is yet, not a table nor a file; the test ends where it began."""
    name, home = f"other_{os.getpid()}", connection.settings_dict["NAME"]

    def go() -> None:
        with database.server() as server:
            server.execute(f'CREATE DATABASE "{name}"')
        _connect_to(name)
        settings.PRIVATE_ROOT = tmp_path / "other" / "private"
        if settings.MALPAN_STORAGE:
            settings.MALPAN_STORAGE = new_place()

    yield go
    _connect_to(home)
    with database.server() as server:
        server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def _connect_to(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name
    cache.clear()
