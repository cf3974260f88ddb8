"""A competition to carry from one site to another, and the site it goes to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from malpan.competitions.models import Competition
from tests.archive import full_competition
from tests.submissions.conftest import phase, rings, run, team

__all__ = ["phase", "rings", "run", "team"]  # fixtures


@pytest.fixture
def competition(rings: list[str]) -> Competition:
    """A competition with something of everything."""
    return full_competition.make()


@pytest.fixture
def empty_site(tmp_path: Path, settings: Any) -> Callable[[], None]:
    """Forget everything: another database, another disk."""

    def forget() -> None:
        tables = ", ".join(f'"{model._meta.db_table}"' for model in apps.get_models() if model._meta.managed)
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute(f"TRUNCATE {tables} RESTART IDENTITY CASCADE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
            for _number in range(3):  # numbers of the new site are others
                cursor.execute("SELECT nextval(pg_get_serial_sequence('submissions_submission', 'id'))")
                cursor.execute("SELECT nextval(pg_get_serial_sequence('teams_team', 'id'))")
        settings.PRIVATE_ROOT = tmp_path / "other"

    return forget
