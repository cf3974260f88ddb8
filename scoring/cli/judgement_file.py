"""The answers of a judge that ``score`` asked, in a file: ``OUT.json.answers``, or the one that ``--answers`` names.

They are keyed as in the site's own store, by metric, signature and texts, so that any later scoring asks only for what
is new, whatever file it is of; several judges may share a file. It holds no text, only hashes (without a secret: a
short text could be guessed). That an answer stayed unparsable is kept until the scoring is done; the next asks again.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from scoring.cli.answer_log import AnswerLog, lines_of, spent_in
from scoring.cli.files import CannotUse, read_bytes
from scoring.judging.budget import MemoryLedger
from scoring.metrics import METRICS, RemoteMetric
from scoring.running.pair_values import Pair, as_bytes

FORMAT: Final = "malpan-judgements@1"
SUFFIX: Final = ".answers"


class JudgementFile:
    """Values of the metrics that a server computes, in the file at ``path``; other metrics' are neither kept nor known.

    ``ledger`` has what was spent before.
    """

    def __init__(self, path: str, ledger: MemoryLedger) -> None:
        """Raises ``CannotUse``, also where the file is of another kind, or another process is writing."""
        self._values: dict[str, tuple[str, float]] = {}  # by key: the metric and its value
        self.path = Path(path)
        self._log = AnswerLog(self.path, {"format": FORMAT}, ledger)
        try:
            if self.path.exists():
                ledger.add(spent_in(self._read()))
            self._log.begin(self._rows())
        except CannotUse:
            self._log.close()
            raise

    def __len__(self) -> int:
        return len(self._values)

    def get(self, metric: str, signature: str, pairs: Sequence[Pair]) -> dict[Pair, float]:
        if not METRICS[metric].is_remote:
            return {}
        known = {pair: self._values.get(key_of(metric, signature, pair)) for pair in pairs}
        return {pair: found[1] for pair, found in known.items() if found is not None}

    def put(self, metric: str, signature: str, values: Mapping[Pair, float]) -> None:
        if not METRICS[metric].is_remote:
            return
        for pair, value in values.items():
            key = key_of(metric, signature, pair)
            self._values[key] = metric, value
            self._log.add(_row(key, metric, value))

    def finish(self) -> None:
        """Forget what stayed unparsable, now that the result is written: another scoring asks again."""
        self._values = {key: found for key, found in self._values.items() if _is_answer(*found)}
        self._log.begin(self._rows())
        self._log.close()

    def close(self) -> None:
        """Keep everything as it is for the next attempt. Raises nothing."""
        self._log.close()

    def _rows(self) -> Iterator[dict[str, Any]]:
        return (_row(key, *found) for key, found in self._values.items())

    def _read(self) -> list[Mapping[str, Any]]:
        """Take over the answers in the file; returns its rows."""
        head, *rows = lines_of(read_bytes(str(self.path))) or [{}]
        if head.get("format") != FORMAT:
            raise CannotUse("answers_unusable", self.path, "answers_another_file")
        for row in rows:
            key, metric, value = row.get("key"), row.get("metric"), row.get("value")
            if isinstance(key, str) and isinstance(metric, str) and isinstance(value, float) and math.isfinite(value):
                self._values[key] = metric, value
        return rows


def key_of(metric: str, signature: str, pair: Pair) -> str:
    """The key of ``pair`` for this metric: a SHA-256 in hexadecimal digits."""
    return hashlib.sha256(b"".join(as_bytes(metric, signature, *pair))).hexdigest()


def _row(key: str, metric: str, value: float) -> dict[str, Any]:
    return {"key": key, "metric": metric, "value": value}


def _is_answer(metric: str, value: float) -> bool:
    """Whether the judge gave ``value``; that of a metric which is not known here is kept."""
    kind = METRICS.get(metric)
    return kind is None or not issubclass(kind, RemoteMetric) or kind.is_answer(value)
