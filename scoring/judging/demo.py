"""The demo judge: a small HTTP server that speaks the OpenAI protocol, for the local default and for tests.

``python -m scoring.judging.demo --port 9100`` runs it by hand; ``make run`` starts it beside the other programs. Its
judgements follow from the texts alone (``demo_features``), so that equal questions have equal answers everywhere.

For tests the command line switches faults on: ``--faults busy,error,hang --rate 0.3`` makes that share of requests
fail, chosen by the question and by how often it was asked, and none more than ``--most`` times. ``GET /stats`` tells
how often each question was asked, how often a judgement was made for it, whether or not it got through (``billed``, and
its ``tokens``, as a provider bills), and how often it got through whole (``answered``).
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from scoring.arguments import Parser, language_of
from scoring.errors import Language
from scoring.judging.demo_features import decide, texts_of
from scoring.judging.demo_words import WORDS
from scoring.judging.spec import DEMO_MODEL

MODEL: Final = DEMO_MODEL
VERSION: Final = "1"
FAULTS: Final = (
    *("busy", "error", "hang", "cut", "broken-json", "wrong-schema", "huge", "slow", "no-json", "no-protocol"),
)
_FAULT_NAMES: Final = ", ".join(FAULTS)
UNBILLED: Final = ("busy", "error")  # nothing is judged
HUGE_BYTES: Final = 10 * 1024 * 1024
MAX_QUESTION_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How a demo judge misbehaves. ``rate``: the share of requests with one of ``faults``, at most ``most`` of one
    question; ``delay`` of every answer, ``hang`` and ``retry_after`` in seconds. ``biased``: always prefers what comes
    first. ``gullible``: obeys a text that demands the highest score, as a bad judge would.
    """

    faults: tuple[str, ...] = ()
    rate: float = 1.0
    most: int = 2
    seed: int = 0
    delay: float = 0.0
    hang: float = 3600.0
    retry_after: float = 1.0
    biased: bool = False
    gullible: bool = False
    quantisation: str = ""

    def fault_of(self, question: str, times: int) -> str:
        """The fault of the request that asks ``question`` after ``times`` earlier ones; empty for none."""
        if not self.faults or times >= self.most:
            return ""
        digest = hashlib.sha256(f"{self.seed} {question} {times}".encode()).digest()
        is_struck = int.from_bytes(digest[:4], "big") / 2**32 < self.rate
        return self.faults[digest[4] % len(self.faults)] if is_struck else ""


@dataclass(slots=True)
class Stats:
    """What a demo judge was asked, by question; a question is known by the hash of its request."""

    asked: Counter[str] = field(default_factory=Counter)
    billed: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def as_dict(self) -> dict[str, Any]:
        with self.lock:
            return {
                "requests": self.asked.total(),
                "asked": dict(self.asked),
                "billed": dict(self.billed),
                "answered": dict(self.answered),
                "faults": dict(self.faults),
                "tokens": self.tokens,
            }


class DemoJudge(ThreadingHTTPServer):
    """The server. ``descriptor``: a listening socket that it takes over; otherwise it binds ``address``."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(
        self,
        address: tuple[str, int] = ("127.0.0.1", 0),
        behaviour: Behaviour | None = None,
        descriptor: int | None = None,
    ) -> None:
        self.behaviour, self.stats = behaviour or Behaviour(), Stats()
        self.is_closing = threading.Event()
        super().__init__(address, _Handler, bind_and_activate=descriptor is None)
        if descriptor is not None:
            self.socket.close()
            self.socket = socket.socket(fileno=descriptor)
            self.server_address = self.socket.getsockname()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""

    def close(self) -> None:
        """Stop serving, and let whoever hangs go."""
        self.is_closing.set()
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    server: DemoJudge
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the library's name)
        """Nothing: a line for every judgement would drown the terminal."""

    def do_GET(self) -> None:
        answers: dict[str, Callable[[], Mapping[str, Any]]] = {
            "/health": lambda: {"status": "ok"},
            "/version": lambda: {"version": VERSION},
            "/v1/models": self._models,
            "/stats": self.server.stats.as_dict,
        }
        answer = answers.get(self.path)
        self._send(404, {"error": {"message": "no such address"}}) if answer is None else self._send(200, answer())

    def do_POST(self) -> None:
        if self.path != "/v1/chat/completions":
            return self._send(404, {"error": {"message": "no such address"}})
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 < length <= MAX_QUESTION_BYTES:
            return self._send(413, {"error": {"message": "too long"}})
        body = self.rfile.read(length)
        try:
            request = json.loads(body)
            task = "choice" if "choice" in _properties(request) else "score"
            judgement = self._judgement(request["messages"], task)
        except (ValueError, KeyError, TypeError, AttributeError):
            return self._send(400, {"error": {"message": "not a request of this protocol"}})
        return self._answer(hashlib.sha256(body).hexdigest(), body, judgement)

    def _models(self) -> Mapping[str, Any]:
        entry = {"id": MODEL, "object": "model", "created": int(time.time()), "owned_by": "malpan"}
        named = {"quantization": self.server.behaviour.quantisation} if self.server.behaviour.quantisation else {}
        return {"object": "list", "data": [entry | named]}

    def _judgement(self, messages: Any, task: str) -> dict[str, Any]:
        behaviour = self.server.behaviour
        if behaviour.biased and task == "choice":
            return {"reason": "먼저 놓인 글이 낫다.", "choice": "first"}
        everything = "".join(each["content"] for each in messages if each["role"] == "user")
        if behaviour.gullible and ("5점" in everything or '"score"' in everything or "score 5" in everything.lower()):
            return {"reason": "시키는 대로.", "score": 5}
        return decide(texts_of(messages), task)

    def _answer(self, question: str, body: bytes, judgement: Mapping[str, Any]) -> None:
        stats, behaviour = self.server.stats, self.server.behaviour
        content = _BAD_CONTENT.get(fault := self._struck(question)) or json.dumps(judgement, ensure_ascii=False)
        answer = _completion(content, len(body) // 3)
        if fault not in UNBILLED:
            with stats.lock:
                stats.billed[question] += 1
                stats.tokens += answer["usage"]["total_tokens"]
        if behaviour.delay:
            self.server.is_closing.wait(behaviour.delay)
        if fault:
            return self._misbehave(fault, answer)
        with stats.lock:  # before the last byte is sent: whoever has read it finds it counted
            stats.answered[question] += 1
        try:
            self._send(200, answer)
        except OSError:
            with stats.lock:
                stats.answered -= Counter([question])
            raise
        return None

    def _struck(self, question: str) -> str:
        """Count the request; the fault that strikes it, or nothing."""
        stats = self.server.stats
        with stats.lock:
            fault = self.server.behaviour.fault_of(question, stats.asked[question])
            stats.asked[question] += 1
            stats.faults.update([fault] if fault else [])
        return fault

    def _misbehave(self, fault: str, answer: dict[str, Any]) -> None:
        behaviour, whole = self.server.behaviour, json.dumps(answer, ensure_ascii=False).encode()
        self.close_connection = True
        if fault == "busy":
            self._send(429, {"error": {"message": "busy"}}, {"Retry-After": f"{behaviour.retry_after:.0f}"})
        elif fault == "error":
            self._send(500, {"error": {"message": "fault"}})
        elif fault == "hang":
            self.server.is_closing.wait(behaviour.hang)
        elif fault == "cut":
            self._begin(len(whole))
            self.wfile.write(whole[: len(whole) // 2])
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
        elif fault == "slow":
            self._begin(len(whole))
            self._write_slowly(whole)
        elif fault == "huge":
            self._begin(HUGE_BYTES)
            with suppress(OSError):
                self.wfile.write(b'{"choices": "' + b"x" * (HUGE_BYTES - 15) + b'"}')
        elif fault == "no-json":
            self._begin(len(_PAGE))
            self.wfile.write(_PAGE)
        elif fault == "no-protocol":
            self._send(200, {"status": "ok", "usage": answer["usage"]})
        else:
            self._send(200, answer)

    def _write_slowly(self, whole: bytes) -> None:
        """A byte at a time, evenly over the time of a hang."""
        for byte in whole:
            if self.server.is_closing.wait(self.server.behaviour.hang / len(whole)):
                return
            try:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
            except OSError:
                return

    def _begin(self, length: int, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(length),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, status: int, answer: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        body = json.dumps(answer, ensure_ascii=False).encode()
        self._begin(len(body), status, headers)
        self.wfile.write(body)


_PAGE: Final = b"<html><title>200 OK</title>a proxy's own page</html>"
_BAD_CONTENT: Final = {
    "broken-json": '{"reason": "잘린 답',
    "wrong-schema": '{"reason": "", "score": 7.5, "extra": 1}',
}


def _properties(request: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = request["response_format"]["json_schema"]["schema"]["properties"]
    return found


def _completion(content: str, prompt_tokens: int) -> dict[str, Any]:
    tokens = {"prompt_tokens": prompt_tokens, "completion_tokens": len(content)}
    return {
        "id": "demo",
        "object": "chat.completion",
        "model": MODEL,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {**tokens, "total_tokens": prompt_tokens + len(content)},
    }


def parser_in(language: Language) -> Parser:
    """The options of this program, with help in ``language``."""

    def say(key: str) -> str:
        return WORDS[key].text(language).format(faults=_FAULT_NAMES)

    parser = Parser(language=language, prog="python -m scoring.judging.demo", description=say("program"))
    parser.add_argument("--lang", choices=("ko", "en"), default="ko", help=say("lang"))
    parser.add_argument("--host", default="127.0.0.1", help=say("host"))
    parser.add_argument("--port", type=int, default=0, help=say("port"))
    parser.add_argument("--descriptor", type=int, help=say("descriptor"))
    parser.add_argument("--faults", default="", help=say("faults"))
    for name, kind in (("rate", float), ("most", int), ("seed", int), ("delay", float), ("hang", float)):
        parser.add_argument(f"--{name}", type=kind, default=getattr(Behaviour(), name), help=say(name))
    parser.add_argument("--retry-after", type=float, default=Behaviour().retry_after, help=say("retry_after"))
    parser.add_argument("--biased", action="store_true", help=say("biased"))
    parser.add_argument("--gullible", action="store_true", help=say("gullible"))
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until told to stop, or until the process that started this one has ended."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = parser_in(language_of(given))
    options = parser.parse_args(given)
    faults = FAULTS if options.faults == "all" else tuple(filter(None, options.faults.split(",")))
    if unknown := set(faults) - set(FAULTS):
        parser.error(f"argument --faults: invalid choice: {', '.join(sorted(unknown))} (choose from {_FAULT_NAMES})")
    behaviour = Behaviour(
        faults, options.rate, options.most, options.seed, options.delay, options.hang, options.retry_after,
        options.biased, options.gullible,
    )  # fmt: skip
    server = DemoJudge((options.host, options.port), behaviour, options.descriptor)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))  # it holds nothing that could be lost
    sys.stdout.write(f"{server.url}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
