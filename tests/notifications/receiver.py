"""A receiver of webhooks, as somebody would write it by the specification: it checks the signature of what comes."""

from __future__ import annotations

import hmac
import threading
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[str, int], int]  # of the id, and how often it came before: the status


class Receiver:
    """``calls``: how often each id came; ``arrived``: the bodies that were answered with 2xx, by id."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.calls: Counter[str] = Counter()
        self.arrived: dict[str, list[bytes]] = {}
        self.headers: list[dict[str, str]] = []
        self.address = ""
        self._lock = threading.Lock()

    def take(self, headers: dict[str, str], body: bytes) -> int:
        key = headers["webhook-id"]
        with self._lock:
            before = self.calls[key]
            self.calls[key] += 1
            self.headers.append(headers)
            status = self.answer(key, before)
            if 200 <= status < 300:
                self.arrived.setdefault(key, []).append(body)
        return status


def is_signed(secret: str, headers: dict[str, str], body: bytes) -> bool:
    content = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
    wanted = b64encode(hmac.digest(b64decode(secret.removeprefix("whsec_")), content, sha256)).decode()
    return headers["webhook-signature"] == f"v1,{wanted}"


@contextmanager
def listening(answer: Answer = lambda _key, _before: 204) -> Iterator[Receiver]:
    """A receiver on a free port of this machine."""
    receiver = Receiver(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = receiver.take({name.lower(): value for name, value in self.headers.items()}, body)
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", f"{receiver.address}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
