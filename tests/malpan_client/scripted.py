"""A server that answers as a test says, and as badly: cut off, busy, moved, of another version, no Malpan at all."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

NOW = "2026-11-20T14:00:00+09:00"


@dataclass
class Answer:
    """``reads``: of the request's body, before the connection is reset without an answer. ``writes``: of the answer's
    body, before the connection is closed. ``is_early``: answers before it reads the body. ``silent``: for how many
    seconds it says nothing.
    """

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    reads: int | None = None
    writes: int | None = None
    is_early: bool = False
    silent: float = 0.0

    @property
    def data(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body, ensure_ascii=False).encode()


def problem(status: int, code: str, detail: str = "까닭", headers: dict[str, str] | None = None, **more: Any) -> Answer:
    """A refusal as the API has it."""
    body = {
        "type": f"https://x/#{code}",
        "title": "요청 오류",
        "status": status,
        "detail": detail,
        "code": code,
        **more,
    }
    kind = {"Content-Type": "application/problem+json", "API-Version": "1.0.0"}
    return Answer(body | {"kind": "request", "error": {"code": code}}, status, kind | (headers or {}))


CUT = Answer(reads=0)


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: Any
    body: bytes


class Script:
    """Which answers an address gives, one after the other; the last one again and again."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.url = ""
        self.is_over = threading.Event()
        self._answers: dict[tuple[str, str], list[Answer]] = defaultdict(list)

    def on(self, method: str, path: str, *answers: Any) -> None:
        found = [each if isinstance(each, Answer) else Answer(each) for each in answers]
        self._answers[method, f"/api/v1/{path}" if not path.startswith("/") else path] = found

    def answer_to(self, method: str, path: str) -> Answer:
        waiting = self._answers.get((method, path))
        if not waiting:
            return problem(404, "address_not_found", "이런 주소는 없습니다.")
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    def asked(self, method: str, path: str = "") -> list[Request]:
        """The requests that came, by method and the end of the address."""
        return [each for each in self.requests if each.method == method and each.path.endswith(path)]


class Handler(BaseHTTPRequestHandler):
    script: Script
    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        parts = urlsplit(self.path)
        answer = self.script.answer_to(self.command, parts.path)
        length = int(self.headers.get("Content-Length") or 0)
        if answer.is_early:
            self._write(answer)
        body = self.rfile.read(length if answer.reads is None else min(answer.reads, length))
        self.script.requests.append(Request(self.command, self.path, dict(parse_qsl(parts.query)), self.headers, body))
        self.script.requests[-1].path = parts.path if not parts.scheme else self.path
        self.close_connection = True
        if answer.silent:
            self.script.is_over.wait(answer.silent)
        if answer.reads is not None:
            self._reset()
        elif not answer.is_early:
            self._write(answer)

    def _write(self, answer: Answer) -> None:
        data = memoryview(answer.data if answer.status != 204 else b"")
        headers = {"Content-Type": "application/json"}
        start = self.headers.get("Range", "").removeprefix("bytes=").removesuffix("-")
        status = answer.status
        if start and "Accept-Ranges" in answer.headers:
            status, headers["Content-Range"] = 206, f"bytes {start}-{len(data) - 1}/{len(data)}"
            data = data[int(start) :]
        self.send_response_only(status)
        for name, value in (
            {**headers, "Content-Length": str(len(data)), "Connection": "close"} | answer.headers
        ).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data if answer.writes is None else data[: answer.writes])
        self.wfile.flush()

    def _reset(self) -> None:
        """As a machine between us and the client that forgets the connection."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.rfile.close()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients go away, and we ourselves reset connections."""


@contextmanager
def serving(script: Script) -> Iterator[Script]:
    handler = type("Scripted", (Handler,), {"script": script})
    with Server(("127.0.0.1", 0), handler) as server:
        script.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=[0.01], daemon=True)
        thread.start()
        yield script
        script.is_over.set()
        server.shutdown()
        thread.join()


# --- what a Malpan site says ------------------------------------------------------------------------------------------
def phase(**more: Any) -> dict[str, Any]:
    return {"slug": "open", "starts_at": "2026-11-01T09:00:00+09:00", "ends_at": NOW, "is_open": True} | more


def track(**more: Any) -> dict[str, Any]:
    return {"slug": "main", "phase": phase(), "files": [], "score_scale": 100, "score_decimals": 2} | more


def quota(**more: Any) -> dict[str, Any]:
    limits = {"daily_limit": 5, "left_today": 4, "total_limit": None, "left_total": None}
    return limits | {"next_allowed_at": NOW, "can_submit": True} | more


def run(state: str = "queued", **more: Any) -> dict[str, Any]:
    return {"state": state, "progress": 0.0, "stage": ""} | more


def scored(text: str = "61.25") -> dict[str, Any]:
    return run("finished", shown=[{"key": "final_score", "label": "종합", "value": 0.6125, "text": text}])


def submission(**more: Any) -> dict[str, Any]:
    found = {
        "id": "11111111-1111-1111-1111-111111111111",
        "file_name": "answers.json",
        "file_sha256": "",
        "item_count": 3,
        "submitted_at": NOW,
        "memo": "",
        "is_refunded": False,
        "is_withdrawn": False,
        "is_final_choice": False,
        "run": run(),
        "waiting_before": 2,
        "estimated_finish_at": None,
        "competition": "spring",
        "track": "main",
        "phase": "open",
        "team": "말모이",
    }
    return found | more


def history(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    entries = [{"kind": "submission", **each} for each in rows]
    return {"quota": quota(**more), "history": entries, "count": len(entries), "next": None, "needs_terms": False}
