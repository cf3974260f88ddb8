"""Which store an address names: a folder of this machine, or ``s3://bucket/prefix``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from django.conf import settings

from malpan.core.storage.local_disk import LocalDisk

if TYPE_CHECKING:
    from malpan.core.storage.stores import Store

S3: Final = "s3://"


def configured() -> Store:
    """The store of this site."""
    return store_at(configured_address())


def configured_address() -> str:
    return settings.MALPAN_STORAGE or str(settings.PRIVATE_ROOT)


def store_at(address: str) -> Store:
    if not address.startswith(S3):
        return LocalDisk(Path(address))
    from malpan.core.storage.s3 import S3Store  # a site on local disks does not load boto3

    bucket, _, prefix = address.removeprefix(S3).partition("/")
    return S3Store(bucket, prefix.strip("/"))


def same_place(one: str, other: str) -> bool:
    """Whether two addresses name one store."""
    return _plain(one) == _plain(other)


def _plain(address: str) -> str:
    return address.rstrip("/") if address.startswith(S3) else str(Path(address).resolve())
