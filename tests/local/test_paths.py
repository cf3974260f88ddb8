"""Directories of a running site outside its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from malpan.local import paths


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(paths, "_MEMORY_ROOT", tmp_path / "memory")
    (tmp_path / "memory").mkdir()
    return tmp_path / "memory"


def test_a_directory_in_memory_is_private_and_the_same_for_the_same_site(memory: Path, tmp_path: Path) -> None:
    found = paths.memory_directory(tmp_path / "a")
    assert found.parent == memory
    assert found.stat().st_mode & 0o777 == 0o700
    assert paths.memory_directory(tmp_path / "a") == found != paths.memory_directory(tmp_path / "b")


def test_a_link_that_somebody_put_in_its_place_is_refused(memory: Path, tmp_path: Path) -> None:
    found = paths.memory_directory(tmp_path / "a")
    found.rmdir()
    found.symlink_to(tmp_path)
    with pytest.raises(paths.UnusableDirectory):
        paths.memory_directory(tmp_path / "a")


def test_without_memory_for_files_it_is_the_preferred_one(memory: Path, tmp_path: Path) -> None:
    memory.rmdir()
    assert paths.memory_directory(tmp_path / "a") == tmp_path / "a"
    assert (tmp_path / "a").is_dir()
