"""One time limit on a whole HTTP exchange: connecting, the request, the headers and the body of the answer.

urllib3's own limits are on single waits: one for each address that is tried, one for each piece of the answer. Here a
connection attempt gets only the time that is left, and once the time is over a thread cuts the connection, again and
again until the exchange ends: at the first moment it may have no socket yet, or be about to change it for that of TLS.
Only a look-up of the host's name cannot be cut short; nothing is sent after one that took too long.
"""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Final

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError

AGAIN_SECONDS: Final = 0.05  # between two cuts


class Deadline:
    """Cuts ``connection`` after ``seconds``; used as a context around the exchange."""

    def __init__(self, seconds: float, connection: HTTPConnection) -> None:
        self._connection = connection
        self._ends = time.monotonic() + seconds
        self._is_wanted = threading.Event()  # set: cut now
        self._is_done = threading.Event()
        self._thread = threading.Thread(target=self._watch, args=(seconds,), name="judge-deadline", daemon=True)

    @property
    def has_passed(self) -> bool:
        return self._is_wanted.is_set()

    def left(self) -> float:
        """Seconds until then. Raises ``TimeoutError`` if there are none."""
        left = self._ends - time.monotonic()
        if left <= 0 or self.has_passed:
            raise TimeoutError
        return left

    def pass_now(self) -> None:
        """Let the time be over at once."""
        self._is_wanted.set()

    def __enter__(self) -> Deadline:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        was_passed = self.has_passed
        self._is_done.set()
        self._is_wanted.set()  # lets the thread go
        self._thread.join()
        if not was_passed:
            self._is_wanted.clear()

    def _watch(self, seconds: float) -> None:
        self._is_wanted.wait(seconds)
        self._is_wanted.set()
        while not self._is_done.is_set():
            _cut(self._connection)
            self._is_done.wait(AGAIN_SECONDS)


def _cut(connection: HTTPConnection) -> None:
    """Make whoever reads from ``connection`` in another thread stop."""
    with suppress(OSError, AttributeError):
        connection.sock.shutdown(socket.SHUT_RDWR)


def _connect(connection: HTTPConnection, deadline: Deadline) -> socket.socket:
    """A connected socket to the first address that answers, all of them together within ``deadline``: each has an
    equal part of the time that is left, so that one that never answers keeps none from being tried.

    Raises urllib3's ``NameResolutionError``, ``ConnectTimeoutError`` and ``NewConnectionError``.
    """
    host, failed = connection.host, OSError("no address")
    try:
        found = socket.getaddrinfo(host, connection.port, type=socket.SOCK_STREAM)
        for tried, (_family, _kind, _protocol, _name, address) in enumerate(found):
            seconds = deadline.left() / (len(found) - tried)
            try:
                made = socket.create_connection((str(address[0]), int(address[1])), seconds)
            except OSError as error:  # a timeout too
                failed = error
            else:
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return made
    except socket.gaierror as error:
        raise NameResolutionError(host, connection, error) from error
    except TimeoutError as error:
        raise ConnectTimeoutError(connection, f"no connection to {host} in time") from error
    if isinstance(failed, TimeoutError):
        raise ConnectTimeoutError(connection, f"no connection to {host} in time") from failed
    raise NewConnectionError(connection, f"no connection to {host}: {failed}") from failed


class PlainConnection(HTTPConnection):
    """A connection over HTTP that keeps ``deadline``."""

    deadline: Deadline

    def _new_conn(self) -> socket.socket:
        return _connect(self, self.deadline)


class TlsConnection(HTTPSConnection):
    """A connection over HTTPS that keeps ``deadline``."""

    deadline: Deadline

    def _new_conn(self) -> socket.socket:
        return _connect(self, self.deadline)
