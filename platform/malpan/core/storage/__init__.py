"""Private files: content-addressed, never served by the web server, checked whenever they are read.

They are on this machine's disk (``local_disk``) or in a store that speaks S3 (``s3``), as ``MALPAN_STORAGE`` says; both
keep what ``stores.Store`` promises. Beside them are notes: what must outlive the database, such as that somebody's
data were erased (``privacy.records``). ``collecting`` removes what no row names, ``moving`` carries all files from one
store to another. Why it is done so: ``RECORD.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import IO, BinaryIO, Final

from malpan.core.storage.places import configured
from malpan.core.storage.stores import CHUNK_BYTES, StoredFile

__all__ = [
    "CHUNK_BYTES",
    "StoredFile",
    "open_private",
    "public_address",
    "read_private",
    "remove_unfinished",
    "silent_since",
    "store_private",
    "stored_files",
]

ABANDONED: Final = timedelta(days=1)  # what is written now is younger


def store_private(data: bytes | IO[bytes]) -> StoredFile:
    """Store ``data`` (bytes, or a file from its current position) and return its address.

    Storing the same bytes again is harmless and repairs a damaged file. A row must name the file within a day
    (``collecting``). Raises ``StorageFull`` or ``StorageUnavailable``.
    """
    return configured().put(data)


def open_private(sha256: str) -> BinaryIO:
    """The stored file, open for reading at its start, after its bytes were checked against its address.

    Raises ``StoredFileMissing``, ``StoredFileCorrupt`` or ``StorageUnavailable``.
    """
    return configured().open(sha256)


def read_private(sha256: str) -> bytes:
    """All bytes of the stored file, checked. Raises as ``open_private``."""
    with open_private(sha256) as file:
        return file.read()


def silent_since() -> datetime | None:
    """Since when the store does not answer this process (``silence``); ``None`` while it does. Asks nobody."""
    return configured().silent_since()


def stored_files() -> Iterator[str]:
    """The sha256 of every file in the store now. Raises ``StorageUnavailable``."""
    for sha256, _copies in groupby(configured().copies(), key=attrgetter("sha256")):
        yield sha256


def public_address(stored: StoredFile, file_name: str) -> str | None:
    """An address that gives the file to whoever has it, for some minutes; ``None`` where only the site gives files.

    The caller must have checked that the person may have the file. Of its bytes only the size is checked. Raises
    ``StoredFileMissing``, ``StoredFileCorrupt`` or ``StorageUnavailable``.
    """
    return configured().public_address(stored, file_name)


def remove_unfinished(older_than: timedelta = ABANDONED) -> int:
    """Remove what a killed process left half written; how many files there were. A file in work is younger."""
    return configured().remove_unfinished(older_than)
