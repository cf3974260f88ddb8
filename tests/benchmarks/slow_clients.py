"""Clients that take their time: they send the head or the body of a request, or read their answer, a byte at a time."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

CONNECT_SECONDS: Final = 5.0
ADDRESSES: Final = 100  # that they come from: nginx.conf takes 100 connections from each


@dataclass(frozen=True)
class Slow:
    """What such a client does: it sends ``first``, then every ``pause`` seconds a byte, or reads ``reads`` bytes."""

    name: str
    first: bytes
    pause: float
    reads: int = 0
    received_at_once: int = 0  # that its system takes of an answer, unless it is what the system likes

    def connected(self, port: int, number: int = 0) -> socket.socket:
        """The ``number``th such client, which does not wait for anything from here on."""
        client = socket.socket()
        if self.received_at_once:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.received_at_once)
        client.settimeout(CONNECT_SECONDS)
        client.bind((f"127.0.0.{2 + number % ADDRESSES}", 0))
        client.connect(("127.0.0.1", port))
        client.sendall(self.first)
        client.setblocking(False)
        return client

    def goes_on(self, client: socket.socket) -> bool:
        """Send or read what is due; whether the server still holds the connection and has said nothing to a sender."""
        try:
            if self.reads:
                return bool(client.recv(self.reads))
            client.send(b"a")
            client.recv(1, socket.MSG_PEEK)  # an answer, or the end
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False


def heads(pause: float) -> Slow:
    """A header that does not end."""
    return Slow("slow heads", b"GET /healthz/ HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", pause)


def bodies(pause: float) -> Slow:
    """A form that the site would read: it has the cookie and the length of one."""
    head = (
        b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\nCookie: csrftoken=%b\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9000\r\n\r\nlogin=" % (b"a" * 32)
    )
    return Slow("slow bodies", head, pause)


def answers(path: str, pause: float, reads: int = 1) -> Slow:
    """An answer that is read ``reads`` bytes at a time."""
    first = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    return Slow("slow readers", first, pause, reads, received_at_once=4096)


class Crowd:
    """A client for each of ``kinds``, held for as long as the context; who is cut off comes again.

    ``cut``: how often somebody was.
    """

    def __init__(self, port: int, kinds: Sequence[Slow]) -> None:
        self.cut = 0
        self._port = port
        self._kinds = kinds
        self._clients: list[socket.socket | None] = [None] * len(kinds)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go_on, daemon=True)

    def __enter__(self) -> Crowd:
        for number in range(len(self._kinds)):
            self._come(number)
        self._thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._over.set()
        self._thread.join(2 * CONNECT_SECONDS)
        for client in filter(None, self._clients):
            client.close()

    def _come(self, number: int) -> None:
        try:
            self._clients[number] = self._kinds[number].connected(self._port, number)
        except OSError:
            self._clients[number] = None

    def _go_on(self) -> None:
        """In turn: each has its own moment within the pause."""
        for number in itertools.cycle(range(len(self._kinds))):
            kind = self._kinds[number]
            if self._over.wait(kind.pause / len(self._kinds)):
                return
            client = self._clients[number]
            if client is None or not kind.goes_on(client):
                self.cut += client is not None
                if client is not None:
                    client.close()
                self._come(number)


def cut_after(port: int, kind: Slow, patience: float) -> float:
    """Seconds until the server cuts off one such client; infinite where it does not within ``patience``."""
    began = time.monotonic()
    client = kind.connected(port)
    with client:
        while time.monotonic() < began + patience:
            if not kind.goes_on(client):
                return time.monotonic() - began
            time.sleep(kind.pause)
    return float("inf")
