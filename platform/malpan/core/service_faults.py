"""Which fault of ours an error of the database, of Redis or of the disk is, for people and for operators."""

from __future__ import annotations

import errno
import logging
from typing import Final

from django.db import InterfaceError, OperationalError
from psycopg.errors import DiskFull
from redis.exceptions import RedisError

from malpan.core.errors import CacheAway, DatabaseAway, DatabaseFull, StorageFull, SystemFault

NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT})

logger = logging.getLogger(__name__)


def fault_of(error: BaseException) -> SystemFault | None:
    """The fault that ``error`` is; ``None`` for an error of the program."""
    if isinstance(error, OperationalError | InterfaceError):
        return DatabaseFull() if is_full(error) else DatabaseAway()
    if isinstance(error, RedisError):
        return CacheAway()
    return StorageFull() if isinstance(error, OSError) and error.errno in NO_ROOM else None


def is_full(error: BaseException) -> bool:
    """Whether the database says that its disk has no room left: it is there, and refuses what needs room."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, DiskFull):
        cause = cause.__cause__
    return cause is not None


def log_fault(fault: SystemFault, error: BaseException) -> None:
    """Tell operators which service it is."""
    logger.error(CAUSES[type(fault)], exc_info=error)


CAUSES: Final[dict[type[SystemFault], str]] = {
    DatabaseAway: "the database is unreachable",
    DatabaseFull: "the disk of the database has no room left",
    CacheAway: "Redis is unreachable",
    StorageFull: "a disk of this machine has no room left",
}
