"""A filled database kept aside and put back, for a world that costs seconds to make and tests that commit.

Where tests are rolled back, a fixture of a wider scope does; where they commit, every table is emptied after each.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.db import connection

from tests import database


@dataclass(frozen=True)
class Snapshot:
    """Every row as PostgreSQL copies it, where the numbers stood, and the private files."""

    rows: dict[str, bytes]
    numbers: dict[str, int]
    files: Path

    @classmethod
    def take(cls, files: Path) -> Snapshot:
        """What is there now; the private files go to ``files``, where nothing may be yet."""
        rows = {}
        with connection.cursor() as cursor:
            for table in _tables():
                with cursor.copy(f'COPY "{table}" TO STDOUT') as copy:
                    rows[table] = b"".join(copy)
            cursor.execute("SELECT sequencename, last_value FROM pg_sequences WHERE last_value IS NOT NULL")
            numbers = dict(cursor.fetchall())
        shutil.copytree(settings.PRIVATE_ROOT, files)
        return cls(rows, numbers, files)

    def put_back(self) -> None:
        """Make it so again, whatever is there now; a cache that knows of the time between is emptied."""
        database.empty()
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")  # rows come in any order, and as they are
            for table, rows in self.rows.items():
                with cursor.copy(f'COPY "{table}" FROM STDIN') as copy:
                    copy.write(rows)
            cursor.execute("SET session_replication_role = DEFAULT")
            for name, number in self.numbers.items():
                cursor.execute("SELECT setval(quote_ident(%s)::regclass, %s)", [name, number])
        shutil.copytree(self.files, settings.PRIVATE_ROOT, dirs_exist_ok=True)
        cache.clear()


def _tables() -> list[str]:
    return [name for name in connection.introspection.django_table_names() if name not in database.WRITTEN_BY_MIGRATING]
