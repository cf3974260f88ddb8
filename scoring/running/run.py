"""Runs the metrics of a score: known values are not computed, and CPU metrics run in parallel to the neural ones.

Each tokenizer analyses every distinct text once in a run (``scoring.text.run_tokens``). While the neural metrics wait
for the GPU in the calling thread, one background thread runs the others. A second one would gain little: they are
Python and hold its global lock. Last come metrics that a server computes: the calling thread waits for its answers and
stores each at once, so that none is asked for, and paid, again, wherever the run ends. Right before a question is sent
the store is read again, and of several runs that hold a pair one asks (``Turns``); where two have an answer all the
same, all use the one that was stored first. The values do not depend on which metrics run in parallel. Stores of values
are used from the calling thread alone, and no thread outlives ``run_metrics``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from scoring.errors import ScoringFault
from scoring.metrics import CorpusMetric, Metric, PairMetric, PairProgress, RemoteMetric, Row
from scoring.recipes import Layout, Pairs
from scoring.records import ProgressCallback
from scoring.running.pair_values import OfMetric, Pair, PairValues
from scoring.running.reporter import ProgressReporter, Stopped
from scoring.text.run_tokens import TEXT, RunTokens

if TYPE_CHECKING:
    from scoring.judging.asking import Turn

KnownValues = Mapping[tuple[str, str], Mapping[str, float | Sequence[float]]]
KnownOfMetric = Mapping[str, float | Sequence[float]]


class MetricFault(ScoringFault):
    """A metric returned an invalid result: too few values, or one that is not a number."""


@dataclass(slots=True)
class Scored:
    """The results of the metrics: item values, rows of statistics and corpus scores."""

    values: dict[str, dict[str, float]] = field(default_factory=dict)  # pair metric -> item -> value
    rows: dict[str, dict[str, Row]] = field(default_factory=dict)  # corpus metric -> item -> its row
    corpus: dict[str, float] = field(default_factory=dict)  # score name -> value


def run_metrics(
    metrics: Mapping[str, Metric],
    layout: Layout,
    hashes: Mapping[str, str],
    *,
    known: KnownValues,
    pair_values: PairValues | None = None,
    progress: ProgressCallback | None = None,
) -> Scored:
    """Run ``metrics`` (by name) on their pairs. ``hashes`` are the metrics' signature hashes.

    Raises ``MetricFault``, and what a metric or ``progress`` raises in either thread.
    """
    tasks: list[_Task] = []
    for name, metric in metrics.items():
        pairs, kept = layout.pairs[name], known.get((name, hashes[name]), {})
        if isinstance(metric, CorpusMetric):
            tasks.append(_CorpusTask(metric, pairs, kept))
        elif isinstance(metric, RemoteMetric):
            tasks.append(_RemoteTask(metric, pairs, kept, OfMetric(pair_values, name, hashes[name])))
        elif isinstance(metric, PairMetric):
            store = None if metric.is_cheap else pair_values
            tasks.append(_PairTask(metric, pairs, kept, OfMetric(store, name, hashes[name])))
    reporter = ProgressReporter(progress)
    for task in tasks:
        if task.size and not task.is_open:
            reporter.of(task.metric.name)(task.size, task.size)
    _run_all([task for task in tasks if task.is_open], reporter)
    scored = Scored()
    for task in tasks:
        task.collect(scored)
    return scored


class _Task(Protocol):
    """The work of one metric: ``run`` computes in any thread, the other methods are called in the calling thread."""

    @property
    def metric(self) -> Metric: ...

    size: int  # items
    is_open: bool  # whether anything is left to compute

    def run(self, tokens: RunTokens, report: PairProgress) -> None: ...

    def store(self) -> None: ...

    def collect(self, scored: Scored) -> None: ...


class _PairTask:
    """A value for every item. Known ones are used unchanged; pairs in the store are not computed, equal ones only once.

    With several references the best value counts.
    """

    def __init__(self, metric: PairMetric, pairs: Pairs, known: KnownOfMetric, store: OfMetric) -> None:
        self.metric, self.size = metric, len(pairs)
        self._ids, self._store = pairs.ids, store
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

    def run(self, tokens: RunTokens, report: PairProgress) -> None:
        values = score_distinct(self.metric, self._missing, report, tokens)
        self._fresh = dict(zip(self._missing, values, strict=True))

    def store(self) -> None:
        self._store.put(self._fresh)

    def collect(self, scored: Scored) -> None:
        values = self._values | self._fresh
        best = max if self.metric.higher_is_better else min
        scored.values[self.metric.name] = {
            item: self._known[item] if item in self._known else best(values[pair] for pair in self._wanted[item])
            for item in self._ids
        }


def score_distinct(
    metric: PairMetric, pairs: Sequence[Pair], report: PairProgress, tokens: RunTokens | None = None
) -> list[float]:
    """One finite value for each (reference, candidate). Raises ``MetricFault`` if the metric does not return that."""
    report(0, len(pairs))
    references, candidates = [reference for reference, _ in pairs], [candidate for _, candidate in pairs]
    arguments = _tokenizer_arguments(metric, (*references, *candidates), len(pairs), report, tokens or RunTokens())
    values = [float(value) for value in metric.score_pairs(references, candidates, report, **arguments)]
    if len(values) != len(pairs):
        raise MetricFault(f"{metric.name} returned {len(values)} values for {len(pairs)} pairs")
    if not all(map(math.isfinite, values)):
        raise MetricFault(f"{metric.name} returned a value that is not a finite number")
    report(len(pairs), len(pairs))
    return values


class _RemoteTask(_PairTask):
    """As ``_PairTask``, but every value is stored as it comes; runs in the calling thread."""

    def __init__(self, metric: RemoteMetric, pairs: Pairs, known: KnownOfMetric, store: OfMetric) -> None:
        super().__init__(metric, pairs, answers_in(metric, known), store)
        self._remote = metric
        self._taken: set[Pair] = set()
        unasked = {pair: value for pair in self._missing if (value := metric.value_unasked(*pair)) is not None}
        self._values |= unasked
        self._missing = [pair for pair in self._missing if pair not in unasked]
        self.is_open = bool(self._missing)

    def run(self, tokens: RunTokens, report: PairProgress) -> None:
        total = len(self._missing)
        references, candidates = ([pair[side] for pair in self._missing] for side in (0, 1))

        def each_turn() -> None:
            report(len(self._fresh), total)

        try:
            for place, value in self._remote.values(references, candidates, each_turn, self._turns):
                if not math.isfinite(value):
                    raise MetricFault(f"{self.metric.name} returned a value that is not a finite number")
                self._keep(self._missing[place], value)
        finally:
            self._store.give_back([pair for pair in self._taken if pair not in self._fresh])
        if len(self._fresh) != total:
            raise MetricFault(f"{self.metric.name} returned {len(self._fresh)} values for {total} pairs")
        report(total, total)

    def _keep(self, pair: Pair, value: float) -> None:
        """Store ``value``; the one that is stored then holds, which may be another scoring's."""
        self._store.put({pair: value})
        self._fresh[pair] = self._store.get([pair]).get(pair, value)

    def _turns(self, places: Sequence[int], seconds: float) -> list[Turn]:
        """What to do with the pairs at ``places``, which are about to be asked about; found values are taken over."""
        pairs = [self._missing[place] for place in places]
        taken = self._store.take(pairs, seconds)
        found = self._store.get(pairs)  # after taking: whoever had a pair before stored its value first
        self._fresh |= found
        self._taken |= taken
        self._store.give_back([pair for pair in pairs if pair in taken and pair in found])
        return ["known" if pair in found else "ask" if pair in taken else "wait" for pair in pairs]

    def store(self) -> None:
        """Does nothing: all are stored."""


class _CorpusTask:
    """The row of every item. Known rows are used only if all are there, as each depends on all items."""

    def __init__(self, metric: CorpusMetric, pairs: Pairs, known: KnownOfMetric) -> None:
        self.metric, self.size = metric, len(pairs)
        self._pairs = pairs
        self.is_open = not pairs.ids or not all(_is_sound(known.get(item)) for item in pairs.ids)
        self._rows = {} if self.is_open else {item: _as_row(known[item]) for item in pairs.ids}

    def run(self, tokens: RunTokens, report: PairProgress) -> None:
        pairs, metric = self._pairs, self.metric
        report(0, len(pairs))
        texts = [text for references in pairs.references for text in references]
        arguments = _tokenizer_arguments(metric, (*texts, *pairs.candidates), len(pairs), report, tokens)
        rows = metric.statistics(pairs.ids, pairs.references, pairs.candidates, report, **arguments)
        if len(rows) != len(pairs):
            raise MetricFault(f"{metric.name} returned {len(rows)} rows for {len(pairs)} items")
        if not all(math.isfinite(number) for row in rows for number in row):
            raise MetricFault(f"{metric.name} returned a number that is not finite")
        report(len(pairs), len(pairs))
        self._rows = dict(zip(pairs.ids, rows, strict=True))

    def store(self) -> None:
        """Does nothing: rows belong to one file, no other can use them."""

    def collect(self, scored: Scored) -> None:
        scores = self.metric.aggregate([self._rows[item] for item in self._pairs.ids])
        if not all(map(math.isfinite, scores.values())):
            raise MetricFault(f"{self.metric.name} returned a value that is not a finite number")
        scored.rows[self.metric.name] = self._rows
        scored.corpus |= {name: scores[name] for name in self.metric.reported()}


def _tokenizer_arguments(
    metric: Metric, texts: Iterable[str], size: int, report: PairProgress, tokens: RunTokens
) -> dict[str, Any]:
    """The ``tokenize`` argument for ``metric`` after analysing ``texts``; empty for a metric that reads texts.

    The analysis is reported as the first half of the work.
    """
    if metric.reads == TEXT:
        return {}
    pieces = (piece for text in dict.fromkeys(texts) for piece in metric.pieces(text))
    tokens.add(metric.reads, pieces, lambda share: report(int(size * share / 2), size))
    return {"tokenize": tokens.tokenize(metric.reads)}


def answers_in(metric: RemoteMetric, known: KnownOfMetric) -> KnownOfMetric:
    """Those of ``known`` that a server answered: it is asked about the others again."""
    return {item: value for item, value in known.items() if isinstance(value, int | float) and metric.is_answer(value)}


def _is_sound(value: float | Sequence[float] | None) -> bool:
    """Whether a kept value is valid; one that is not finite is computed again."""
    return value is not None and all(map(math.isfinite, _as_row(value)))


def _as_row(value: float | Sequence[float]) -> Row:
    return (value,) if isinstance(value, (int, float)) else tuple(value)


def _run_all(tasks: Sequence[_Task], reporter: ProgressReporter) -> None:
    """Run neural metrics here and the others in parallel; all here unless there are both."""
    neural = sorted((task for task in tasks if task.metric.model is not None), key=lambda task: task.metric.is_remote)
    others = [task for task in tasks if task.metric.model is None]
    tokens = RunTokens()
    if not neural or not others:
        _run_in_caller([*others, *neural], tokens, reporter)
        return
    with ThreadPoolExecutor(1, thread_name_prefix="cpu-metrics") as pool:
        background = pool.submit(_run_in_background, others, tokens, reporter)
        try:
            _run_in_caller(neural, tokens, reporter)
            background.result()
        except BaseException:
            reporter.stop()
            raise
        finally:
            del background  # its exception's traceback references this frame: a cycle would outlive the scoring
    for task in others:
        task.store()


def _run_in_caller(tasks: Sequence[_Task], tokens: RunTokens, reporter: ProgressReporter) -> None:
    """Run in the calling thread; ends early if the other one has failed."""
    try:
        for task in tasks:
            task.run(tokens, reporter.of(task.metric.name))
            task.store()
    except Stopped:
        return


def _run_in_background(tasks: Sequence[_Task], tokens: RunTokens, reporter: ProgressReporter) -> None:
    """Run in the background thread."""
    try:
        for task in tasks:
            task.run(tokens, reporter.of(task.metric.name))
    except BaseException:
        reporter.stop()
        raise
