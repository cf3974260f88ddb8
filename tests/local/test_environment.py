"""What a process finds in its environment before Django reads the settings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import OperationalError
from psycopg.errors import DiskFull

from malpan.local import embedded, environment
from tests.paths import ROOT


def test_given_addresses_are_used_and_nothing_is_embedded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://elsewhere/malpan")
    monkeypatch.setenv("REDIS_URL", "redis://elsewhere/0")
    embedded.provide(tmp_path / "var")
    assert os.environ["DATABASE_URL"] == "postgresql://elsewhere/malpan"
    assert not (tmp_path / "var").exists()


def test_nothing_is_embedded_with_debug_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DEBUG", "off")
    monkeypatch.setenv("MALPAN_VAR", str(tmp_path / "var"))
    environment.prepare(tmp_path, needs_services=True)
    assert not {"DATABASE_URL", "REDIS_URL", "SECRET_KEY"} & set(os.environ)
    assert not (tmp_path / "var").exists()


def test_java_comes_from_the_wheel_where_the_machine_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    environment.provide_java()
    assert (Path(os.environ["JAVA_HOME"]) / "bin" / "java").exists()


def test_the_secret_key_is_made_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = []
    for _ in range(2):
        monkeypatch.setenv("SECRET_KEY", "")
        environment.provide_secret_key(tmp_path)
        keys.append(os.environ["SECRET_KEY"])
    assert keys[0] == keys[1]
    assert len(keys[0]) >= 50
    assert list(tmp_path.iterdir()) == [tmp_path / "secret-key"]


@pytest.mark.parametrize("command", [["migrate", "--no-input"], ["createsuperuser", "--no-input"]])
def test_a_command_whose_database_is_away_says_so_in_one_line(command: list[str]) -> None:
    without = {"DATABASE_URL": "postgresql://who:secret@127.0.0.1:1/contest", "REDIS_URL": "redis://127.0.0.1:1/0"}
    settings = {"DEBUG": "0", "SECRET_KEY": "k" * 50, "SITE_URL": "https://malpan.example.org"}
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env={**os.environ, **without, **settings, "DJANGO_SETTINGS_MODULE": "malpan.settings"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("데이터베이스 127.0.0.1:1/contest에 연결하지 못했습니다. DATABASE_URL")
    assert "The database 127.0.0.1:1/contest cannot be reached" in line
    assert "secret" not in line


def test_what_an_answering_database_refuses_stays_a_traceback() -> None:
    error = OperationalError("no room")
    error.__cause__ = DiskFull("no room")
    with pytest.raises(OperationalError, match="no room"):
        environment.end_without_database(error)
