"""One request to an OpenAI-compatible server (vLLM, llama.cpp, Ollama and others), bounded in time and size.

Every request has a connection of its own: a kept one that the server just closed would leave open whether the request
was done, and a judgement takes far longer than a connection. The time limit is on the whole exchange, from the first
try to connect to the last byte (``deadline``): a server that sends a byte now and then cannot hold a thread. Redirects
are not followed: they would carry the key to another host.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from urllib3.connection import HTTPConnection
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError

from scoring.judging.deadline import Deadline, PlainConnection, TlsConnection
from scoring.judging.errors import JudgeKeyMissing

MAX_ANSWER_BYTES: Final = 1_000_000
_READ_BYTES: Final = 65_536

# ``unreachable`` and ``busy``: the request was not done. All others but ``refused``: it may have been.
Failure = Literal[
    "unreachable", "busy", "timeout", "cut", "server_error", "too_large", "no_json", "no_protocol", "refused"
]
NOT_DONE: Final[tuple[Failure, ...]] = ("unreachable", "busy")


@dataclass(frozen=True, slots=True)
class Exchange:
    """The outcome of a request: the object of the answer, or why there is none."""

    answer: Mapping[str, Any] | None = None
    failure: Failure | None = None
    status: int = 0
    retry_after: float | None = None  # seconds


class JudgeClient:
    """Sends requests to one server; any number of threads may use it at once."""

    def __init__(self, base_url: str, *, api_key_env: str = "", timeout: float = 60.0) -> None:
        """Raises ``JudgeKeyMissing``."""
        self.url, self.timeout = base_url, timeout
        self._parts = urlsplit(base_url)
        self._key = _key_from(api_key_env)
        self._live: set[Deadline] = set()
        self._lock = threading.Lock()
        self._is_aborted = False

    @property
    def key(self) -> str:
        """The key that is sent; empty for none. It must not get into anything that is kept or shown."""
        return self._key

    def post(self, path: str, body: bytes) -> Exchange:
        """Send ``body``, which is JSON, and return the outcome; raises nothing."""
        return self._exchange("POST", path, body)

    def get(self, path: str) -> Exchange:
        return self._exchange("GET", path, None)

    def abort(self) -> None:
        """Cut all connections; whoever waits for an answer gets a failure. Nothing can be sent afterwards."""
        with self._lock:
            self._is_aborted = True
            live = list(self._live)
        for deadline in live:
            deadline.pass_now()

    def _exchange(self, method: str, path: str, body: bytes | None) -> Exchange:
        kind = TlsConnection if self._parts.scheme == "https" else PlainConnection
        connection = kind(str(self._parts.hostname), self._parts.port, timeout=self.timeout)
        deadline = connection.deadline = Deadline(self.timeout, connection)
        with self._lock:
            if self._is_aborted:
                return Exchange(failure="cut")
            self._live.add(deadline)
        try:
            with deadline:
                connection.request(
                    method, self._parts.path + path, body=body, headers=self._headers(), preload_content=False,
                    decode_content=False,
                )  # fmt: skip
                found = _read(connection)
            is_cut = deadline.has_passed and found.failure is not None  # it looks like the end of an answer
            return Exchange(failure="timeout") if is_cut else found
        except (NewConnectionError, ConnectTimeoutError):
            return Exchange(failure="unreachable")
        except (HTTPError, HTTPException, OSError, ValueError) as error:
            is_late = deadline.has_passed or isinstance(error, TimeoutError | ReadTimeoutError)
            return Exchange(failure="timeout" if is_late else "cut")
        finally:
            connection.close()
            with self._lock:
                self._live.discard(deadline)

    def _headers(self) -> dict[str, str]:
        key = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        sent = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "malpan"}
        return {**sent, "Content-Type": "application/json", "Connection": "close", **key}


def _read(connection: HTTPConnection) -> Exchange:
    """The answer, refused as soon as it is too large."""
    response = connection.getresponse()
    status = response.status
    if status != 200:
        return Exchange(failure=_failure(status), status=status, retry_after=_retry_after(response.headers))
    data = bytearray()
    for chunk in response.stream(_READ_BYTES, decode_content=False):
        data += chunk
        if len(data) > MAX_ANSWER_BYTES:
            return Exchange(failure="too_large", status=status)
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return Exchange(failure="no_json", status=status)
    return Exchange(found, status=status) if isinstance(found, dict) else Exchange(failure="no_json", status=status)


def _failure(status: int) -> Failure:
    if status == 429:
        return "busy"
    return "server_error" if status in (408, 409, 425) or status >= 500 else "refused"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of ``Retry-After``, which is a number of them or a date."""
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit() and len(value) <= 9:
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, ((at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds())


def _key_from(variable: str) -> str:
    """The key in the environment; empty if the profile names none. Raises ``JudgeKeyMissing``."""
    if not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise JudgeKeyMissing(variable=variable)
    return key
