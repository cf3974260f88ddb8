"""PostgreSQL whose server may hang: accept, and never answer. Nobody waits for it for ever.

A statement may take as long as it takes, so silence alone is no fault. After ``SILENCE_SECONDS`` of it another
connection is tried: if that is not answered within ``CONNECT_SECONDS`` either, the server hangs, and the statement ends
with ``OperationalError``, as if the connection had broken. What becomes of it at the server is then unknown: who must
know asks the rows. After an attempt that was not answered, this process makes no other one for ``AGAIN_SECONDS``: its
threads answer at once that the database is away, rather than wait one after the other.

That its disk is full is noted whoever meets it (``room``), as reading goes on as if all were well.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Generator
from datetime import datetime, tzinfo
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Final, TypeVar

import psycopg
from django.db.backends.postgresql import base
from psycopg.abc import AdaptContext, Buffer, PQGen
from psycopg.adapt import Loader
from psycopg.errors import ConnectionTimeout, DiskFull
from psycopg.pq import Format

from malpan.core.database.room import note_no_room

SILENCE_SECONDS: Final = 5.0
CONNECT_SECONDS: Final = 5  # with 3 a machine at work now and then took its own database for one that hangs
AGAIN_SECONDS: Final = 2.0
# a machine that is gone, or a cable that is cut, is noticed as well: libpq's own means. The address may say otherwise
OPTIONS: Final = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # milliseconds
}

Found = TypeVar("Found")

_unanswered_at: float | None = None  # when an attempt of this process to connect was given up


class WatchedConnection(psycopg.Connection[Any]):
    """A connection that asks, after some silence, whether its server answers anybody."""

    _parameters: dict[str, Any]

    @classmethod
    def connect(cls, *arguments: Any, **parameters: Any) -> WatchedConnection:
        """As psycopg's; remembers how to connect."""
        connection = _attempted(super().connect, *arguments, **parameters)
        connection._parameters = parameters
        return connection

    def wait(self, gen: PQGen[Found], interval: float = 0.1, timeout: float | None = None) -> Found:
        """As psycopg's; raises ``OperationalError`` if the server hangs, and closes the connection."""
        try:
            return super().wait(self._watched(gen), interval, timeout)
        except DiskFull:
            note_no_room()
            raise

    def _watched(self, gen: PQGen[Found]) -> Generator[Any, Any, Found]:
        """``gen``, which is told every ``interval`` that nothing has come."""
        try:
            wanted = next(gen)
            heard = time.monotonic()
            while True:
                ready = yield wanted
                if ready:
                    heard = time.monotonic()
                elif time.monotonic() - heard > SILENCE_SECONDS:
                    self._require_answer()
                    heard = time.monotonic()
                wanted = gen.send(ready)
        except StopIteration as end:
            found: Found = end.value
            return found

    def _require_answer(self) -> None:
        wanted = {"host", "hostaddr", "port", "dbname", "user", "password", "service", "connect_timeout"}
        parameters = {name: value for name, value in self._parameters.items() if name in wanted or "ssl" in name}
        try:
            _attempted(psycopg.connect, **{"connect_timeout": CONNECT_SECONDS} | parameters).close()
        except ConnectionTimeout as error:
            _note_unanswered()
            self.pgconn.finish()
            raise psycopg.OperationalError("the database server does not answer") from error
        except psycopg.OperationalError:  # no, but it was said at once: the server is there, or our socket breaks
            return


class MomentLoader(Loader):
    """Reads moments as Django's loader does, in ``timezone``, by psycopg's own in C: Django extends the one in Python,
    which takes several times as long for each moment of each row.
    """

    timezone: ClassVar[tzinfo | None]

    def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
        super().__init__(oid, context)
        fastest = psycopg.adapters.get_loader(oid, Format.TEXT)
        assert fastest is not None
        self._read = fastest(oid, context).load

    def load(self, data: Buffer) -> datetime:
        found: datetime = self._read(data)
        return found.replace(tzinfo=self.timezone)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's, with ``WatchedConnection`` and ``MomentLoader``."""

    Database = ModuleType("psycopg")
    vars(Database).update(vars(psycopg) | {"connect": WatchedConnection.connect})

    def get_connection_params(self) -> dict[str, Any]:
        """As Django's, with ``OPTIONS`` where the settings do not say otherwise, and the program's name, by which a
        restore tells who still uses the database.
        """
        program = os.environ.get("MALPAN_PROGRAM") or Path(sys.argv[0]).name
        return OPTIONS | {"application_name": f"malpan {program}"} | super().get_connection_params()

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection[Any]:
        """A connection. Raises ``OperationalError``, at once where the server did not answer a moment ago."""
        if _unanswered_at is not None and time.monotonic() - _unanswered_at < AGAIN_SECONDS:
            raise psycopg.OperationalError("the database server did not answer a moment ago")
        try:
            connection: psycopg.Connection[Any] = super().get_new_connection(conn_params)
        except ConnectionTimeout:
            _note_unanswered()
            raise
        connection.adapters.register_loader("timestamptz", _moments_in(self.timezone))
        return connection


@cache
def _moments_in(zone: tzinfo | None) -> type[MomentLoader]:
    return type("MomentLoaderOfZone", (MomentLoader,), {"timezone": zone})


def _attempted(connect: Callable[..., Found], *arguments: Any, **parameters: Any) -> Found:
    """``connect(…)``. An attempt that is given up ends at once.

    Its error and psycopg's frames hold each other, and its socket, until Python looks for garbage: a server that is
    back would serve it meanwhile, and after a minute of attempts have no connection left for anybody.
    """
    try:
        return connect(*arguments, **parameters)
    except ConnectionTimeout as error:
        traceback.clear_frames(error.__traceback__)
        raise


def _note_unanswered() -> None:
    global _unanswered_at
    _unanswered_at = time.monotonic()
