"""Reference answers under a passphrase: scrypt for the key, AES-256-GCM for the bytes.

A file is cut into pieces of ``CHUNK_BYTES``, each sealed by itself, so that a file of any size passes through little
memory. The nonce of a piece is a random prefix of the file (7 bytes), the piece's number (4) and whether it is the last
(1); the member's name is sealed in, too. A piece changed, moved, dropped or put under another name does not open (the
STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizár, 2015).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import IO, Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from malpan.archive.errors import ArchiveRefused
from malpan.archive.format import CHUNK_BYTES

PASSPHRASE_MIN: Final = 12
_PREFIX_BYTES: Final = 7
_TAG_BYTES: Final = 16
_KEY_BYTES: Final = 32
_COST_MAX: Final = 2**20  # of an archive that is read: 1 GiB of memory at r=8


@dataclass(frozen=True, slots=True)
class Lock:
    """How the key comes from the passphrase; stands in the manifest. ``salt`` in hex; 128 MiB of memory at n=2^17."""

    salt: str
    n: int = 2**17
    r: int = 8
    p: int = 1
    cipher: str = "AES-256-GCM, STREAM"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def new_lock() -> Lock:
    return Lock(salt=os.urandom(16).hex())


def lock_from_json(body: Any) -> Lock:
    """The lock of a manifest. Raises ``ArchiveRefused`` for one that is not ours or would eat the machine."""
    try:
        lock = Lock(**body)
        bytes.fromhex(lock.salt)
    except (TypeError, ValueError):
        raise ArchiveRefused(reason="unreadable") from None
    if lock.cipher != Lock("").cipher or lock.r != 8 or lock.p != 1 or not 2**14 <= lock.n <= _COST_MAX:
        raise ArchiveRefused(reason="unreadable")
    return lock


def key_of(lock: Lock, passphrase: str) -> bytes:
    """The key of ``passphrase``; takes about half a second, on purpose."""
    derive = Scrypt(salt=bytes.fromhex(lock.salt), length=_KEY_BYTES, n=lock.n, r=lock.r, p=lock.p)
    return derive.derive(passphrase.encode())


def sealed(file: IO[bytes], *, key: bytes, name: str) -> Iterator[bytes]:
    """The bytes of ``file`` sealed under ``key`` as the member ``name``, piece by piece."""
    cipher, prefix = AESGCM(key), os.urandom(_PREFIX_BYTES)
    yield prefix
    piece, number = file.read(CHUNK_BYTES), 0
    while True:
        following = file.read(CHUNK_BYTES)
        yield cipher.encrypt(_nonce(prefix, number, is_last=not following), piece, name.encode())
        if not following:
            return
        piece, number = following, number + 1


def opened(file: IO[bytes], *, key: bytes, name: str) -> Iterator[bytes]:
    """What ``sealed`` sealed, piece by piece. Raises ``ArchiveRefused`` (``passphrase``): wrong key, or tampered."""
    cipher, prefix = AESGCM(key), _read(file, _PREFIX_BYTES)
    piece, number = _read(file, CHUNK_BYTES + _TAG_BYTES), 0
    while True:
        following = _read(file, CHUNK_BYTES + _TAG_BYTES)
        try:
            yield cipher.decrypt(_nonce(prefix, number, is_last=not following), piece, name.encode())
        except (InvalidTag, ValueError):
            raise ArchiveRefused(reason="passphrase") from None
        if not following:
            return
        piece, number = following, number + 1


def _nonce(prefix: bytes, number: int, *, is_last: bool) -> bytes:
    return prefix + number.to_bytes(4, "big") + bytes([is_last])


def _read(file: IO[bytes], size: int) -> bytes:
    """Exactly ``size`` bytes, fewer only at the end: a member of a zip may give less at a time."""
    parts = []
    while size and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
