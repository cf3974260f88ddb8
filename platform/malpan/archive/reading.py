"""An uploaded archive: nothing in it is trusted before it is checked.

Only the kinds of names in ``archive.format`` are allowed, so none leads out of a folder. The sizes in the manifest
limit what is unpacked, and are themselves limited; every member must have the sha256 in the manifest.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Final

from malpan.archive import format as form
from malpan.archive.errors import ArchiveRefused

# What zipfile and its decompressors raise for a damaged or foreign file. ``ValueError``: an offset before the start.
DAMAGE: Final = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, OSError, RuntimeError, ValueError),  # NotImplementedError is a RuntimeError, UnicodeError a ValueError
)


@dataclass(frozen=True, slots=True)
class Archive:
    """A checked archive. ``sizes``: of every member except the manifest, in bytes, unpacked."""

    file: zipfile.ZipFile
    manifest: dict[str, Any]
    sizes: dict[str, int]

    def lines(self, name: str) -> Iterator[dict[str, Any]]:
        """The rows of a member, numbered from 1. Raises ``ArchiveRefused`` (``rows``) for a line that is no row."""
        with self.file.open(name) as member:
            number = 0
            while line := member.readline(form.LINE_MAX_BYTES + 1):
                number += 1
                row = _parsed(line)
                if len(line) > form.LINE_MAX_BYTES or not isinstance(row, dict) or row.get("id") != number:
                    raise ArchiveRefused(reason="rows", table=name)
                yield row

    def names(self, folder: str) -> list[str]:
        """The members in ``folder``."""
        return [name for name in self.sizes if name.startswith(f"{folder}/")]


def open_archive(file: IO[bytes]) -> Archive:
    """Check the archive in ``file`` (seekable) from the first byte to the last. Raises ``ArchiveRefused``."""
    try:
        opened = zipfile.ZipFile(file)
    except DAMAGE:
        raise ArchiveRefused(reason="unreadable") from None
    members = _checked_names(opened)
    manifest = _manifest(opened, members.pop(form.MANIFEST, None))
    _check_caps(file, members)
    archive = Archive(opened, manifest, {name: info.file_size for name, info in members.items()})
    _check_contents(archive)
    return archive


def _checked_names(opened: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    infos = opened.infolist()
    if len(infos) > form.MEMBERS_MAX:
        raise ArchiveRefused(reason="too_large")
    members: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        if info.filename in members or not (info.filename == form.MANIFEST or form.is_member_name(info.filename)):
            raise ArchiveRefused(reason="name", name=info.filename[:80])
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
    if body.get("version") != form.VERSION:
        raise ArchiveRefused(reason="version", version=str(body.get("version"))[:20])
    return body


def _check_caps(file: IO[bytes], members: dict[str, zipfile.ZipInfo]) -> None:
    """Refuse an archive that by its own headers would unpack to more than the limits."""
    packed = file.seek(0, 2)
    unpacked = sum(info.file_size for info in members.values())
    is_bomb = unpacked > form.RATIO_FREE_BYTES and unpacked > form.RATIO_MAX * packed
    if unpacked > form.TOTAL_MAX_BYTES or is_bomb:
        raise ArchiveRefused(reason="too_large")


def _check_contents(archive: Archive) -> None:
    """Check that exactly the required members exist, each with its size and sha256."""
    declared = _declared(archive.manifest)
    needed = {form.PEOPLE, *(table.member for table in form.TABLES)}
    if odd := (set(declared) ^ set(archive.sizes)) | (needed - set(declared)):
        raise ArchiveRefused(reason="damaged", name=min(odd)[:80])
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
        return {row["name"]: (int(row["size"]), str(row["sha256"])) for row in manifest["members"]}
    except (KeyError, TypeError, ValueError):
        raise ArchiveRefused(reason="unreadable") from None


def _parsed(text: bytes) -> Any:
    """The JSON value, or ``None`` if it is invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


@contextmanager
def _damage_named(name: str) -> Iterator[None]:
    """Turn errors of zipfile and zlib for a broken member into ``ArchiveRefused``."""
    try:
        yield
    except DAMAGE:
        raise ArchiveRefused(reason="damaged", name=name[:80]) from None
