"""The files of ``pairwise``: the result, and beside it, while it is made, every answer as it comes.

``OUT.json`` is written whole at the end. Until then the answers stand in ``OUT.json.part``, a line each, with what was
spent so far. Whoever runs the command again asks only for what neither file holds; the budget counts on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TextIO

from scoring.cli.files import CannotUse, read_bytes
from scoring.judging.budget import MemoryLedger, Usage
from scoring.judging.parsing import CHOICES, Judgement

FORMAT: Final = "malpan-pairwise@1"
PART: Final = ".part"

Json = Mapping[str, Any]


class AnswerFile:
    """The answers that the files of ``output`` hold, and those that come. ``ledger`` has what was spent before."""

    def __init__(self, output: str, judge: Json, ledger: MemoryLedger) -> None:
        """``judge``: everything that can change an answer. Raises ``CannotUse``, also where another judge answered."""
        self._found: dict[str, Judgement | None] = {}
        self._judge, self._ledger, self.part = judge, ledger, Path(output + PART)
        spent = Usage()
        for path in (Path(output), self.part):
            if path.exists():
                spent = max(spent, self._read(path), key=lambda usage: usage.requests)
        ledger.add(spent)
        self.known_before = len(self._found)
        self._stream = self._begin()

    def known(self, key: str) -> tuple[Judgement | None] | None:
        return (self._found[key],) if key in self._found else None

    def keep(self, key: str, answer: Judgement | None) -> None:
        self._found[key] = answer
        usage = self._ledger.usage()
        row = {"key": key, **answer_row(answer), "requests": usage.requests, "tokens": usage.tokens}
        self._write(self._stream, row)  # raises ``CannotUse``

    def finish(self) -> None:
        """Remove the file of answers, after the result is written."""
        self._stream.close()
        self.part.unlink(missing_ok=True)

    def close(self) -> None:
        """End the file with what was spent, now that nothing is on its way. Raises nothing: there was an error."""
        with suppress(CannotUse):
            self._write(self._stream, asdict(self._ledger.usage()))
        with suppress(OSError):
            self._stream.close()

    def _begin(self) -> TextIO:
        """Write what is known of this judge anew, as the last line may be half of one, and go on after it."""
        usage = self._ledger.usage()
        partial = self.part.with_name(f"{self.part.name}.new")
        try:
            with partial.open("w", encoding="utf-8") as stream:
                self._write(stream, {"format": FORMAT, "judge": self._judge})
                self._write(stream, asdict(usage))
                for key, answer in self._found.items():
                    row = {"key": key, **answer_row(answer), "requests": usage.requests, "tokens": usage.tokens}
                    self._write(stream, row)
            partial.replace(self.part)
            return self.part.open("a", encoding="utf-8")
        except OSError as error:
            raise CannotUse("cannot_write", self.part, error.strerror or str(error)) from error

    def _write(self, stream: TextIO, row: Json) -> None:
        try:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            stream.flush()
        except OSError as error:
            raise CannotUse("cannot_write", self.part, error.strerror or str(error)) from error

    def _read(self, path: Path) -> Usage:
        """Take over the answers in ``path``; returns what was spent for them."""
        head, *rows = _rows(path)
        if head.get("format") != FORMAT:
            raise CannotUse("pairwise_no_result", path, "pairwise_another_file")
        if head.get("judge") != self._judge:
            raise CannotUse("pairwise_no_result", path, "pairwise_another_judge")
        spent = Usage()
        for row in rows:
            key, answer = row.get("key"), _answer_of(row)
            if isinstance(key, str) and answer is not None:
                (self._found[key],) = answer
            spent = _spent(row) or spent
        return spent


def answer_row(answer: Judgement | None) -> dict[str, Any]:
    """An answer as it stands in a file; its choice is ``None`` where it stayed unparsable."""
    return {"choice": None, "reason": ""} if answer is None else {"choice": answer.decision, "reason": answer.reason}


def _rows(path: Path) -> Iterator[Json]:
    """The objects of a file of lines, or the head, the spending and the answers of a result; at least one."""
    data = read_bytes(str(path)).decode("utf-8", "replace")
    with suppress(ValueError):
        whole = json.loads(data)
        if isinstance(whole, dict) and isinstance(whole.get("items"), list):
            yield whole
            yield whole.get("spent", {})
            yield from (answer for item in whole["items"] for answer in item.get("answers", ()))
            return
    rows = []
    for line in data.splitlines():
        with suppress(ValueError):  # of a process that was killed while it wrote
            row = json.loads(line)
            rows += [row] if isinstance(row, dict) else []
    yield from rows or [{}]


def _answer_of(row: Json) -> tuple[Judgement | None] | None:
    choice, reason = row.get("choice", 0), row.get("reason")
    if choice is None:
        return (None,)
    return (Judgement(choice, reason),) if choice in CHOICES and isinstance(reason, str) else None


def _spent(row: Json) -> Usage | None:
    """What was spent when a row was written, requests that were on their way included."""
    requests, tokens = row.get("requests"), row.get("tokens")
    return Usage(requests, tokens) if isinstance(requests, int) and isinstance(tokens, int) else None
