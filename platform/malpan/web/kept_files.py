"""Long answers that are the same for everybody, made once for each state and kept in files of the process.

The files have no names, so that nothing of them is left whenever the process ends.
"""

from __future__ import annotations

import io
import os
import tempfile
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, cast

PATIENCE: Final = 5.0  # seconds for which a request waits, with its thread, until another's file is made


class KeptFiles:
    """The newest ``count`` files, by what names their content."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._files: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.Lock()
        self._making = threading.Lock()

    def get(self, name: str) -> BinaryIO | None:
        """The file at its start; the caller closes it."""
        with self._lock:
            file = self._files.get(name)
            if file is None:
                return None
            self._files.move_to_end(name)
            return _opened(file)

    @contextmanager
    def one_at_a_time(self) -> Iterator[bool]:
        """Inside, nobody else of the process makes a file; ``False`` where somebody still does after ``PATIENCE``."""
        is_mine = self._making.acquire(timeout=PATIENCE)
        try:
            yield is_mine
        finally:
            if is_mine:
                self._making.release()

    def keep(self, name: str, parts: Iterable[str]) -> BinaryIO:
        """A new file of ``parts``, as ``get`` gives it. The oldest is let go when its last reader has closed it."""
        kept = _Kept()
        for part in parts:
            kept.file.write(part.encode())
        kept.file.flush()
        with self._lock:
            self._files[name] = kept
            while len(self._files) > self._count:
                self._files.popitem(last=False)
        return _opened(kept)


class _Kept:
    """A file without a name that is closed when nobody refers to it any more, and at the end of the process."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - closed below
        weakref.finalize(self, self.file.close)

    def fileno(self) -> int:
        return self.file.fileno()


class _Reading(io.RawIOBase):
    """A file with a place of its own in it: several may read one at once. It is closed with the last of them."""

    def __init__(self, file: _Kept) -> None:
        self._file = file
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        bases = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: os.fstat(self._file.fileno()).st_size}
        self._place = bases[whence] + offset
        return self._place

    def readinto(self, buffer: Any) -> int:
        found = os.pread(self._file.fileno(), memoryview(buffer).nbytes, self._place)
        memoryview(buffer)[: len(found)] = found
        self._place += len(found)
        return len(found)


def _opened(file: _Kept) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_Reading(file), 1 << 16))
