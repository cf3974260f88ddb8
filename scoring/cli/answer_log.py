"""A judge's answers in a file of JSON lines, each written as it comes, with what was spent so far.

So a crash, Ctrl-C or a judge that goes away costs nothing that was paid for: whoever runs the command again asks only
for the rest, and the budget counts on. One process at a time writes a file; a second one is told so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TextIO

from filelock import FileLock, Timeout

from scoring.cli.files import CannotUse
from scoring.judging.budget import MemoryLedger, Usage

Json = Mapping[str, Any]
_NEW: Final = ".new"


class AnswerLog:
    """The file at ``path``, whose first line is ``head``. ``ledger`` counts what is spent."""

    def __init__(self, path: Path, head: Json, ledger: MemoryLedger) -> None:
        """Lock ``path`` for this process. Raises ``CannotUse``."""
        self.path, self._head, self._ledger = path, head, ledger
        self._stream: TextIO | None = None
        self._lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=0)
        try:
            self._lock.acquire()
        except Timeout as error:
            raise CannotUse("answers_in_use", path, "answers_another_process") from error
        except OSError as error:
            raise self._cannot_write(error) from error

    def begin(self, rows: Iterable[Json]) -> None:
        """Write what is known anew, as the last line may be half of one, and go on after it. Raises ``CannotUse``."""
        if self._stream is not None:
            self._stream.close()
        partial = self.path.with_name(self.path.name + _NEW)
        try:
            with partial.open("w", encoding="utf-8") as stream:
                self._write(stream, self._head)
                self._write(stream, asdict(self._ledger.usage()))
                for row in rows:
                    self._write(stream, row)
            partial.replace(self.path)
            self._stream = self.path.open("a", encoding="utf-8")
        except OSError as error:
            raise self._cannot_write(error) from error

    def add(self, row: Json) -> None:
        """Write an answer that just came, with what was spent until now. Raises ``CannotUse``."""
        assert self._stream is not None
        self._write(self._stream, {**row, **asdict(self._ledger.usage())})

    def close(self) -> None:
        """End the file with what was spent, now that nothing is on its way. Raises nothing: there may be an error."""
        if self._stream is not None:
            with suppress(CannotUse):
                self._write(self._stream, asdict(self._ledger.usage()))
            with suppress(OSError):
                self._stream.close()
        self._release()

    def remove(self) -> None:
        """Remove the file, whose answers are elsewhere now."""
        if self._stream is not None:
            self._stream.close()
        self.path.unlink(missing_ok=True)
        self._release()

    def _release(self) -> None:
        with suppress(OSError):
            Path(self._lock.lock_file).unlink(missing_ok=True)  # while it is held: nobody holds a file without a name
        self._lock.release()

    def _write(self, stream: TextIO, row: Json) -> None:
        try:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            stream.flush()
        except OSError as error:
            raise self._cannot_write(error) from error

    def _cannot_write(self, error: OSError) -> CannotUse:
        return CannotUse("cannot_write", self.path, error.strerror or str(error))


def lines_of(data: bytes) -> list[Json]:
    """The objects in a file of lines. What is none is left out: a killed process may have written half a line."""
    rows: list[Json] = []
    for line in data.decode("utf-8", "replace").splitlines():
        with suppress(ValueError):
            row = json.loads(line)
            rows += [row] if isinstance(row, dict) else []
    return rows


def spent_in(rows: Iterable[Json]) -> Usage:
    """What was spent when the last of ``rows`` that says so was written, requests that were on their way included."""
    spent = Usage()
    for row in rows:
        requests, tokens = row.get("requests"), row.get("tokens")
        if isinstance(requests, int) and isinstance(tokens, int):
            spent = Usage(requests, tokens)
    return spent
