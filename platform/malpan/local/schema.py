"""Whether the database has the tables of this program: a version with the same migrations may have had others."""

from __future__ import annotations

from collections import defaultdict

from django.apps import apps
from django.db import connection

_COLUMNS = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()"


def differing_columns() -> list[str]:
    """What database and models do not both have, sorted, as ``table.column``. One query."""
    found: dict[str, set[str]] = defaultdict(set)
    with connection.cursor() as cursor:
        cursor.execute(_COLUMNS)
        for table, column in cursor.fetchall():
            found[table].add(column)
    differing: set[str] = set()
    for model in apps.get_models(include_auto_created=True):
        if model._meta.managed and not model._meta.proxy:
            table = model._meta.db_table
            columns = {field.column for field in model._meta.local_concrete_fields}
            differing |= {f"{table}.{column}" for column in columns ^ found[table]}
    return sorted(differing)
