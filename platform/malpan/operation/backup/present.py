"""What a site holds that a restore would erase: counted in the tables that are there, of whatever version."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection
from psycopg.sql import SQL, Identifier

_TABLES: Final = ("competitions_competition", "teams_team", "accounts_user", "submissions_submission")


@dataclass(frozen=True, slots=True)
class Present:
    """How much is in ``database``. ``later``: submissions after the backup, ``newest``: when the last one came."""

    database: str
    competitions: int
    teams: int
    people: int
    submissions: int
    later: int
    newest: datetime | None

    def __bool__(self) -> bool:
        return any((self.competitions, self.teams, self.people, self.submissions))


def present(since: datetime) -> Present:
    """What the database holds now; ``since``: when the backup was made."""
    name = str(connection.settings_dict["NAME"])
    with connection.cursor() as cursor:
        there = set(connection.introspection.table_names(cursor))
        competitions, teams, people, submissions = (_count(cursor, table, there) for table in _TABLES)
        later, newest = 0, None
        if submissions:
            cursor.execute(
                "SELECT count(*) FILTER (WHERE created_at > %s), max(created_at) FROM submissions_submission", [since]
            )
            later, newest = cursor.fetchone()
    return Present(name, competitions, teams, people, submissions, later, newest)


def _count(cursor: Any, table: str, there: set[str]) -> int:
    """The rows of ``table``; none where it is not ``there``."""
    if table not in there:
        return 0
    cursor.execute(SQL("SELECT count(*) FROM {}").format(Identifier(table)))
    return int(cursor.fetchone()[0])
