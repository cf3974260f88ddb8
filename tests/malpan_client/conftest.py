"""The command, run within the test, against a scripted server; it keeps its files where nobody else's are."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from malpan_client.command import main
from tests.malpan_client.scripted import Script, history, serving, submission, track

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
    from tests.malpan_client.scripted import Answer

    return Answer(submission(file_sha256=DIGEST), 201, {"API-Version": "1.0.0"})
