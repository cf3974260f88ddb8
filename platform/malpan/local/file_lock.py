"""Advisory file locks: the kernel releases them when the process ends, however it ends."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from pathlib import Path

_POLL_SECONDS = 0.05


class FileLock:
    """``flock`` on ``path``. Many may hold it in shared mode, or one exclusively; unlike a pid file it cannot be stale.

    The descriptor is not inherited by programs this process starts unless ``inheritable`` is set: then the lock lasts
    until the last of them has ended.
    """

    def __init__(self, path: Path, *, inheritable: bool = False) -> None:
        self.path = path
        self._inheritable = inheritable
        self._descriptor: int | None = None

    @property
    def descriptor(self) -> int:
        """The open descriptor of a held lock; raises ``RuntimeError`` if it is not held."""
        if self._descriptor is None:
            raise RuntimeError(f"{self.path} is not held")
        return self._descriptor

    def acquire(self, *, shared: bool = False, timeout: float = 0) -> bool:
        """Acquire the lock, waiting at most ``timeout`` seconds; returns whether it was acquired."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        deadline = time.monotonic() + timeout
        while not _try_lock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX):
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return False
            time.sleep(_POLL_SECONDS)
        os.set_inheritable(descriptor, self._inheritable)
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Release the lock; does nothing if it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def is_taken(self, *, exclusively: bool = False) -> bool:
        """Whether any process holds the lock now (``exclusively``: in exclusive mode)."""
        probe = FileLock(self.path)
        if probe.acquire(shared=exclusively):
            probe.release()
            return False
        return True


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise
    return True
