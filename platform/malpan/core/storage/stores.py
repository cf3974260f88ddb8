"""What every store of private files can do. A file's address is the sha256 of its bytes, in hex."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import IO, BinaryIO, Final, Protocol

# who is told of each request over the network: its operation, how it ended (answered; error, the store's; no_answer;
# refused, not sent as the store is silent), and the seconds until then
listeners: Final[list[Callable[[str, str, float], None]]] = []
CHUNK_BYTES: Final = 1024 * 1024
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_NOTE: Final = re.compile(r"[a-z]+/[0-9A-Za-z][0-9A-Za-z.]*")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A stored file: its sha256 in hex, which is its address, and its size in bytes."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy of a file in a store. ``place`` is the store's own name for it, ``age`` is by the store's clock.

    ``stamp`` tells it from a later copy in the same place; 0 where no two copies ever have the same place.
    """

    sha256: str
    size: int
    place: str
    age: timedelta
    stamp: int = 0


class Store(Protocol):
    """A place of private files. Every method raises ``StorageUnavailable`` if the place cannot be reached."""

    def put(self, data: bytes | IO[bytes]) -> StoredFile:
        """Store all or nothing; a copy that is there counts as new again. Also raises ``StorageFull``."""

    def open(self, sha256: str) -> BinaryIO:
        """The file, checked against its address. Raises ``StoredFileMissing`` and ``StoredFileCorrupt``."""

    def copies(self) -> Iterator[Copy]:
        """Every copy of every file, those of one file one after the other."""

    def is_sound(self, copy: Copy) -> bool:
        """Whether ``copy`` is there and its bytes have its address. Reads all of it."""

    def remove(self, copy: Copy) -> bool:
        """Remove ``copy``, unless the file was stored again since it was listed; whether it was removed."""

    def remove_unfinished(self, older_than: timedelta) -> int:
        """Remove what killed processes left half written; how much there was."""

    def public_address(self, stored: StoredFile, file_name: str) -> str | None:
        """As ``core.storage.public_address``."""

    def write_note(self, name: str, body: bytes) -> None:
        """Write ``body`` down beside the files, on the disk itself, in the place of a note of this ``folder/name``.

        A note is no file: no row names it and nobody collects it. Also raises ``StorageFull``.
        """

    def notes(self) -> Iterator[str]:
        """The name of every note, in order."""

    def read_note(self, name: str) -> bytes:
        """The note's body. Raises ``StoredFileMissing``."""

    def remove_note(self, name: str) -> None:
        """Remove the note, if it is there."""

    def silent_since(self) -> datetime | None:
        """Since when requests of this process have no answer; ``None`` while they have, or nobody asked."""

    def owner(self) -> str | None:
        """The site whose rows name these files, if one was recorded."""

    def claim(self, site: str) -> str:
        """The site whose rows name these files: ``site`` if none was recorded, which this records."""

    def adopt(self, site: str) -> None:
        """Record ``site`` as the one whose rows name these files."""

    def disown(self) -> None:
        """Forget whose rows name these files, if it was recorded."""


def is_address(text: str) -> bool:
    """Whether ``text`` has the form of an address: others must never lead to a path or a key."""
    return _SHA256.fullmatch(text) is not None


def note_name(text: str) -> str:
    """``text``, if it is the name of a note: a folder and a name. Raises ``ValueError``."""
    if _NOTE.fullmatch(text) is None:
        raise ValueError(f"no name of a note: {text}")
    return text


def chunks(data: bytes | IO[bytes]) -> Iterator[bytes]:
    if isinstance(data, bytes):
        yield data
        return
    while chunk := data.read(CHUNK_BYTES):
        yield chunk
