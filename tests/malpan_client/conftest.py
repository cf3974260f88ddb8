"""The command, run within the test, against a scripted server or the site itself; its files are in the folder of it."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from malpan import web_server
from malpan.accounts.models import Scope, User
from malpan.accounts.services import create_api_token
from malpan.jobs.tasks import work_next
from malpan_client.command import main
from malpan_client.single_file import single_file
from tests.malpan_client.scripted import Answer, Script, history, serving, submission, track

TOKEN = "mlp_token-of-the-test"
DATA = b'[{"id": "q1", "output": {"answer": "\xeb\x8b\xb5"}}]'
DIGEST = hashlib.sha256(DATA).hexdigest()
SUBMISSIONS = "competitions/spring/tracks/main/submissions/"


@dataclass
class Outcome:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def script() -> Iterator[Script]:
    with serving(Script()) as found:
        yield found


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """For how long the command would have waited, each time."""
    found: list[float] = []
    monkeypatch.setattr(time, "sleep", found.append)
    return found


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "MALPAN_LANG",
        "MALPAN_SITE",
        "MALPAN_TOKEN",
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("MALPAN_LANG", "ko")
    return tmp_path


@pytest.fixture
def command(
    script: Script, home: Path, monkeypatch: pytest.MonkeyPatch, waits: list[float], capsys: pytest.CaptureFixture[str]
) -> Callable[..., Outcome]:
    monkeypatch.setenv("MALPAN_SITE", script.url)
    monkeypatch.setenv("MALPAN_TOKEN", TOKEN)

    def run(*arguments: str) -> Outcome:
        capsys.readouterr()
        try:
            status = main(arguments)
        except SystemExit as end:  # of argparse
            status = int(end.code or 0)
        found = capsys.readouterr()
        assert TOKEN not in found.out + found.err
        return Outcome(status, found.out, found.err)

    return run


@pytest.fixture
def answers(home: Path) -> Path:
    path = home / "answers.json"
    path.write_bytes(DATA)
    return path


@pytest.fixture
def contest(script: Script) -> Script:
    """An open phase in which the team has submitted nothing, and what an accepted file is answered with."""
    script.on("GET", "competitions/spring/tracks/main/", track())
    script.on("GET", SUBMISSIONS, history())
    script.on("POST", SUBMISSIONS, accepted())
    script.on("GET", f"submissions/{submission()['id']}/", submission(file_sha256=DIGEST))
    return script


def accepted() -> Any:
    return Answer(submission(file_sha256=DIGEST), 201, {"API-Version": "1.0.0"})


# --- against the site itself ------------------------------------------------------------------------------------------
@pytest.fixture
def site() -> Iterator[str]:
    """The address of the site's web server, which runs in this process."""
    server = web_server.make_server(socket.create_server(("127.0.0.1", 0)))
    left = {}
    opened = []

    def note(connection: BaseDatabaseWrapper, **_: Any) -> None:
        if threading.current_thread().name.startswith("waitress"):
            opened.append(connection)

    def end() -> None:  # the loop, and leave open what other threads still pull at
        left.update(server._map)
        server._map.clear()

    thread = threading.Thread(target=server.run, daemon=True)
    connection_created.connect(note)
    thread.start()
    yield f"http://127.0.0.1:{server.effective_port}"
    server.trigger.pull_trigger(end)
    thread.join(10)
    server.task_dispatcher.shutdown()
    server.asyncore.close_all(left)
    connection_created.disconnect(note)
    for each in opened:  # a test that restores wants to be alone, and nobody knows when they are collected as garbage
        if each.connection is not None:
            each.connection.close()


@pytest.fixture
def worker() -> Iterator[None]:
    """Somebody who does what is queued."""
    is_over = threading.Event()

    def work() -> None:
        try:
            while not is_over.is_set():
                if work_next(worker="worker-1") is None:
                    is_over.wait(0.05)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        yield
        is_over.set()
        working.result(timeout=60)  # raises what the worker met


@pytest.fixture(scope="module")
def malpan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The command as participants have it."""
    path = tmp_path_factory.mktemp("command") / "malpan.py"
    path.write_bytes(single_file())
    spec = importlib.util.spec_from_file_location("malpan_single_file", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.FIRST_LOOK = 0.05  # seconds: nothing takes long here
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def tokens() -> dict[int, str]:
    """The token of each person, by primary key; whoever has none is given one for everything."""
    return {}


@pytest.fixture
def by_person(
    malpan: ModuleType,
    site: str,
    tokens: dict[int, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., Outcome]:
    """The command, as one file, with a token of the person who is named first."""
    for name in ("config", "state"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / name))
    monkeypatch.setenv("MALPAN_SITE", site)
    monkeypatch.setenv("MALPAN_LANG", "ko")

    def run(person: User, *words: str, status: int = 0) -> Outcome:
        if person.pk not in tokens:
            tokens[person.pk] = create_api_token(user=person, label="CI", scopes=list(Scope))[1]
        monkeypatch.setenv("MALPAN_TOKEN", tokens[person.pk])
        capsys.readouterr()
        ended = malpan.main(words)
        found = capsys.readouterr()
        assert ended == status, found.err
        return Outcome(ended, found.out, found.err)

    return run
