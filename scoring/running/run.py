"""The running of a score's metrics: what is known is not computed, and CPU metrics run beside the neural ones.

While the neural metrics wait for the GPU in the calling thread, one background thread runs the others. A second one
would gain little: they are Python and hold its global lock. What the metrics give does not depend on who ran beside
whom. Stores of values are used from the calling thread alone, and no thread outlives ``run_metrics``.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from scoring.errors import ScoringFault
from scoring.metrics import CorpusMetric, Metric, PairMetric, PairProgress, Row
from scoring.recipes import Pairs, Prepared
from scoring.records import Progress, ProgressCallback
from scoring.running.pair_values import Pair, PairValues

KnownValues = Mapping[tuple[str, str], Mapping[str, float | Sequence[float]]]
KnownOfMetric = Mapping[str, float | Sequence[float]]

NEURAL_METRICS: Final = frozenset({"bertscore", "bleurt", "clipscore"})
PROGRESS_INTERVAL_S: Final = 0.2


class MetricFault(ScoringFault):
    """A metric returned something that is no score: too few values, or one that is not a number."""


@dataclass(slots=True)
class Scored:
    """What the metrics gave: item values, rows of statistics and corpus scores."""

    values: dict[str, dict[str, float]] = field(default_factory=dict)  # pair metric -> item -> value
    rows: dict[str, dict[str, Row]] = field(default_factory=dict)  # corpus metric -> item -> its row
    corpus: dict[str, float] = field(default_factory=dict)  # score name -> value


def run_metrics(
    metrics: Mapping[str, Metric],
    prepared: Prepared,
    hashes: Mapping[str, str],
    *,
    known: KnownValues,
    pair_values: PairValues | None = None,
    progress: ProgressCallback | None = None,
) -> Scored:
    """Run ``metrics`` (by name) on their pairs. ``hashes`` are the metrics' signature hashes.

    Raises ``MetricFault``, and what a metric or ``progress`` raises, in whichever thread.
    """
    tasks: list[_PairTask | _CorpusTask] = []
    for name, metric in metrics.items():
        pairs, kept = prepared.pairs[name], known.get((name, hashes[name]), {})
        if isinstance(metric, CorpusMetric):
            tasks.append(_CorpusTask(metric, pairs, kept))
        else:
            tasks.append(_PairTask(metric, pairs, kept, _OfMetric(pair_values, name, hashes[name])))
    voice = _Voice(progress)
    for task in tasks:
        if task.size and not task.is_open:
            voice.of(task.name)(task.size, task.size)
    _run_all([task for task in tasks if task.is_open], voice)
    scored = Scored()
    for task in tasks:
        task.tell(scored)
    return scored


class _Task(Protocol):
    """The work of one metric: ``run`` computes in any thread, ``keep`` gives the values away in the calling one."""

    name: str
    size: int  # items
    is_open: bool  # whether anything is left to compute

    def run(self, report: PairProgress) -> None: ...

    def keep(self) -> None: ...


class _OfMetric:
    """The part of a store of pair values that is one metric's; nothing where there is no store."""

    def __init__(self, store: PairValues | None, metric: str, signature: str) -> None:
        self._store, self._metric, self._signature = store, metric, signature

    def get(self, pairs: Sequence[Pair]) -> dict[Pair, float]:
        """Finite values of those of ``pairs`` that are known; others that the store may give are not believed."""
        if self._store is None or not pairs:
            return {}
        found = self._store.get(self._metric, self._signature, pairs)
        return {pair: found[pair] for pair in pairs if pair in found and math.isfinite(found[pair])}

    def put(self, values: Mapping[Pair, float]) -> None:
        if self._store is not None and values:
            self._store.put(self._metric, self._signature, values)


class _PairTask:
    """A value for every item: known ones as they are; of the others equal pairs, and pairs of the store, only once.

    Of several references the one with the highest value counts.
    """

    def __init__(self, metric: PairMetric, pairs: Pairs, known: KnownOfMetric, store: _OfMetric) -> None:
        self.name, self.size = metric.name, len(pairs)
        self._metric, self._ids, self._store = metric, pairs.ids, store
        self._known = {
            item: value
            for item in pairs.ids
            if isinstance(value := known.get(item), (int, float)) and math.isfinite(value)
        }
        self._wanted = {
            item: [(reference, candidate) for reference in references]
            for item, references, candidate in zip(pairs.ids, pairs.references, pairs.candidates, strict=True)
            if item not in self._known
        }
        distinct = list(dict.fromkeys(pair for of_item in self._wanted.values() for pair in of_item))
        self._values = store.get(distinct)
        self._missing = [pair for pair in distinct if pair not in self._values]
        self._fresh: dict[Pair, float] = {}
        self.is_open = bool(self._missing)

    def run(self, report: PairProgress) -> None:
        self._fresh = dict(zip(self._missing, score_distinct(self._metric, self._missing, report), strict=True))

    def keep(self) -> None:
        self._store.put(self._fresh)

    def tell(self, scored: Scored) -> None:
        values = self._values | self._fresh
        scored.values[self.name] = {
            item: self._known[item] if item in self._known else max(values[pair] for pair in self._wanted[item])
            for item in self._ids
        }


def score_distinct(metric: PairMetric, pairs: Sequence[Pair], report: PairProgress) -> list[float]:
    """One finite value for each (reference, candidate). Raises ``MetricFault`` if the metric does not give that."""
    report(0, len(pairs))
    values = [float(value) for value in metric.score_pairs([r for r, _ in pairs], [c for _, c in pairs], report)]
    if len(values) != len(pairs):
        raise MetricFault(f"{metric.name} returned {len(values)} values for {len(pairs)} pairs")
    if not all(map(math.isfinite, values)):
        raise MetricFault(f"{metric.name} returned a value that is not a finite number")
    report(len(pairs), len(pairs))
    return values


class _CorpusTask:
    """The row of every item: known ones only if they are all there, as each was made in the light of all."""

    def __init__(self, metric: CorpusMetric, pairs: Pairs, known: KnownOfMetric) -> None:
        self.name, self.size = metric.name, len(pairs)
        self._metric, self._pairs = metric, pairs
        self.is_open = not pairs.ids or not all(_is_sound(known.get(item)) for item in pairs.ids)
        self._rows = {} if self.is_open else {item: _as_row(known[item]) for item in pairs.ids}

    def run(self, report: PairProgress) -> None:
        pairs = self._pairs
        report(0, len(pairs))
        rows = self._metric.statistics(pairs.ids, pairs.references, pairs.candidates, report)
        if len(rows) != len(pairs):
            raise MetricFault(f"{self.name} returned {len(rows)} rows for {len(pairs)} items")
        if not all(math.isfinite(number) for row in rows for number in row):
            raise MetricFault(f"{self.name} returned a number that is not finite")
        report(len(pairs), len(pairs))
        self._rows = dict(zip(pairs.ids, rows, strict=True))

    def keep(self) -> None:
        """Rows are of one file: no other can use them."""

    def tell(self, scored: Scored) -> None:
        scores = dict(self._metric.aggregate([self._rows[item] for item in self._pairs.ids]))
        if not all(map(math.isfinite, scores.values())):
            raise MetricFault(f"{self.name} returned a value that is not a finite number")
        scored.rows[self.name] = self._rows
        scored.corpus |= scores


def _is_sound(value: float | Sequence[float] | None) -> bool:
    """Whether a kept value can be believed: what is no number is computed again."""
    return value is not None and all(map(math.isfinite, _as_row(value)))


def _as_row(value: float | Sequence[float]) -> Row:
    return (value,) if isinstance(value, (int, float)) else tuple(value)


def _run_all(tasks: Sequence[_Task], voice: _Voice) -> None:
    """Neural metrics here and the others beside them; all here where there are not both."""
    neural = [task for task in tasks if task.name in NEURAL_METRICS]
    others = [task for task in tasks if task.name not in NEURAL_METRICS]
    if not neural or not others:
        _run_here(tasks, voice)
        return
    thread = threading.Thread(target=_run_beside, args=(others, voice), name="cpu-metrics", daemon=True)
    thread.start()
    try:
        _run_here(neural, voice)
        thread.join()
    except BaseException as error:  # noqa: BLE001 (raised again once the thread has ended)
        voice.stop(error)
    thread.join()  # told to stop, it ends at its next report
    voice.raise_what_stopped()
    for task in others:
        task.keep()


def _run_here(tasks: Sequence[_Task], voice: _Voice) -> None:
    for task in tasks:
        task.run(voice.of(task.name))
        task.keep()


def _run_beside(tasks: Sequence[_Task], voice: _Voice) -> None:
    """The background thread. What stops it is raised in the calling thread, and stops that at its next report."""
    try:
        for task in tasks:
            task.run(voice.of(task.name))
    except BaseException as error:  # noqa: BLE001 (raised by the calling thread)
        voice.stop(error)


class _Stopped(Exception):
    """The other thread was stopped: this one has nothing to go on for."""


class _Voice:
    """The progress callback, shared by both threads: one call at a time, and none once either thread was stopped."""

    def __init__(self, progress: ProgressCallback | None) -> None:
        self._progress = progress
        self._lock = threading.Lock()
        self._error: BaseException | None = None

    def stop(self, error: BaseException) -> None:
        """Remember what stopped a thread: the first error counts."""
        with self._lock:
            self._error = self._error or error

    def raise_what_stopped(self) -> None:
        error, self._error = self._error, None
        try:
            if error is not None:
                raise error
        finally:
            del error  # its traceback holds this frame: a cycle would keep the failed batch in the GPU's memory

    def of(self, stage: str) -> PairProgress:
        """The callback of one stage: first and last call always and once, others ``PROGRESS_INTERVAL_S`` apart."""
        last_call, last_done = -math.inf, -1

        def report(done: int, total: int) -> None:
            nonlocal last_call, last_done
            if self._error is not None:
                raise _Stopped
            is_due = done in (0, total) or time.monotonic() - last_call >= PROGRESS_INTERVAL_S
            if self._progress is None or done <= last_done or not is_due:
                return
            last_call, last_done = time.monotonic(), done
            self._tell(Progress(stage, done, total))

        return report

    def _tell(self, progress: Progress) -> None:
        with self._lock:
            if self._error is not None:
                raise _Stopped
            if self._progress is not None:
                self._progress(progress)
