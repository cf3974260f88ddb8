"""Reference answers encrypted with a passphrase, in the age format (age-encryption.org/v1), by pyrage.

An archive has its own key. Its files are encrypted to that key, and the manifest contains the key, encrypted with the
passphrase: so the slow derivation from the passphrase is done once, and files of any size need little memory. A changed
or truncated file cannot be decrypted; a swapped one gives bytes with another sha256. Without this program: ``base64
-d`` the key, ``age -d`` it, and decrypt the files with ``age -d -i``.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO, Any, Final, TypeAlias

import pyrage

from malpan.archive.errors import ArchiveRefused

PASSPHRASE_MIN: Final = 12
WORK_MAX: Final = 20  # log2 of scrypt's rounds, of which each takes a kilobyte; ``locked_key`` takes about a second's
_HEAD: Final = re.compile(rb"age-encryption\.org/v1\n-> scrypt [A-Za-z0-9+/]{22} ([0-9]{1,2})\n")
Key: TypeAlias = pyrage.x25519.Identity


def new_key() -> Key:
    return Key.generate()


def locked_key(key: Key, passphrase: str) -> dict[str, str]:
    """The key for the manifest; takes about a second."""
    return {"key": b64encode(pyrage.passphrase.encrypt(str(key).encode(), passphrase)).decode()}


def unlocked_key(body: Any, passphrase: str) -> Key:
    """The key of a manifest. Raises ``ArchiveRefused``: ``unreadable`` if there is none, or one whose passphrase would
    take gigabytes to try, or ``passphrase``.
    """
    try:
        sealed = b64decode(body["key"], validate=True)
    except (TypeError, KeyError, ValueError):
        raise ArchiveRefused(reason="unreadable") from None
    head = _HEAD.match(sealed)
    if head is None or int(head[1]) > WORK_MAX:
        raise ArchiveRefused(reason="unreadable")
    try:
        return Key.from_str(pyrage.passphrase.decrypt(sealed, passphrase).decode())
    except (pyrage.DecryptError, pyrage.IdentityError, ValueError):
        raise ArchiveRefused(reason="passphrase") from None


@contextmanager
def encrypted(file: IO[bytes], key: Key) -> Iterator[IO[bytes]]:
    """``file`` encrypted with ``key``, as a file to read."""
    with TemporaryFile() as sealed:
        pyrage.encrypt_io(file, sealed, [key.to_public()])
        sealed.seek(0)
        yield sealed


@contextmanager
def decrypted(file: IO[bytes], key: Key) -> Iterator[IO[bytes]]:
    """The decrypted content, as a file without a name. Raises ``ArchiveRefused`` (``passphrase``) if it was changed."""
    with TemporaryFile() as opened:
        try:
            pyrage.decrypt_io(file, opened, [key])
        except (pyrage.DecryptError, OSError, ValueError):
            raise ArchiveRefused(reason="passphrase") from None
        opened.seek(0)
        yield opened
