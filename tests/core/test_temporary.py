"""The site's temporary folder: what is a day old was left by a killed process and goes, nothing else does."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from malpan.competitions.media import media_root
from malpan.core.temporary import remove_left, temporary_files, temporary_folder
from malpan.submissions.tasks import remove_unfinished_files

DAY = 24 * 3600


@pytest.fixture(autouse=True)
def _site_of_its_own(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path / "var"


def aged(path: Path, seconds: float) -> Path:
    """``path``, changed so many seconds ago."""
    os.utime(path, (time.time() - seconds,) * 2)
    return path


def upload(name: str, seconds: float) -> Path:
    path = temporary_folder() / name
    path.write_bytes(b"half an upload")
    return aged(path, seconds)


def folder(path: Path, seconds: float) -> Path:
    (path / "frames").mkdir(parents=True)
    (path / "frames" / "q1.png").write_bytes(b"")
    return aged(path, seconds)


def test_what_killed_processes_left_is_removed_after_a_day_and_nothing_that_is_in_use() -> None:
    upload("old.upload", DAY + 60)
    folder(temporary_folder() / "check-old", DAY + 60)
    folder(media_root() / "incoming-old", DAY + 60)
    kept = [
        upload("new.upload", DAY - 60),
        folder(temporary_folder() / "check-new", DAY - 60),
        folder(media_root() / "incoming-new", DAY - 60),
        folder(media_root() / ("a" * 64), 30 * DAY),  # unpacked: stays
    ]

    remove_unfinished_files()

    assert {*temporary_files(), *media_root().iterdir()} == set(kept)


def test_only_the_user_of_the_site_reads_it_and_what_a_link_names_stays(tmp_path: Path) -> None:
    assert temporary_folder().stat().st_mode & 0o777 == 0o700
    elsewhere = folder(tmp_path / "elsewhere", 0)
    (temporary_folder() / "link").symlink_to(elsewhere)
    assert remove_left(temporary_files(), older_than=timedelta()) == 1
    assert (elsewhere / "frames" / "q1.png").exists()


def test_a_program_that_has_no_such_folder_removes_nothing_and_makes_none(settings: Any) -> None:
    remove_unfinished_files()
    assert not settings.VAR_DIR.exists()
