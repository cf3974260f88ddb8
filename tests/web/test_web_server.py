"""Clients that do not read their answers: they hold no thread, and no connection for long."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from malpan import web_server, wsgi
from tests.waiting import wait_for

LARGE = 20 * 2**20  # bytes: more than waitress holds for a client by default


def application(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
    size = LARGE if environ["PATH_INFO"] == "/large" else 1
    start("200 OK", [("Content-Length", str(size))])
    return [b"0" * 2**20] * (size // 2**20) or [b"0"]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(wsgi, "application", application)
    made = web_server.make_server(socket.create_server(("127.0.0.1", 0)))
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    yield made
    made.trigger.pull_trigger(lambda: made.asyncore.close_all(made._map))
    thread.join(10)
    made.task_dispatcher.shutdown()


@pytest.fixture
def ask(server: Any) -> Iterator[Callable[[str], socket.socket]]:
    """A client that asked for a path, and whose system takes little that it does not read."""
    with ExitStack() as clients:

        def begin(path: str) -> socket.socket:
            client = clients.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.settimeout(10)
            client.connect(("127.0.0.1", int(server.effective_port)))
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            return client

        yield begin


def length(client: socket.socket) -> int:
    """How many bytes come until the connection is closed."""
    read = 0
    while data := client.recv(2**16):
        read += len(data)
    return read


def test_who_does_not_read_a_large_answer_holds_no_thread(server: Any, ask: Callable[[str], socket.socket]) -> None:
    slow = [ask("/large") for _client in range(3 * web_server.THREADS)]
    wait_for(lambda: len(server.active_channels) == len(slow), "they are connected")

    assert length(ask("/")) > 0
    assert length(slow[-1]) > LARGE, "who reads it after all gets the whole"


def test_who_does_not_read_at_all_is_cut_off(server: Any, ask: Callable[[str], socket.socket]) -> None:
    server.adj.channel_timeout = 1
    client = ask("/large")
    assert client.recv(1) == b"H"
    wait_for(lambda: not server.active_channels, "it is cut off", seconds=10)


def test_who_reads_too_slowly_is_cut_off(
    server: Any, ask: Callable[[str], socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_server, "REQUEST_SECONDS", 1)
    monkeypatch.setattr(web_server, "LEAST_RATE", 2**40)
    client = ask("/large")
    assert client.recv(1) == b"H"
    wait_for(lambda: client.recv(4096) and not server.active_channels, "it is cut off", seconds=10)


def test_who_reads_slowly_but_at_the_least_rate_has_the_time(
    ask: Callable[[str], socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_server, "REQUEST_SECONDS", 0)
    monkeypatch.setattr(web_server, "LEAST_RATE", 2**10)
    assert length(ask("/large")) > LARGE
