"""What a process finds in its environment before Django reads the settings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from malpan.local import embedded, environment


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
