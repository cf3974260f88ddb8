"""Clients that do not read their answers hold no thread, and no connection for long; large bodies share a rate, and
those that are refused are thrown away until their senders have read why."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from malpan import web_server, web_server_refusals, wsgi
from tests.clocks import stop_in
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
    server: Any, ask: Callable[[str], socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_server, "REQUEST_SECONDS", 0)
    monkeypatch.setattr(web_server, "LEAST_RATE", 2**10)
    let_pass = stop_in(web_server, monkeypatch)
    client = ask("/large")
    wait_for(lambda: [each for each in server.active_channels.values() if each._sent > 2**12], "four seconds' worth")
    let_pass(4)
    assert length(client) > LARGE


def post(server: Any, size: int) -> float:
    """Seconds until the body of so many bytes is answered."""
    began = time.monotonic()
    with _connected(server) as client:
        client.sendall(f"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n".encode() + b"0" * size)
        assert client.recv(2**16).startswith(b"HTTP/1.1 200")
    return time.monotonic() - began


def test_large_bodies_share_a_rate_and_small_ones_pass(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "BODY_RATE", 2**20)  # so low that a second of a busy machine is no share of it
    with ThreadPoolExecutor(4) as pool:
        large = [pool.submit(post, server, 2**20 + web_server.BODY_AT_ONCE) for _sender in range(4)]
        small = post(server, web_server.BODY_AT_ONCE)
        times = [each.result() for each in large]
    assert max(times) >= 3.6, "four MB at one MB a second"
    assert max(times) < 20
    assert min(times) > max(times) / 2, "each its share"
    assert small < min(times) / 2
    assert not web_server.Channel._held
    assert post(server, 2**20 + web_server.BODY_AT_ONCE) < max(times) / 2, "one alone has the whole rate"


def test_who_leaves_with_half_a_body_leaves_its_share(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "BODY_RATE", 2**10)
    with _connected(server) as client:
        client.setblocking(False)
        client.send(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n")
        wait_for(lambda: _pushes(client) or web_server.Channel._held, "it is held back", every=0.01)
        monkeypatch.setattr(web_server, "BODY_RATE", 2**40)
    wait_for(lambda: not web_server.Channel._held and not server.active_channels, "it is gone")


def test_bodies_that_join_hold_nobody_back_until_he_looks_silent(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first took in while it was alone is no debt when nine more share the rate."""
    monkeypatch.setattr(web_server, "BODY_RATE", 8 * 2**20)
    server.adj.channel_timeout = 2
    with ThreadPoolExecutor(10) as pool:
        first = pool.submit(post, server, LARGE)
        wait_for(lambda: _taken(server) >= 8 * 2**20, "it was alone for a second", every=0.01)
        others = [pool.submit(post, server, 3 * 2**20) for _sender in range(9)]
        assert max(each.result() for each in others) > 2, "longer than who is silent may be"
        first.result()


def test_each_of_the_requests_that_packets_straddle_has_its_own_time(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_server, "REQUEST_SECONDS", 1)
    let_pass = stop_in(web_server, monkeypatch)
    request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with _connected(server) as client, client.makefile("rb") as answers:
        client.sendall(request[:9])
        for _part in range(30):
            let_pass(0.1)
            client.sendall(request[9:] + request[:9])
            assert answers.readline() == b"HTTP/1.1 200 OK\r\n"
            while answers.readline() != b"\r\n":
                pass
            assert answers.read(1) == b"0"


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """The site takes bodies of one MiB."""
    monkeypatch.setattr(web_server, "_upload_bytes", lambda: 2**20)


DECLARED = f"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {LARGE}\r\n\r\n".encode()
CHUNKED = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "request_bytes",
    [DECLARED + b"0" * LARGE, CHUNKED + b"%x\r\n%b\r\n0\r\n\r\n" % (LARGE, b"0" * LARGE)],
    ids=["declared", "in chunks"],
)
@pytest.mark.usefixtures("little")
def test_who_sends_all_of_a_body_that_is_refused_reads_why(server: Any, request_bytes: bytes) -> None:
    with _connected(server) as client:
        client.sendall(request_bytes)
        answer = client.makefile("rb").read().decode()
    assert answer.startswith("HTTP/1.1 413")
    assert "Connection: close" in answer
    assert answer.endswith("</html>"), "one answer, whatever the body looks like"
    wait_for(lambda: not server.active_channels, "it is gone when the client is", seconds=10)


@pytest.mark.usefixtures("little")
def test_who_asks_before_sending_a_body_that_is_refused_is_not_told_to_go_on(server: Any) -> None:
    with _connected(server) as client:
        client.sendall(DECLARED.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"))
        assert client.makefile("rb").readline().startswith(b"HTTP/1.1 413")


@pytest.mark.usefixtures("little")
def test_bodies_that_are_refused_share_the_rate(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "BODY_RATE", LARGE)
    began = time.monotonic()
    with _connected(server) as client:
        client.sendall(DECLARED + b"0" * LARGE)
        client.shutdown(socket.SHUT_WR)
        wait_for(lambda: not server.active_channels, "all is thrown away", every=0.01)
    assert time.monotonic() - began > 0.9, "at as many bytes a second"
    assert not web_server.Channel._held


@pytest.mark.parametrize(
    ("bound", "sent_at_once"), [("UNWANTED_BYTES", 2**18), ("REQUEST_SECONDS", 1)], ids=["bytes", "seconds"]
)
@pytest.mark.usefixtures("little")
def test_who_sends_on_after_the_refusal_is_cut_off(
    server: Any, monkeypatch: pytest.MonkeyPatch, bound: str, sent_at_once: int
) -> None:
    monkeypatch.setattr(web_server, bound, 1)
    with _connected(server) as client:
        client.sendall(DECLARED)
        assert client.makefile("rb").read().endswith(b"</html>")
        assert server.active_channels, "it may send on"
        with pytest.raises((BrokenPipeError, ConnectionResetError)):  # noqa: PT012
            for _moment in range(200):
                client.sendall(b"0" * sent_at_once)
                time.sleep(0.05)
    assert not server.active_channels


@pytest.mark.usefixtures("little")
def test_who_is_silent_after_the_refusal_is_cut_off(server: Any) -> None:
    server.adj.channel_timeout = 1
    with _connected(server) as client:
        client.sendall(DECLARED)
        assert client.makefile("rb").read().endswith(b"</html>")
        wait_for(lambda: not server.active_channels, "it is cut off", seconds=10)


def test_who_pipelines_and_does_not_read_has_one_request_begun_at_a_time(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    def numbered(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        begun.append(environ["PATH_INFO"])
        body = environ["PATH_INFO"].encode().ljust(2**18)
        start("200 OK", [("Content-Length", str(len(body)))])
        return [body]

    monkeypatch.setattr(server, "application", numbered)
    paths = [f"/{number}" for number in range(1000)]
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(30)
        client.connect(("127.0.0.1", int(server.effective_port)))
        client.sendall("".join(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n" for path in paths).encode())
        wait_for(lambda: begun, "it is served")
        time.sleep(1)
        [channel] = server.active_channels.values()
        assert len(begun) < 100, "as many as its system took the answers of"
        assert len(channel.requests) <= 1
        assert len(channel.rest) <= web_server.READ_BYTES
        assert channel.total_outbufs_len <= 2**19
        assert len(channel.outbufs) <= 3
        with _connected(server) as other:
            other.sendall(b"GET /other HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert length(other) > 2**18
        with client.makefile("rb") as answers:
            for path in paths:
                while answers.readline() != b"\r\n":
                    pass
                assert answers.read(2**18).rstrip() == path.encode()


def archive(*heads: str, path: str = "/manage/import/", size: int = 2**30) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Length: {size}", *heads]
    return "\r\n".join([*lines, "", ""]).encode()


SESSION = f"Cookie: {settings.SESSION_COOKIE_NAME}=anything"


def began(server: Any, stack: ExitStack, *heads: str) -> socket.socket:
    """A client whose system has sent the head of an archive, and a byte of it."""
    client = stack.enter_context(_connected(server))
    client.sendall(archive(*heads) + b"0")
    return client


@pytest.mark.parametrize("path", web_server.ARCHIVE_PATHS)
@pytest.mark.parametrize("body", ["Content-Length: 1073741824", "Transfer-Encoding: chunked"])
def test_a_stranger_s_archive_comes_to_the_site_without_its_body(server: Any, path: str, body: str) -> None:
    with _connected(server) as client:
        client.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{body}\r\n\r\nGET / HTTP/1.1\r\n\r\n".encode())
        answer = client.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 200"), "what the view says"
    assert b"Connection: close" in answer
    assert answer.count(b"HTTP/1.1") == 1
    assert not web_server.Parser._places


@pytest.mark.django_db
def test_the_site_says_to_a_stranger_without_a_body_what_it_says(client: Client) -> None:
    for path, status in zip(web_server.ARCHIVE_PATHS, (302, 401), strict=True):
        kind = "multipart/form-data; boundary=a"
        assert client.generic("POST", path, b"", content_type=kind, CONTENT_LENGTH="0").status_code == status


@pytest.mark.usefixtures("no_place_is_left")
def test_archives_have_places_of_which_a_network_has_one(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "TRUSTED_PROXY", "127.0.0.1")
    with ExitStack() as stack:
        first = began(server, stack, SESSION, "X-Forwarded-For: 192.0.2.1")
        wait_for(lambda: web_server.Parser._places, "it has a place")
        for path, words in (("/manage/import/", "보관 파일을 받고"), ("/api/v1/import/", '"system_fault"')):
            refused = stack.enter_context(_connected(server))
            refused.sendall(archive("Authorization: Bearer a", "X-Forwarded-For: 192.0.2.1", path=path))
            answer = refused.makefile("rb").read().decode()
            assert answer.startswith("HTTP/1.1 503")
            assert f"Retry-After: {web_server_refusals.BUSY_SECONDS}" in answer
            assert words in answer
        began(server, stack, SESSION, "X-Forwarded-For: 2001:db8::1")
        wait_for(lambda: len(web_server.Parser._places) == web_server.ARCHIVES, "another network has a place")
        third = began(server, stack, SESSION, "X-Forwarded-For: 192.0.2.3")
        assert third.makefile("rb").readline().startswith(b"HTTP/1.1 503")
        small = stack.enter_context(_connected(server))
        small.sendall(archive(SESSION, size=1) + b"0")
        assert small.makefile("rb").readline().startswith(b"HTTP/1.1 200"), (
            "of the size of an upload: it needs no place"
        )

        first.close()
        wait_for(lambda: len(web_server.Parser._places) == 1, "its place is free")
        began(server, stack, SESSION, "X-Forwarded-For: 192.0.2.3")
        wait_for(lambda: len(web_server.Parser._places) == web_server.ARCHIVES, "and taken")


@pytest.mark.usefixtures("no_place_is_left")
def test_an_archive_that_is_answered_frees_its_place(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "_upload_bytes", lambda: 2**10)
    for _again in range(3):
        with _connected(server) as client:
            client.sendall(archive(SESSION, size=2**11) + b"0" * 2**11)
            assert client.makefile("rb").readline().startswith(b"HTTP/1.1 200")
        wait_for(lambda: not web_server.Parser._places, "its place is free")


@pytest.mark.usefixtures("no_place_is_left")
def test_an_archive_that_comes_too_slowly_loses_its_place(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "REQUEST_SECONDS", 100)
    let_pass = stop_in(web_server, monkeypatch)
    with ExitStack() as stack:
        client = began(server, stack, SESSION)
        wait_for(lambda: web_server.Parser._places, "it has a place")
        let_pass(100.5)
        client.sendall(b"0" * web_server.ARCHIVE_RATE)
        wait_for(lambda: _taken(server) > web_server.ARCHIVE_RATE, "a second is earned")
        assert web_server.Parser._places
        let_pass(1)
        client.sendall(b"0")
        wait_for(lambda: not web_server.Parser._places, "its place is free", seconds=10)


def test_the_least_rate_is_one_that_a_slow_line_has() -> None:
    assert web_server.LEAST_RATE < web_server.ARCHIVE_RATE < 2_000_000 / 8 / 1.5


@pytest.fixture
def no_place_is_left(server: Any) -> Iterator[None]:
    yield
    wait_for(lambda: not web_server.Parser._places, "no place is left behind")


def _connected(server: Any) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(server.effective_port)), timeout=30)


def _taken(server: Any) -> int:
    """Bytes of all the bodies that are on their way."""
    requests = [channel.request for channel in list(server.active_channels.values())]
    return sum(each.body_bytes_received for each in requests if each is not None)


def _pushes(client: socket.socket) -> None:
    with suppress(BlockingIOError):
        client.send(b"0" * 2**18)
