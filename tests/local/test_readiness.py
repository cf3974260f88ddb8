"""A process tells the supervisor that it does its work, by the pipe that it was given."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from malpan import web_server, worker_process
from malpan.jobs.registry import NotMine
from malpan.local.readiness import DESCRIPTOR, say_ready

Said = Callable[[], bytes]


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Iterator[Said]:
    """What was said since the last look."""
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    monkeypatch.setenv(DESCRIPTOR, str(theirs))

    def said() -> bytes:
        try:
            return os.read(ours, 100)
        except BlockingIOError:
            return b""

    yield said
    os.close(ours)
    os.close(theirs)


def test_without_a_supervisor_nothing_is_said(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    say_ready()
    assert said() == b"\n"
    monkeypatch.delenv(DESCRIPTOR)
    say_ready()
    monkeypatch.setenv(DESCRIPTOR, "999999")  # a supervisor that is gone
    say_ready()
    assert said() == b""


def test_a_web_process_says_so_before_it_serves(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes] = []
    monkeypatch.setattr(web_server, "listening_socket", lambda: seen.append(said()))
    monkeypatch.setattr(web_server, "make_server", lambda _: SimpleNamespace(run=lambda: seen.append(said())))
    monkeypatch.setattr(web_server, "signal", SimpleNamespace(signal=lambda *_: None, SIGTERM=15))
    web_server.main()
    assert seen == [b"", b"\n"]


@pytest.mark.parametrize(("differs", "expected"), [(False, b"\n"), (True, b"")])
def test_a_scoring_process_says_so_when_it_takes_work(
    said: Said, monkeypatch: pytest.MonkeyPatch, differs: bool, expected: bytes
) -> None:
    def begin_work(_worker: int) -> None:
        assert said() == b""
        if differs:
            raise NotMine

    def nothing(*_: object) -> None:
        pass

    for name in ("die_with_parent", "load_models", "begin_heartbeat"):
        monkeypatch.setattr(worker_process, name, nothing)
    monkeypatch.setattr(worker_process, "begin_work", begin_work)
    monkeypatch.setattr(worker_process, "_serves_scoring", True)
    monkeypatch.setattr(worker_process.outage, "prepare", nothing)
    monkeypatch.setattr(worker_process, "gc", SimpleNamespace(freeze=nothing, set_threshold=nothing))
    monkeypatch.setattr(worker_process.os, "nice", nothing)
    monkeypatch.setenv("MALPAN_EMBEDDINGS", "")  # else it is set for all later tests
    worker_process.begin_child()
    assert said() == expected
