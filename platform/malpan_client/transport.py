"""One request over HTTP: by which way it goes, what of it was sent, and whether the server may have received it."""

from __future__ import annotations

import http.client
import io
import ssl
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from malpan_client.failing import NOT_ANSWERED, WRONG_INPUT, WRONG_USAGE, Failure
from malpan_client.words import reason_of, say

CONNECT_SECONDS = 20.0
ANSWER_SECONDS = 180.0  # a large file is checked before it is answered
LEAST_SECONDS = 1.0  # for an answer, however little is left to wait
BLOCK_BYTES = 64 * 1024
Progress = Callable[[int, int], None]  # bytes so far, and of how many


class NotReached(Exception):
    """There is no connection; nothing was sent."""


class CutOff(Exception):
    """The connection ended before the answer did; the server may have done what was asked."""


class Body:
    """Bytes and files that are sent one after the other, as often as needed."""

    def __init__(self, *parts: bytes | Path, progress: Progress | None = None) -> None:
        self._parts = parts
        self._progress = progress
        self.is_upload = any(isinstance(part, Path) for part in parts)
        self.size = sum(len(part) if isinstance(part, bytes) else part.stat().st_size for part in parts)

    def opened(self, moved: Callable[[], None] = lambda: None) -> _Reader:
        """``moved`` is called whenever some of it was taken."""
        streams = [io.BytesIO(part) if isinstance(part, bytes) else part.open("rb") for part in self._parts]
        return _Reader(streams, self.size, self._progress, moved)


class _Reader:
    """What http.client reads the body from."""

    def __init__(
        self, streams: Sequence[BinaryIO], size: int, progress: Progress | None, moved: Callable[[], None]
    ) -> None:
        self._streams = list(streams)
        self._size = size
        self._sent = 0
        self._progress = progress
        self._moved = moved

    def read(self, count: int) -> bytes:
        self._moved()
        while self._streams:
            data = self._streams[0].read(min(count, self._size - self._sent))
            if data:
                self._sent += len(data)
                if self._progress:
                    self._progress(self._sent, self._size)
                return data
            self._streams.pop(0).close()
        if self._sent < self._size:
            raise Failure(WRONG_INPUT, say("file_changed"))
        return b""

    def close(self) -> None:
        for stream in self._streams:
            stream.close()


def send(
    method: str,
    address: str,
    headers: Mapping[str, str],
    body: Body | None,
    seconds: float = ANSWER_SECONDS,
    moved: Callable[[], None] = lambda: None,
) -> http.client.HTTPResponse:
    """The answer to one request, its body not yet read. Raises ``NotReached``, ``CutOff`` and ``Failure``.

    ``seconds``: for how long nothing may come, except after a file, which is checked first. ``moved`` is called
    whenever some of ``body`` was taken.
    """
    silence = max(LEAST_SECONDS, min(seconds, ANSWER_SECONDS))
    connection, target, more = _connection(address, min(silence, CONNECT_SECONDS))
    reader: Any = body.opened(moved) if body else None
    length = {} if body is None else {"Content-Length": str(body.size)}
    try:
        _connect(connection, ANSWER_SECONDS if body and body.is_upload else silence)
        try:
            connection.request(method, target, body=reader, headers={**headers, **length, **more})
        except (ConnectionError, ssl.SSLError):  # refused before all of it was read: the reason may be there to be read
            return connection.getresponse()
        return connection.getresponse()
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        raise CutOff(reason_of(error)) from error
    except BaseException:
        connection.close()
        raise
    finally:
        if reader:
            reader.close()


def received(answer: http.client.HTTPResponse, count: int | None = None) -> bytes:
    """The rest of the answer, or the next ``count`` bytes at most. Raises ``CutOff``."""
    try:
        return answer.read(count)
    except http.client.IncompleteRead as error:
        raise CutOff(say("short_answer")) from error
    except (OSError, http.client.HTTPException) as error:
        raise CutOff(reason_of(error)) from error


def _connect(connection: http.client.HTTPConnection, silence: float) -> None:
    try:
        connection.connect()
    except ssl.SSLCertVerificationError as error:
        raise Failure(NOT_ANSWERED, say("not_trusted", host=connection.host, reason=error.verify_message)) from error
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        raise NotReached(reason_of(error)) from error
    if connection.sock:
        connection.sock.settimeout(silence)


def _connection(address: str, seconds: float) -> tuple[http.client.HTTPConnection, str, dict[str, str]]:
    """A connection to be opened, what to ask it for, and headers for a proxy on the way."""
    parts = urlsplit(address)
    host, target = parts.hostname or "", (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    options: dict[str, Any] = {"timeout": seconds, "blocksize": BLOCK_BYTES}
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    proxy = _proxy_of(parts.scheme, host)
    if proxy is None:
        return kind(host, parts.port, **options), target, {}
    connection = kind(proxy.hostname or "", proxy.port or 80, **options)
    secret = f"{unquote(proxy.username or '')}:{unquote(proxy.password or '')}"
    login = {"Proxy-Authorization": f"Basic {b64encode(secret.encode()).decode()}"} if proxy.username else {}
    if parts.scheme == "https":
        connection.set_tunnel(host, parts.port or 443, headers=login)
        return connection, target, {}
    return connection, address, login


def _proxy_of(scheme: str, host: str) -> Any:
    """The proxy of the environment for this address; ``None``: it is asked itself."""
    found = getproxies().get(scheme)
    if not found or is_loopback(host) or proxy_bypass(host):
        return None
    return urlsplit(found if "://" in found else f"http://{found}")


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def origin_of(address: str) -> tuple[str, str, int]:
    parts = urlsplit(address)
    return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def require_safe(address: str, *, is_insecure: bool) -> None:
    """Raises ``Failure`` for what is no address of the web, and for one whose traffic others could read."""
    try:
        scheme, host, _port = origin_of(address)
    except ValueError:
        scheme, host = "", ""
    if scheme not in ("http", "https") or not host:
        raise Failure(WRONG_USAGE, say("no_address", address=address))
    if scheme == "http" and not is_loopback(host) and not is_insecure:
        raise Failure(WRONG_USAGE, say("not_encrypted", address=address))
