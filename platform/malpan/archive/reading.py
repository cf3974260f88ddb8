"""An uploaded archive: nothing in it is trusted before it is checked.

Only the kinds of names in ``archive.format`` are allowed, so none leads out of a folder. The sizes in the manifest
limit what is unpacked, and are themselves limited; every member must have the sha256 in the manifest. What a line of
JSON becomes in memory is limited by the number of its values.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Final

from malpan.archive import format as form
from malpan.archive.errors import ArchiveRefused
from scoring.errors import quoted

# What zipfile and zlib raise for a damaged or foreign file. ``ValueError``: an offset before the start.
DAMAGE: Final = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(EOFError, OSError, RuntimeError, ValueError),  # NotImplementedError is a RuntimeError, UnicodeError a ValueError
)
# What an export writes. zipfile unpacks bzip2 and LZMA without a limit: a megabyte of bzip2 becomes gigabytes at once.
METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
NAME_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Archive:
    """A checked archive. ``sizes``: of every member except the manifest, in bytes, unpacked. ``missing_files``: sha256
    of files that the exporting site did not have. ``locked_key``: of the references, if there are any; not checked.
    """

    file: zipfile.ZipFile
    sizes: dict[str, int]
    made_at: str
    missing_files: list[str]
    locked_key: Any

    def lines(self, name: str) -> Iterator[dict[str, Any]]:
        """The rows of a member, as ``lines_of``."""
        with self.file.open(name) as member:
            yield from lines_of(member, name)

    def names(self, folder: str) -> list[str]:
        """The members in ``folder``."""
        return [name for name in self.sizes if name.startswith(f"{folder}/")]


def lines_of(member: IO[bytes], name: str) -> Iterator[dict[str, Any]]:
    """The rows of an opened member, numbered from 1. Raises ``ArchiveRefused`` (``rows``) for a line that is no row."""
    number = 0
    while line := member.readline(form.LINE_MAX_BYTES + 1):
        number += 1
        row = _parsed(line)
        if len(line) > form.LINE_MAX_BYTES or not isinstance(row, dict) or row.get("id") != number:
            raise ArchiveRefused(reason="rows", table=name)
        yield row


def open_archive(file: IO[bytes]) -> Archive:
    """Check the archive in ``file`` (seekable) from the first byte to the last. Raises ``ArchiveRefused``."""
    try:
        opened = zipfile.ZipFile(file)
    except DAMAGE:
        raise ArchiveRefused(reason="unreadable") from None
    members = _checked_names(opened)
    manifest = _manifest(opened, members.pop(form.MANIFEST, None))
    _check_caps(file, members)
    archive = Archive(
        file=opened,
        sizes={name: info.file_size for name, info in members.items()},
        made_at=_shown(manifest.get("made_at")),
        missing_files=_missing_files(manifest),
        locked_key=manifest.get("references"),
    )
    _check_contents(archive, _declared(manifest))
    return archive


def _checked_names(opened: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    infos = opened.infolist()
    if len(infos) > form.MEMBERS_MAX:
        raise ArchiveRefused(reason="too_large")
    members: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        if info.filename in members or not (info.filename == form.MANIFEST or form.is_member_name(info.filename)):
            raise ArchiveRefused(reason="name", name=quoted(info.filename, NAME_SHOWN))
        if info.compress_type not in METHODS:
            raise ArchiveRefused(reason="damaged", name=info.filename)
        members[info.filename] = info
    return members


def _manifest(opened: zipfile.ZipFile, info: zipfile.ZipInfo | None) -> dict[str, Any]:
    if info is None:
        raise ArchiveRefused(reason="unreadable")
    with _damage_named(form.MANIFEST), opened.open(info) as member:
        text = member.read(form.MANIFEST_MAX_BYTES + 1)
    body = _parsed(text)
    if len(text) > form.MANIFEST_MAX_BYTES:
        raise ArchiveRefused(reason="too_large")
    if not isinstance(body, dict) or body.get("format") != form.FORMAT:
        raise ArchiveRefused(reason="unreadable")
    version = body.get("version")
    if version != form.VERSION:
        raise ArchiveRefused(reason=_version_reason(version), version=_shown(version), known=form.VERSION)
    return body


def _version_reason(version: Any) -> str:
    """Why an archive of another version is refused: only a number is older or newer."""
    if not isinstance(version, int):
        return "version"
    return "version_older" if version < form.VERSION else "version_newer"


def _check_caps(file: IO[bytes], members: dict[str, zipfile.ZipInfo]) -> None:
    """Refuse an archive that by its own headers would unpack to more than the limits."""
    packed = file.seek(0, 2)
    unpacked = sum(info.file_size for info in members.values())
    is_bomb = unpacked > form.RATIO_FREE_BYTES and unpacked > form.RATIO_MAX * packed
    if unpacked > form.TOTAL_MAX_BYTES or is_bomb:
        raise ArchiveRefused(reason="too_large")


def _check_contents(archive: Archive, declared: dict[str, tuple[int, str]]) -> None:
    """Check that exactly the required members exist, each with its size and sha256."""
    needed = {form.PEOPLE, *(table.member for table in form.TABLES)}
    if odd := (set(declared) ^ set(archive.sizes)) | (needed - set(declared)):
        raise ArchiveRefused(reason="damaged", name=quoted(min(odd), NAME_SHOWN))
    for name, (size, sha256) in declared.items():
        with _damage_named(name), archive.file.open(name) as member:
            digest, count = hashlib.sha256(), 0
            while chunk := member.read(form.CHUNK_BYTES):
                digest.update(chunk)
                count += len(chunk)
                if count > size:
                    break
        if (count, digest.hexdigest()) != (size, sha256):
            raise ArchiveRefused(reason="damaged", name=name)


def _declared(manifest: dict[str, Any]) -> dict[str, tuple[int, str]]:
    try:
        rows = [(row["name"], row["size"], row["sha256"]) for row in manifest["members"]]
    except (KeyError, TypeError):
        raise ArchiveRefused(reason="unreadable") from None
    if not all(isinstance(name, str) and isinstance(size, int) and isinstance(sha, str) for name, size, sha in rows):
        raise ArchiveRefused(reason="unreadable")
    return {name: (size, sha256) for name, size, sha256 in rows}


def _shown(value: Any) -> str:
    """A number or a text of the manifest as it may be shown and stored."""
    return quoted(str(value)) if isinstance(value, str | int | float) else "?"


def _missing_files(manifest: dict[str, Any]) -> list[str]:
    names = manifest.get("missing_files", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ArchiveRefused(reason="unreadable")
    return names


def _parsed(text: bytes) -> Any:
    """The JSON value, or ``None`` if it is invalid: no numbers that are none or infinite, and not too many values."""
    if sum(map(text.count, (b",", b"[", b"{"))) > form.VALUES_MAX:
        return None
    try:
        return json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        return None


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise ValueError
    return number


@contextmanager
def _damage_named(name: str) -> Iterator[None]:
    """Turn errors of zipfile and zlib for a broken member into ``ArchiveRefused``."""
    try:
        yield
    except DAMAGE:
        raise ArchiveRefused(reason="damaged", name=name[:80]) from None
