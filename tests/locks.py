"""Whether something waits for a row that somebody else has locked. For tests that commit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection
from django.db.models import Model

from tests import database


@contextmanager
def waits_for(row: Model) -> Iterator[None]:
    """``row`` is locked by another connection meanwhile: what is done inside must want it, and is given up at once."""
    with held(row), pytest.raises(OperationalError, match="lock timeout"):
        yield


@contextmanager
def held(row: Model) -> Iterator[None]:
    """``row`` is locked by another connection meanwhile: wanting it inside is an ``OperationalError``, at once."""
    table = row._meta.db_table
    with database.server(connection.settings_dict["NAME"]) as other, other.transaction():
        other.execute(f"SELECT FROM {table} WHERE id = %s FOR NO KEY UPDATE", [row.pk])
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '100ms'")
        try:
            yield
        finally:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = DEFAULT")
