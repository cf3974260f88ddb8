"""Private files on a disk of this machine, or on a network file system that several share.

``ROOT/ab/cd/<sha256>``, files 0600 in folders 0700. A file gets its name only when it is complete: it is written to
``ROOT/incoming``, flushed to the disk and renamed. A failed write leaves nothing behind.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, BinaryIO, Final

from malpan.core.errors import StorageFull, StorageUnavailable, StoredFileCorrupt, StoredFileMissing, SystemFault
from malpan.core.service_faults import NO_ROOM
from malpan.core.storage.stores import Copy, StoredFile, chunks, is_address, note_name

_SITE: Final = "site"
_NOTES: Final = "notes"


@dataclass(frozen=True, slots=True)
class LocalDisk:
    """The files below ``root``; see ``stores.Store`` for what the methods promise."""

    root: Path

    def put(self, data: bytes | IO[bytes]) -> StoredFile:
        with _named_faults():
            incoming = _folder(self.root, "incoming")
            descriptor, name = tempfile.mkstemp(dir=incoming)  # created 0600
            try:
                try:
                    stored = _write_all(descriptor, data)
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
                target = _folder(self.root, stored.sha256[:2], stored.sha256[2:4]) / stored.sha256
                with _held(target):
                    os.replace(name, target)
            except BaseException:
                os.unlink(name)
                raise
            _sync_folder(target.parent)
            return stored

    def open(self, sha256: str) -> BinaryIO:
        with _named_faults(), ExitStack() as stack:
            try:
                file = stack.enter_context(open(self._path(sha256), "rb"))
            except FileNotFoundError:
                raise StoredFileMissing(sha256=sha256) from None
            if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                raise StoredFileCorrupt(sha256=sha256)
            file.seek(0)
            stack.pop_all()  # checked: the caller closes it
            return file

    def copies(self) -> Iterator[Copy]:
        with _named_faults():
            for folder in sorted(self.root.glob("[0-9a-f][0-9a-f]/[0-9a-f][0-9a-f]")):
                for path in sorted(folder.iterdir()):
                    with suppress(FileNotFoundError):  # removed meanwhile
                        if is_address(path.name):
                            status = path.stat()
                            yield Copy(path.name, status.st_size, str(path), _age(status), status.st_mtime_ns)

    def is_sound(self, copy: Copy) -> bool:
        try:
            self.open(copy.sha256).close()
        except (StoredFileMissing, StoredFileCorrupt):
            return False
        return True

    def remove(self, copy: Copy) -> bool:
        path = Path(copy.place)
        with _named_faults(), _held(path) as held:
            if held is None or held.st_mtime_ns != copy.stamp:  # removed, or stored again, since it was listed
                return False
            path.unlink()
            return True

    def remove_unfinished(self, older_than: timedelta) -> int:
        removed = 0
        with _named_faults():
            for path in (self.root / "incoming").glob("*"):
                with suppress(FileNotFoundError):  # it was finished meanwhile
                    if _age(path.stat()) > older_than:
                        path.unlink()
                        removed += 1
        return removed

    def public_address(self, stored: StoredFile, file_name: str) -> str | None:
        return None

    def silent_since(self) -> datetime | None:
        return None

    def owner(self) -> str | None:
        with _named_faults():
            try:
                return (self.root / _SITE).read_text()
            except FileNotFoundError:
                return None

    def claim(self, site: str) -> str:
        if (owner := self.owner()) is not None:
            return owner
        self.adopt(site)
        return site

    def adopt(self, site: str) -> None:
        with _named_faults():
            self._write(site.encode(), self.root / _SITE)

    def disown(self) -> None:
        with _named_faults():
            (self.root / _SITE).unlink(missing_ok=True)

    def write_note(self, name: str, body: bytes) -> None:
        with _named_faults():
            folder, _, last = note_name(name).partition("/")
            self._write(body, _folder(self.root, _NOTES, folder) / last)

    def notes(self) -> Iterator[str]:
        with _named_faults():
            yield from sorted(f"{path.parent.name}/{path.name}" for path in (self.root / _NOTES).glob("*/*"))

    def read_note(self, name: str) -> bytes:
        with _named_faults():
            try:
                return (self.root / _NOTES / note_name(name)).read_bytes()
            except FileNotFoundError:
                raise StoredFileMissing(sha256=name) from None

    def remove_note(self, name: str) -> None:
        with _named_faults():
            (self.root / _NOTES / note_name(name)).unlink(missing_ok=True)

    def _write(self, body: bytes, target: Path) -> None:
        """Write a small file that is no private file, all or nothing."""
        descriptor, name = tempfile.mkstemp(dir=_folder(self.root, "incoming"))
        with open(descriptor, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(descriptor)
        os.replace(name, target)
        _sync_folder(target.parent)

    def _path(self, sha256: str) -> Path:
        if not is_address(sha256):  # an address must never lead out of the root
            raise StoredFileMissing(sha256=sha256)
        return self.root / sha256[:2] / sha256[2:4] / sha256


def _write_all(descriptor: int, data: bytes | IO[bytes]) -> StoredFile:
    digest = hashlib.sha256()
    size = 0
    for chunk in chunks(data):
        digest.update(chunk)
        size += len(chunk)
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    return StoredFile(digest.hexdigest(), size)


@contextmanager
def _held(path: Path) -> Iterator[os.stat_result | None]:
    """Hold the file at ``path`` against others who replace or remove it; ``None`` if there is none to hold.

    The lock is of the file itself, and goes with the process. Whoever waited for it and finds another file at the path
    holds nothing: the other one was stored just now.
    """
    try:
        descriptor = os.open(path, os.O_RDWR)  # a network file system locks only what is open for writing
    except FileNotFoundError:
        yield None
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        held = os.fstat(descriptor)
        yield held if _is_at(path, held) else None
    finally:
        os.close(descriptor)


def _is_at(path: Path, held: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), held)
    except FileNotFoundError:
        return False


def _age(status: os.stat_result) -> timedelta:
    return timedelta(seconds=time.time() - status.st_mtime)


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
        fault: SystemFault = StorageFull() if error.errno in NO_ROOM else StorageUnavailable()
        raise fault from error
