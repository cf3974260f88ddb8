"""A POST to an address that a stranger chose: only to public machines, without redirects, within limits.

The name is looked up once, and the connection goes to what was checked: an answer that changes meanwhile (DNS
rebinding) leads nowhere. If one of its addresses is not public, the name is refused. Of the answer only its status is
read. Nothing ends a lookup of the system: one that takes too long is left alone, with its thread.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from http.client import HTTPConnection
from threading import Thread, Timer
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from django.utils.encoding import iri_to_uri

SECONDS: Final = 10  # of all: lookup, connection, request and answer
PORT_OF: Final = {"https": 443, "http": 80}
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressRefused(Exception):
    """The name has an address that is not public."""


def is_public(address: Address) -> bool:
    """Whether ``address``, and the IPv4 address that it may stand for, is one of the internet."""
    if isinstance(address, ipaddress.IPv6Address):
        teredo = address.teredo
        inner = [address.ipv4_mapped, address.sixtofour, teredo[1] if teredo else None]
        if address in _NAT64:
            inner.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if found := [each for each in inner if each is not None]:
            return all(is_public(each) for each in found)
    return address.is_global and not address.is_multicast and not address.is_reserved


def post(url: str, body: bytes, headers: Mapping[str, str]) -> int:
    """Send ``body`` to ``url``; returns the status of the answer.

    Raises ``AddressRefused``, ``OSError`` (also for TLS and time), ``ValueError``, ``http.client.HTTPException``.
    """
    parts = urlsplit(url)
    connection = _Connection(parts)
    timer = Timer(SECONDS, connection.cut)
    timer.daemon = True
    timer.start()
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", iri_to_uri(path), body, {**headers, "Connection": "close"})
        return connection.getresponse().status
    finally:
        timer.cancel()
        connection.close()


class _Connection(HTTPConnection):
    """To the checked address of a name, under that name."""

    def __init__(self, parts: SplitResult) -> None:
        self._until = time.monotonic() + SECONDS
        self._is_late = False
        self._is_secure = parts.scheme == "https"
        if parts.hostname is None:
            raise ValueError("no host")
        self.default_port = PORT_OF[parts.scheme]  # which the header Host leaves out
        super().__init__(parts.hostname, parts.port or self.default_port, timeout=SECONDS)

    def connect(self) -> None:
        self.sock = self._to_one_of(_looked_up(self.host, self.port, self._left()))
        if self._is_late:
            raise TimeoutError
        if self._is_secure:
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(self.sock, server_hostname=self.host, do_handshake_on_connect=False)
            self.sock.do_handshake()

    def _left(self) -> float:
        """The seconds that are left. Raises ``TimeoutError``."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def _to_one_of(self, addresses: list[str]) -> socket.socket:
        each = self._left() / len(addresses)
        for address in addresses[:-1]:
            try:
                return socket.create_connection((address, self.port), each)
            except OSError:
                continue
        return socket.create_connection((addresses[-1], self.port), each)

    def cut(self) -> None:
        """End what takes too long, wherever it is: every wait for the other side ends with an error."""
        self._is_late = True
        if self.sock is not None:
            with suppress(OSError):  # it is closed
                self.sock.shutdown(socket.SHUT_RDWR)


def _looked_up(host: str, port: int, seconds: float) -> list[str]:
    """The addresses of ``host``, none of them twice. Raises ``AddressRefused``, ``OSError`` and ``TimeoutError``."""
    answer: Future[list[Any]] = Future()
    Thread(target=_look_up, args=(answer, host, port), daemon=True).start()
    found = answer.result(seconds)
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    if not addresses or not all(is_public(ipaddress.ip_address(each)) for each in addresses):
        raise AddressRefused
    return addresses


def _look_up(answer: Future[list[Any]], host: str, port: int) -> None:
    try:
        answer.set_result(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    except Exception as error:  # noqa: BLE001 - whoever waits has it
        answer.set_exception(error)
