"""Private files: complete or absent, private, and checked whenever they are read."""

import errno
import hashlib
import os
import stat
from pathlib import Path

import pytest

from malpan.core.errors import StorageFull, StorageUnavailable, StoredFileCorrupt, StoredFileMissing
from malpan.core.storage import (
    open_private,
    read_private,
    remove_unfinished,
    store_private,
)

DATA = "정답이 아닌 파일".encode()


def _files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def test_stored_file_is_found_under_its_sha256(settings):
    stored = store_private(DATA)

    assert stored.sha256 == hashlib.sha256(DATA).hexdigest()
    assert stored.size == len(DATA)
    assert settings.PRIVATE_ROOT / stored.sha256[:2] / stored.sha256[2:4] / stored.sha256 in _files(
        settings.PRIVATE_ROOT
    )
    with open_private(stored.sha256) as file:
        assert file.read() == DATA


def test_empty_file_is_a_file():
    assert read_private(store_private(b"").sha256) == b""


def test_files_and_folders_are_for_their_owner_only(settings):
    previous = os.umask(0)
    try:
        store_private(DATA)
    finally:
        os.umask(previous)

    modes = {stat.S_IMODE(path.stat().st_mode) for path in settings.PRIVATE_ROOT.rglob("*") if path.is_dir()}
    assert modes | {stat.S_IMODE(settings.PRIVATE_ROOT.stat().st_mode)} == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in _files(settings.PRIVATE_ROOT)} == {0o600}


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
@pytest.mark.parametrize(
    ("number", "fault"),
    [(errno.ENOSPC, StorageFull), (errno.EDQUOT, StorageFull), (errno.EIO, StorageUnavailable)],
)
def test_failed_write_is_named_and_leaves_nothing_behind(settings, monkeypatch, call, number, fault):
    def refuse(*_args: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, call, refuse)
        with pytest.raises(fault):
            store_private(DATA)

    assert _files(settings.PRIVATE_ROOT) == []


def test_disk_that_fills_up_half_way_leaves_nothing_behind(settings, monkeypatch):
    write, calls = os.write, []

    def fill_up(descriptor: int, data: memoryview) -> int:
        calls.append(len(data))
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data[:1000])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", fill_up)
        with pytest.raises(StorageFull):
            store_private(os.urandom(10_000))

    assert _files(settings.PRIVATE_ROOT) == []


def test_short_writes_are_continued(monkeypatch):
    write = os.write
    data = os.urandom(10_000)
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda descriptor, rest: write(descriptor, rest[:999]))
        stored = store_private(data)

    assert read_private(stored.sha256) == data


def test_damaged_file_is_never_handed_out(settings):
    stored = store_private(DATA)
    path = settings.PRIVATE_ROOT / stored.sha256[:2] / stored.sha256[2:4] / stored.sha256
    path.write_bytes(DATA[:-1] + b"!")

    with pytest.raises(StoredFileCorrupt):
        open_private(stored.sha256)


def test_storing_again_mends_a_damaged_file(settings):
    stored = store_private(DATA)
    path = settings.PRIVATE_ROOT / stored.sha256[:2] / stored.sha256[2:4] / stored.sha256
    path.write_bytes(b"")

    store_private(DATA)

    assert read_private(stored.sha256) == DATA


@pytest.mark.parametrize("address", ["", "../../etc/passwd", "0" * 63, "A" * 64, "0" * 64])
def test_unknown_address_is_missing_and_never_a_way_out_of_the_root(address):
    with pytest.raises(StoredFileMissing):
        open_private(address)


def test_what_a_killed_process_left_half_written_goes_a_day_later(settings) -> None:
    kept = store_private(b"whole")
    incoming = Path(settings.PRIVATE_ROOT) / "incoming"
    (incoming / "old").write_bytes(b"hal")
    (incoming / "new").write_bytes(b"hal")
    os.utime(incoming / "old", (0, 0))

    assert remove_unfinished() == 1
    assert [path.name for path in incoming.iterdir()] == ["new"]
    assert read_private(kept.sha256) == b"whole"
    assert remove_unfinished() == 0
