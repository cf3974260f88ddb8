"""The files of ``pairwise``: the result, and beside it, while it is made, every answer as it comes.

``OUT.json`` is written whole at the end. Until then the answers are in ``OUT.json.part`` (``answer_log``). Whoever
runs the command again asks only for what neither file holds; the budget counts on.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from scoring.cli.answer_log import AnswerLog, Json, lines_of, spent_in
from scoring.cli.files import CannotUse, read_bytes
from scoring.judging.budget import MemoryLedger, Usage
from scoring.judging.parsing import CHOICES, Judgement

FORMAT: Final = "malpan-pairwise@1"
PART: Final = ".part"


class AnswerFile:
    """The answers that the files of ``output`` hold, and those that come. ``ledger`` has what was spent before."""

    def __init__(self, output: str, judge: Json, ledger: MemoryLedger) -> None:
        """``judge``: everything that can change an answer. Raises ``CannotUse``, also where another judge answered, or
        another process is writing.
        """
        self._found: dict[str, Judgement | None] = {}
        self._judge, self.part = judge, Path(output + PART)
        self._log = AnswerLog(self.part, {"format": FORMAT, "judge": judge}, ledger)
        try:
            spent = [self._read(path) for path in (Path(output), self.part) if path.exists()]
            ledger.add(max(spent, key=lambda usage: usage.requests, default=Usage()))
            self._log.begin({"key": key, **answer_row(answer)} for key, answer in self._found.items())
        except CannotUse:
            self._log.close()
            raise

    def known(self, key: str) -> tuple[Judgement | None] | None:
        return (self._found[key],) if key in self._found else None

    def keep(self, key: str, answer: Judgement | None) -> None:
        self._found[key] = answer
        self._log.add({"key": key, **answer_row(answer)})

    def finish(self) -> None:
        """Remove the file of answers, after the result is written."""
        self._log.remove()

    def close(self) -> None:
        self._log.close()

    def _read(self, path: Path) -> Usage:
        """Take over the answers in ``path``; returns what was spent for them."""
        head, *rows = _rows(path)
        if head.get("format") != FORMAT:
            raise CannotUse("pairwise_no_result", path, "pairwise_another_file")
        if head.get("judge") != self._judge:
            raise CannotUse("pairwise_no_result", path, "pairwise_another_judge")
        for row in rows:
            key, answer = row.get("key"), _answer_of(row)
            if isinstance(key, str) and answer is not None:
                (self._found[key],) = answer
        return spent_in(rows)


def answer_row(answer: Judgement | None) -> dict[str, Any]:
    """An answer as it is in a file; its choice is ``None`` where it stayed unparsable."""
    return {"choice": None, "reason": ""} if answer is None else {"choice": answer.decision, "reason": answer.reason}


def _rows(path: Path) -> list[Json]:
    """The objects of a file of lines, or the head, the spending and the answers of a result; at least one."""
    data = read_bytes(str(path))
    with suppress(ValueError):
        whole = json.loads(data.decode("utf-8", "replace"))
        if isinstance(whole, dict) and isinstance(whole.get("items"), list):
            answers = [answer for item in whole["items"] for answer in item.get("answers", ())]
            return [whole, whole.get("spent", {}), *answers]
    return lines_of(data) or [{}]


def _answer_of(row: Json) -> tuple[Judgement | None] | None:
    choice, reason = row.get("choice", 0), row.get("reason")
    if choice is None:
        return (None,)
    return (Judgement(choice, reason),) if choice in CHOICES and isinstance(reason, str) else None
