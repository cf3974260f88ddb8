"""Private files: content-addressed, never served by the web server, checked whenever they are read.

``PRIVATE_ROOT/ab/cd/<sha256>``, files 0600 in folders 0700. A file gets its name only when it is complete: it is
written to ``PRIVATE_ROOT/incoming``, flushed to the disk and renamed. A failed write leaves nothing behind, and what a
killed process left is removed a day later (``remove_unfinished``).
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO, BinaryIO, Final

from django.conf import settings

from malpan.core.errors import StorageFull, StorageUnavailable, StoredFileCorrupt, StoredFileMissing, SystemFault

CHUNK_BYTES: Final = 1024 * 1024
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A stored file: its sha256 in hex, which is its address, and its size in bytes."""

    sha256: str
    size: int


def store_private(data: bytes | IO[bytes]) -> StoredFile:
    """Store ``data`` (bytes, or a file from its current position) and return its address.

    Storing the same bytes again is harmless: the new copy replaces the old one, which repairs a damaged file. Raises
    ``StorageFull`` or ``StorageUnavailable``.
    """
    with _named_faults():
        incoming = _folder(_root(), "incoming")
        descriptor, name = tempfile.mkstemp(dir=incoming)  # created 0600
        try:
            try:
                stored = _write_all(descriptor, data)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            target = _folder(_root(), stored.sha256[:2], stored.sha256[2:4]) / stored.sha256
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
        _sync_folder(target.parent)
        return stored


def open_private(sha256: str) -> BinaryIO:
    """The stored file, open for reading at its start, after its bytes were checked against its address.

    Raises ``StoredFileMissing``, ``StoredFileCorrupt`` or ``StorageUnavailable``.
    """
    with _named_faults(), ExitStack() as stack:
        try:
            file = stack.enter_context(open(_path(sha256), "rb"))
        except FileNotFoundError:
            raise StoredFileMissing(sha256=sha256) from None
        if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
            raise StoredFileCorrupt(sha256=sha256)
        file.seek(0)
        stack.pop_all()  # checked: the caller closes it
        return file


def read_private(sha256: str) -> bytes:
    """All bytes of the stored file, checked. Raises as ``open_private``."""
    with open_private(sha256) as file:
        return file.read()


def stored_files() -> Iterator[str]:
    """The sha256 of every file in the store now."""
    with _named_faults():
        for path in _root().glob("??/??/*"):
            if _SHA256.fullmatch(path.name):
                yield path.name


def remove_unfinished(older_than: timedelta = timedelta(days=1)) -> int:
    """Remove what a killed process left half written; how many files there were. A file in work is younger."""
    limit = time.time() - older_than.total_seconds()
    removed = 0
    with _named_faults():
        for path in (_root() / "incoming").glob("*"):
            with suppress(FileNotFoundError):  # it was finished meanwhile
                if path.stat().st_mtime < limit:
                    path.unlink()
                    removed += 1
    return removed


def _write_all(descriptor: int, data: bytes | IO[bytes]) -> StoredFile:
    digest = hashlib.sha256()
    size = 0
    for chunk in _chunks(data):
        digest.update(chunk)
        size += len(chunk)
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    return StoredFile(digest.hexdigest(), size)


def _chunks(data: bytes | IO[bytes]) -> Iterator[bytes]:
    if isinstance(data, bytes):
        yield data
        return
    while chunk := data.read(CHUNK_BYTES):
        yield chunk


def _root() -> Path:
    return Path(settings.PRIVATE_ROOT)


def _path(sha256: str) -> Path:
    if not _SHA256.fullmatch(sha256):  # an address must never lead out of the root
        raise StoredFileMissing(sha256=sha256)
    return _root() / sha256[:2] / sha256[2:4] / sha256


def _folder(root: Path, *names: str) -> Path:
    """``root/name/name…``; missing levels are made with 0700."""
    root.parent.mkdir(parents=True, exist_ok=True)
    root.mkdir(mode=0o700, exist_ok=True)
    for name in names:
        root = root / name
        root.mkdir(mode=0o700, exist_ok=True)
    return root


def _sync_folder(path: Path) -> None:
    """Make the rename itself survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _named_faults() -> Iterator[None]:
    """Turn errors of the operating system into the platform's named faults."""
    try:
        yield
    except OSError as error:
        fault: SystemFault = StorageFull() if error.errno in _FULL else StorageUnavailable()
        raise fault from error
