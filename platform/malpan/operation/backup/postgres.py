"""PostgreSQL's own programs on the site's database: of the same major version as its server."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.db import connection, transaction
from psycopg import pq
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from malpan.core.locks import repeatable_read
from malpan.local.servers import ServerFailed, postgres_programs
from malpan.operation.backup.errors import BackupError


@contextmanager
def snapshot() -> Iterator[str]:
    """Inside, all reads see one state of the database, and so does a program that is given this name of it."""
    with repeatable_read():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_export_snapshot()")
            [name] = cursor.fetchone()
        yield name


def run(program: str, *arguments: str | Path) -> None:
    """Run ``pg_dump`` or ``pg_restore`` on the site's database. Raises ``BackupError`` with what it said."""
    known = {option.keyword.decode() for option in pq.Conninfo.get_defaults()}
    target = {name: value for name, value in connection.get_connection_params().items() if name in known}
    password = target.pop("password", None)  # not among the arguments, which every user of the machine can read
    done = subprocess.run(  # noqa: S603 - the server's own program
        [_program_of_server(program), "--no-password", f"--dbname={make_conninfo(**target)}", *arguments],
        env=os.environ | ({"PGPASSWORD": str(password)} if password else {}),
        capture_output=True, text=True, errors="replace", check=False, umask=0o077,
    )  # fmt: skip
    if done.returncode:
        raise BackupError(f"{program} 실패 / {program} failed:\n{done.stderr.strip()[-2000:]}")


def other_sessions() -> list[str]:
    """The other sessions that use the database now: what program, as whom, from where, and its server process.

    PostgreSQL keeps kind and address of the sessions of roles that ours has no rights of to itself: whoever has a role
    counts as a client. The server's own cleaners have none.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT application_name, usename, pid,"
            " CASE WHEN backend_type IS NULL THEN '?' ELSE coalesce(host(client_addr), 'socket') END"
            " FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND usesysid IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend' ORDER BY pid"
        )
        return [f"{name or '?'} ({role}, {address}), PID {pid}" for name, role, pid, address in cursor.fetchall()]


def first_table_with_rows(ignored: frozenset[str]) -> str | None:
    """A table that has rows, except ``ignored``; ``None`` for an empty database."""
    with connection.cursor() as cursor:
        for table in sorted(set(connection.introspection.table_names(cursor)) - ignored):
            cursor.execute(SQL("SELECT EXISTS (SELECT FROM {})").format(Identifier(table)))
            if cursor.fetchone()[0]:
                return table
    return None


def drop_everything() -> None:
    """Drop all tables and functions of the schema, in one transaction."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT format('DROP TABLE %I.%I CASCADE', schemaname, tablename) FROM pg_tables"
            " WHERE schemaname = current_schema()"
            " UNION ALL SELECT format('DROP ROUTINE %s CASCADE', oid::regprocedure) FROM pg_proc"
            " WHERE pronamespace = current_schema()::regnamespace AND NOT EXISTS"
            " (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')"
        )
        for (statement,) in cursor.fetchall():
            cursor.execute(statement)


def server_version() -> int:
    """The major version of the database's server."""
    return int(connection.get_database_version()[0])


def _program_of_server(name: str) -> str:
    """The path of a program of the server's major version: from the wheel, the PATH, or where Debian puts it."""
    wanted = server_version()
    candidates = [shutil.which(name), f"/usr/lib/postgresql/{wanted}/bin/{name}"]
    with suppress(ServerFailed):
        candidates.insert(0, str(postgres_programs() / name))
    for path in candidates:
        if path and os.access(path, os.X_OK) and _version(path) == wanted:
            return path
    raise BackupError(
        f"서버와 같은 판인 PostgreSQL {wanted}의 {name}이 없습니다: apt-get install postgresql-client-{wanted}\n"
        f"There is no {name} of PostgreSQL {wanted}, the server's version: apt-get install postgresql-client-{wanted}"
    )


def _version(program: str) -> int:
    """The major version that ``program`` says it has: ``pg_dump (PostgreSQL) 18.1 (…)``."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
    number = said.partition("(PostgreSQL)")[2].split()[:1]
    return int(number[0].split(".")[0]) if number and number[0][0].isdigit() else 0
