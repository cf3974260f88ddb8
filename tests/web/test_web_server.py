"""Clients that do not read their answers hold no thread, and no connection for long; large bodies share a rate."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
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


def post(server: Any, size: int) -> float:
    """Seconds until the body of so many bytes is answered."""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", int(server.effective_port)), timeout=30) as client:
        client.sendall(f"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n".encode() + b"0" * size)
        assert client.recv(2**16).startswith(b"HTTP/1.1 200")
    return time.monotonic() - began


def test_large_bodies_share_a_rate_and_small_ones_pass(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "BODY_RATE", 4 * 2**20)
    with ThreadPoolExecutor(4) as pool:
        large = [pool.submit(post, server, 2**20 + web_server.BODY_AT_ONCE) for _sender in range(4)]
        small = post(server, web_server.BODY_AT_ONCE)
        times = [each.result() for each in large]
    assert max(times) >= 0.9, "four MB at four MB a second"
    assert max(times) < 5
    assert min(times) > max(times) / 2, "each its share"
    assert small < min(times) / 2
    assert not web_server.Channel._held
    assert post(server, 2**20 + web_server.BODY_AT_ONCE) < max(times) / 2, "one alone has the whole rate"


def test_who_leaves_with_half_a_body_leaves_its_share(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "BODY_RATE", 2**10)
    with socket.create_connection(("127.0.0.1", int(server.effective_port)), timeout=30) as client:
        client.setblocking(False)
        client.send(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n")
        wait_for(lambda: _pushes(client) or web_server.Channel._held, "it is held back", every=0.01)
        monkeypatch.setattr(web_server, "BODY_RATE", 2**40)
    wait_for(lambda: not web_server.Channel._held and not server.active_channels, "it is gone")


def _pushes(client: socket.socket) -> None:
    with suppress(BlockingIOError):
        client.send(b"0" * 2**18)
