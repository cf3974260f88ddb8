"""A zip archive of frames, unpacked into a folder that ``scoring.media.frames_of`` reads.

An archive is not trusted: names that leave the folder, links, encrypted entries, entries that are no images and
anything above the limits are refused, and the real size of an entry is counted while it is unpacked, whatever its
header claims. Entries are stored or deflated: what else zipfile knows it unpacks without a limit, a megabyte of bzip2
to gigabytes of memory at once. The folder is named by the SHA-256 of the archive and gets its name only when it is
complete, so an archive is unpacked once.
"""

from __future__ import annotations

import os
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar, Final

from filelock import FileLock

from scoring.errors import Message, quoted
from scoring.media import MediaFault, MediaNotFound, is_hidden, is_image_name
from scoring.media import file_sha256 as sha256_of

# What zipfile raises for a damaged archive: its own error, zlib's, offsets outside the file, what it does not support.
_UNREADABLE: Final = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError)
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
CHUNK_BYTES: Final = 1024 * 1024
_DEPTH: Final = 2  # <id>.jpg or <id>/<frame>.jpg
_UTF8_NAME: Final = 0x800
_ENCRYPTED: Final = 0x1
_NAME_BYTES: Final = 255
_CHECKOUT: Final = Path(__file__).resolve().parents[2]


class ArchiveBroken(MediaFault):
    code: ClassVar[str] = "media_archive_broken"
    words: ClassVar[Message] = Message(
        "프레임 압축 파일을 zip으로 읽을 수 없습니다({what}). 압축을 다시 만들어 주십시오.",
        "The archive of frames cannot be read as a zip ({what}). Make the archive again.",
    )


class ArchiveUnsafe(MediaFault):
    code: ClassVar[str] = "media_archive_unsafe"
    words: ClassVar[Message] = Message(
        "프레임 압축 파일의 '{name}'은(는) 받을 수 없습니다: 이미지(jpg, png, webp)만 <id>.jpg 또는 "
        "<id>/<프레임>.jpg로, 링크나 암호 없이 넣어 주십시오.",
        "The archive of frames holds '{name}', which is not accepted: put in images (jpg, png, webp) only, as <id>.jpg "
        "or <id>/<frame>.jpg, without links or encryption.",
    )


class ArchiveTooLarge(MediaFault):
    code: ClassVar[str] = "media_archive_too_large"
    words: ClassVar[Message] = Message(
        "프레임 압축 파일이 상한을 넘습니다: 이미지 {files}장, 한 장 {file_mib}MiB, 모두 {total_mib}MiB까지입니다. "
        "이미지를 줄여 다시 올려 주십시오.",
        "The archive of frames is above the limits: {files} images, {file_mib} MiB each, {total_mib} MiB in all. Make "
        "the images smaller and try again.",
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of an archive: number of images, bytes of one, bytes of all."""

    files: int = 50_000
    file_bytes: int = 32 * 1024 * 1024
    total_bytes: int = 4 * 1024 * 1024 * 1024

    def exceeded(self) -> ArchiveTooLarge:
        mib = 1024 * 1024
        return ArchiveTooLarge(files=self.files, file_mib=self.file_bytes // mib, total_mib=self.total_bytes // mib)


LIMITS: Final = Limits()
INCOMING: Final = "incoming-"  # the folder beside the others in which an archive is unpacked begins so


def media_folder(path: Path, cache: Path | None = None, limits: Limits = LIMITS) -> Path:
    """``path`` itself if it is a folder; the folder a zip archive was unpacked to, below ``cache``, if it is one.

    Raises ``MediaFault``: ``MediaNotFound``, ``ArchiveBroken``, ``ArchiveUnsafe``, ``ArchiveTooLarge``.
    """
    if path.is_dir():
        return path
    if not path.is_file():
        raise MediaNotFound(path=str(path))
    with path.open("rb") as file:
        return unpacked(file, sha256_of(path), cache or media_root(), limits)


def media_root() -> Path:
    """Where archives are unpacked: ``MALPAN_MEDIA``; else ``var/media`` of a checkout; else the user's cache folder."""
    if configured := os.environ.get("MALPAN_MEDIA"):
        return Path(configured).expanduser().resolve()
    if (_CHECKOUT / "manage.py").is_file():
        return _CHECKOUT / "var" / "media"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "malpan" / "media"


def unpacked(archive: IO[bytes], sha256: str, cache: Path, limits: Limits = LIMITS) -> Path:
    """The folder ``cache/<sha256>`` with the frames of ``archive``; the first process that asks for it unpacks them."""
    target = cache / sha256
    if target.is_dir():
        return target
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(cache / f"{sha256}.lock"):
        if not target.is_dir():
            with tempfile.TemporaryDirectory(prefix=INCOMING, dir=cache) as temporary:
                fresh = Path(temporary) / "frames"
                extract(archive, fresh, limits)
                fresh.rename(target)
    return target


def extract(archive: IO[bytes], folder: Path, limits: Limits = LIMITS) -> None:
    """Unpack the images of ``archive`` into the new ``folder``. Raises as ``media_folder``."""
    folder.mkdir(mode=0o700, parents=True)
    room = limits.total_bytes
    try:
        with zipfile.ZipFile(archive) as opened:
            for entry, parts in _images(opened, limits):
                target = folder.joinpath(*parts)
                target.parent.mkdir(mode=0o700, exist_ok=True)
                with opened.open(entry) as source:
                    room -= _copy(source, target, min(room, limits.file_bytes), limits)
    except _UNREADABLE as error:
        raise ArchiveBroken(what=quoted(str(error) or type(error).__name__)) from error


def _images(archive: zipfile.ZipFile, limits: Limits) -> Iterator[tuple[zipfile.ZipInfo, tuple[str, ...]]]:
    """The entries to unpack with their target paths, without hidden ones and folders. All names are checked first."""
    found: dict[tuple[str, ...], zipfile.ZipInfo] = {}
    for entry in archive.infolist():
        name = _name(entry)
        parts = tuple(name.rstrip("/").split("/"))
        if any(map(is_hidden, parts)) and not {".", ".."} & set(parts):
            continue
        _refuse_unsafe(entry, name, parts, is_taken=parts in found)
        if entry.compress_type not in _METHODS:
            raise ArchiveBroken(what=f"'{quoted(name)}': compression method {entry.compress_type}")
        if not _is_folder(entry):
            found[parts] = entry
        if len(found) > limits.files:
            raise limits.exceeded()
    if sum(entry.file_size for entry in found.values()) > limits.total_bytes:  # before anything is written
        raise limits.exceeded()
    folders = {parts[:-1] for parts in found}
    for parts, entry in found.items():
        if parts in folders:  # "a.jpg" and "a.jpg/1.jpg" cannot both be on a disk
            raise ArchiveUnsafe(name=quoted("/".join(parts)))
        yield entry, parts


def _refuse_unsafe(entry: zipfile.ZipInfo, name: str, parts: tuple[str, ...], *, is_taken: bool) -> None:
    is_folder = _is_folder(entry)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    is_plain = kind in (0, stat.S_IFREG) or (is_folder and kind == stat.S_IFDIR)
    is_sound = all(_is_sound(part) for part in parts) and len(parts) <= _DEPTH - is_folder
    is_wanted = is_folder or is_image_name(parts[-1])
    if not (is_plain and is_sound and is_wanted) or is_taken or entry.flag_bits & _ENCRYPTED:
        raise ArchiveUnsafe(name=quoted(name))


def _is_folder(entry: zipfile.ZipInfo) -> bool:
    """As ``is_dir``, which fails for an entry without a name."""
    return entry.filename.endswith("/")


def _is_sound(part: str) -> bool:
    return (
        part not in ("", ".", "..")
        and not any(unicodedata.category(character) in ("Cc", "Cs") for character in part)
        and ":" not in part
        and len(part.encode("utf-8", "surrogatepass")) <= _NAME_BYTES
    )


def _name(entry: zipfile.ZipInfo) -> str:
    """The name of an entry in NFC, with ``/`` between its parts.

    Without the flag for UTF-8, zipfile decodes as cp437; but macOS writes UTF-8 there, and a Korean Windows CP949.
    """
    name = entry.filename
    if not entry.flag_bits & _UTF8_NAME and not name.isascii():
        raw = name.encode("cp437")
        for encoding in ("utf-8", "cp949"):
            try:
                name = raw.decode(encoding)
                break
            except UnicodeDecodeError:
                continue
    return unicodedata.normalize("NFC", name.replace("\\", "/"))


def _copy(source: IO[bytes], target: Path, most: int, limits: Limits) -> int:
    """Write ``source`` to the new file ``target``, at most ``most`` bytes of it. Returns how many there were."""
    size = 0
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        while chunk := source.read(CHUNK_BYTES):
            size += len(chunk)
            if size > most:
                raise limits.exceeded()
            file.write(chunk)
    return size
