"""The web server: one process of waitress, run as ``python -m malpan.web_server``; settings come from the environment.

One thread reads all requests and writes all answers; the others run views, each on a request that is there as a whole.
So a client that sends a byte at a time, or does not read its answer, costs a connection and no thread: an answer that
is not read yet waits in a file, however long it is. How long a client may take for a request, or for its answer, is
bounded as a whole (``WEB_REQUEST_SECONDS``), and so is its silence (``WEB_STALL_SECONDS``). Bodies are taken no faster
than ``BODY_RATE`` in all, each its equal share: taking in what eight senders push costs two cores, which readers need.
A body that is refused is read on and thrown away, within the same bounds, so that its sender gets to read why.

Of a connection one request at a time is begun, when nothing of the answers before is unread: what was sent after it
waits as it came. A body larger than an upload goes to the disk only where it may be an organiser's, and few at once:
see ``Parser``.

Several processes may serve one socket (``MALPAN_LISTEN_FD``); ``manage.py up`` starts ``WEB_WORKERS`` of them.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import time
from types import SimpleNamespace
from typing import Any, ClassVar, Final

from django.conf import settings
from django.urls import reverse
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import create_server
from waitress.utilities import RequestEntityTooLarge

from malpan.core.limits import network
from malpan.local.readiness import say_ready
from malpan.web_server_refusals import ArchivesBusy, BodyTooLarge

THREADS: Final[int] = settings.WEB_THREADS
CONNECTIONS: Final[int] = settings.WEB_CONNECTIONS
STALL_SECONDS: Final[int] = settings.WEB_STALL_SECONDS
REQUEST_SECONDS: Final[int] = settings.WEB_REQUEST_SECONDS
TRUSTED_PROXY: Final = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")

FORM_BYTES: Final = 1024 * 1024  # of a request beside its file
LEAST_RATE: Final = 16 * 1024  # bytes a second: what a body or an answer may take beyond the time for a request
READ_BYTES: Final = 64 * 1024  # of a socket at a time: with waitress's 8 KB a body of 6 MB took 35 ms of the one thread
BODY_RATE: Final = 32 * 1024 * 1024  # bytes a second of all large bodies of a process; 2.5 ms of processor each MB
BODY_AT_ONCE: Final = 256 * 1024  # of each body before its share counts: small files never wait
TICK_SECONDS: Final = 0.1  # how soon a body that was held back is read on
UNWANTED_BYTES: Final = 2**30  # of a connection, thrown away after its last answer
UNREAD_BYTES: Final = 2**40  # of an answer, before its thread would wait for the client: never
ARCHIVE_PATHS: Final = ("/manage/import/", "/api/v1/import/")  # they alone take a file larger than an upload
ARCHIVES: Final = 2  # such files at once in a process, from their first byte to the answer; of a network one
ARCHIVE_RATE: Final = 128 * 1024  # LEAST_RATE of such a file: 2 GiB have 4.6 hours, and need 2.4 at 2 Mbit a second


class Parser(HTTPRequestParser):
    """Reads a request; a body is bounded by what its address takes, so that nothing larger reaches the disk.

    An archive without a word about who sends it, a cookie of a session or ``Authorization``, comes to the site without
    its body: the view says what it says to strangers. Any other that is larger than an upload needs one of ``ARCHIVES``
    places, which it has until it is answered.
    """

    adj: Any
    error: Any
    expect_continue: bool
    completed: bool
    chunked: bool
    content_length: int
    body_rcv: Any
    path: str
    headers: dict[str, str]
    _places: ClassVar[dict[Parser, str]] = {}  # and the network that each came from

    def __init__(self, adj: Any, channel: Channel) -> None:
        super().__init__(adj)
        self._channel = channel

    @property
    def least_rate(self) -> int:
        return ARCHIVE_RATE if self in self._places else LEAST_RATE

    def received(self, data: bytes) -> int:
        """Take what has arrived; says how much is done with: once the request is there also what comes after it."""
        taken: int = super().received(data)
        if isinstance(self.error, RequestEntityTooLarge):
            limit = self.adj.max_request_body_size - FORM_BYTES >> 20
            self.error = BodyTooLarge(self.path, self.headers.get("ACCEPT_LANGUAGE", ""), limit)
            self.expect_continue = False  # who asks before sending it is told no
        if not self.completed:
            return taken
        self._channel.rest = data[taken:]
        return len(data)

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        if self.path not in ARCHIVE_PATHS:
            self.adj = SimpleNamespace(**vars(self.adj) | {"max_request_body_size": _upload_bytes()})
        elif self.body_rcv is not None:
            self._admit()

    def _admit(self) -> None:
        """Let an archive in, or its head alone."""
        has_session = f"{settings.SESSION_COOKIE_NAME}=" in self.headers.get("COOKIE", "")
        if not has_session and "AUTHORIZATION" not in self.headers:
            self._leave_body()
        elif self.chunked or _upload_bytes() < self.content_length < self.adj.max_request_body_size:
            sender = self._network()
            if len(self._places) < ARCHIVES and sender not in self._places.values():
                self._places[self] = sender
            else:
                self.error = ArchivesBusy(self.path, self.headers.get("ACCEPT_LANGUAGE", ""))
                self._leave_body()

    def _network(self) -> str:
        address = str(self._channel.addr[0])
        if TRUSTED_PROXY in (address, "*"):
            address = self.headers.get("X_FORWARDED_FOR", "").rpartition(",")[2].strip() or address
        return network(address)

    def _leave_body(self) -> None:
        self.body_rcv, self.content_length, self.chunked, self.expect_continue = None, 0, False, False
        self.headers |= {"CONTENT_LENGTH": "0", "CONNECTION": "close"}

    def close(self) -> None:
        super().close()
        self._places.pop(self, None)


class Channel(HTTPChannel):
    """One connection. It is closed when a request or its answer is on its way for longer than ``REQUEST_SECONDS``, and
    one second more for every ``LEAST_RATE`` bytes of the body (``ARCHIVE_RATE`` where it has a place), or of the answer
    that were taken. After its last answer the client is waited for: no longer than ``REQUEST_SECONDS``, and while it
    sends no more than ``UNWANTED_BYTES``.
    """

    rest = b""  # what came with a request and is not of it, until that is answered
    _began = 0.0  # the request that is on its way
    _share = 0.0  # bytes of its body that may be there
    _shared = 0.0  # when that was counted
    _unwanted: int | None = None  # bytes that came after the last answer
    _answering: float | None = None
    _sent = 0
    _held: ClassVar[set[Channel]] = set()  # whose body came faster than its share, until all of it is there

    def parser_class(self, adj: Any) -> Parser:
        return Parser(adj, self)

    def readable(self) -> bool:
        """Whether to read what has arrived; what is not read yet, the sender's system keeps back. What was read with a
        request before is taken as if it arrived now.
        """
        while self.rest and super().readable():
            wasyncore.read(self)
        is_unwanted = self._unwanted is not None and not self.will_close
        return bool(is_unwanted or super().readable()) and not self._is_ahead()

    def handle_read(self) -> None:
        if self.rest:
            data, self.rest = self.rest, b""
            self.received(data)
        else:
            super().handle_read()

    def _begin(self) -> None:
        self._began = self._shared = time.monotonic()
        self._share = BODY_AT_ONCE
        self._held.discard(self)

    def _is_ahead(self) -> bool:
        """Whether its body came faster than its share. That grows as time goes by, and who joins takes nothing of it
        back, else a body held back could look like a client's silence: of 1000, each is read on within two seconds.
        A share is never less than twice what must come.
        """
        now = time.monotonic()
        least = LEAST_RATE if self.request is None else self.request.least_rate
        self._share += (now - self._shared) * max(BODY_RATE / (len(self._held) or 1), 2 * least)
        self._shared = now
        if self._arrived() <= self._share:
            return False
        self._held.add(self)
        return True

    def _arrived(self) -> int:
        if self._unwanted is not None:
            return self._unwanted
        return 0 if self.request is None else int(self.request.body_bytes_received)

    def handle_close(self) -> None:
        self._held.discard(self)
        self.rest = b""
        if self.request is not None:
            self.request.close()
        super().handle_close()

    def writable(self) -> bool:
        """Whether there is something to do for it; asked at least every second."""
        if not self.total_outbufs_len:
            self._answering, self._sent = None, 0
        elif self._answering is None:
            self._answering = time.monotonic()
        elif time.monotonic() - self._answering > REQUEST_SECONDS + self._sent / LEAST_RATE:
            self.will_close = True
        if self.will_close and self.connected:  # waitress would wait until the client takes something
            self.handle_close()
            return False
        return self._unwanted is None and bool(super().writable())

    def handle_write(self) -> None:
        """Send on. After the last answer only our side is closed, until the client closes its own: a system that closes
        both while input is unread resets the connection, and who was still sending never reads the answer.
        """
        self._flush_exception(self._flush_some_if_lockable)
        if self.close_when_flushed and self.connected and not self.total_outbufs_len:
            self.socket.shutdown(socket.SHUT_WR)
            self._unwanted = 0
            self._begin()

    def send(self, data: bytes, do_close: bool = True) -> int:
        """Send some of ``data``; says how many bytes the system took."""
        sent: int = super().send(data, do_close=do_close)
        self._sent += sent
        return sent

    def received(self, data: bytes) -> bool:
        """Take what has arrived of a request, or throw away what nobody waits for."""
        before = self.request
        is_taken: bool = super().received(data)
        seconds = time.monotonic() - self._began
        if self._unwanted is not None:
            self._unwanted += len(data)
            if self._unwanted > UNWANTED_BYTES or seconds > REQUEST_SECONDS:
                self.will_close = True
        elif self.request is not before:
            self._begin()
        elif self.request is not None and seconds > REQUEST_SECONDS + self._seconds_earned():
            self.will_close = True
        return is_taken

    def _seconds_earned(self) -> float:
        return float(self.request.body_bytes_received / self.request.least_rate)


def _upload_bytes() -> int:
    return int(settings.UPLOAD_MAX_BYTES) + FORM_BYTES


def listening_socket() -> socket.socket:
    """The socket that the supervisor opened, or one of our own on ``HOST`` and ``PORT``."""
    descriptor = os.environ.get("MALPAN_LISTEN_FD")
    if descriptor:
        return socket.socket(fileno=int(descriptor))
    address = os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT") or 8000)
    return socket.create_server(address, family=socket.AF_INET6 if ":" in address[0] else socket.AF_INET)


def make_server(listener: socket.socket) -> Any:
    """The server of the site on ``listener``; ``run`` serves until SIGTERM or SIGINT."""
    from malpan.wsgi import application  # sets Django up, which takes a second: not at the import of this module

    server = create_server(
        application,
        sockets=[listener],
        threads=THREADS,
        connection_limit=CONNECTIONS,
        channel_timeout=STALL_SECONDS,
        cleanup_interval=1,
        recv_bytes=READ_BYTES,
        outbuf_high_watermark=UNREAD_BYTES,
        max_request_body_size=settings.IMPORT_MAX_BYTES,
        max_request_header_size=32 * 1024,
        trusted_proxy=TRUSTED_PROXY or None,
        trusted_proxy_headers={"x-forwarded-for", "x-forwarded-proto"} if TRUSTED_PROXY else set(),
        asyncore_use_poll=True,
        ident=None,
    )
    server.channel_class = Channel
    server.adj.asyncore_loop_timeout = TICK_SECONDS  # as an argument it would be cut to whole seconds
    return server


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    server = make_server(listening_socket())
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # one line for every request that waits for a thread
    say_ready()
    reverse("home")  # the addresses of the site take a second: else the first request waits for them, with all after it
    server.run()


if __name__ == "__main__":
    main()
