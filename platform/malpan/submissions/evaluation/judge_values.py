"""What LLM judges answered, kept for good: every judgement cost money, so none is asked for twice.

The table is logged, is never pruned, and is written as each answer comes. A statement that fails because the database
is away is tried again until it is back; only then the next answer is taken. A scoring finds here what any other one
asked before. Two things are kept for one scoring alone (``scope``), so that it goes on where it was paused or killed:

* the judgements of a repetition, whose purpose is to ask again. A retried run goes on with those of the failed one
  whose place it takes.
* that an answer stayed unparsable (``RemoteMetric.is_answer``): it counts as 0, but is no judgement. So whoever wants
  such an item asked again scores the submission again, and pays for these items alone.

As in ``pair_cache``, there is no text in it. Values of other metrics go to that cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from django.conf import settings
from django.db import connection

from malpan.jobs import outage
from malpan.submissions.evaluation import pair_cache, results
from malpan.submissions.models import ScoringRun
from scoring.metrics import METRICS, RemoteMetric
from scoring.running.pair_values import Pair, PairValues

ANY: Final = 0  # the scope of a judgement that serves every scoring

_SELECT: Final = "SELECT key, scope, value FROM submissions_judgement WHERE key = ANY(%s) AND scope = ANY(%s)"
_INSERT: Final = """
    INSERT INTO submissions_judgement (key, scope, value, created_at)
    SELECT *, now() FROM unnest(%s::bytea[], %s::bigint[], %s::float8[]) ON CONFLICT DO NOTHING
"""

Found = TypeVar("Found")
Row = tuple[bytes, int, float]


def values_for(run: ScoringRun) -> RunValues:
    """Where the scoring of ``run`` finds and keeps the values of pairs."""
    scopes = (scope_of(run),) if results.is_repeat(run) else (ANY, run.pk)
    return RunValues(scopes, pair_cache.store_for(run))


def scope_of(run: ScoringRun) -> int:
    """The primary key of ``run`` or, where it replaces a failed repetition, the scope of that.

    The first ``repeats`` runs of a submission in a batch have their own; each later one continues a failed one, in the
    order in which these failed.
    """
    if run.batch is None or run.batch.repeats == 1:
        return run.pk
    rows = list(ScoringRun.objects.filter(batch=run.batch, submission=run.submission_id).order_by("pk"))
    failed = [each for each in rows if each.state == ScoringRun.State.FAILED and each.finished_at is not None]
    replaced = [each.pk for each in sorted(failed, key=lambda each: (each.finished_at, each.pk))]
    scopes: dict[int, int] = {}
    for number, each in enumerate(rows):
        at = number - run.batch.repeats
        scopes[each.pk] = scopes.get(replaced[at], each.pk) if 0 <= at < len(replaced) else each.pk
    return scopes[run.pk]


class RunValues:
    """The values of pairs for one scoring, outside any transaction.

    ``scopes``: those whose judgements it takes; the last one is its own. Raises ``outage.StillAway`` if the database
    stays away while a judgement is read or written.
    """

    def __init__(self, scopes: Sequence[int], cache: PairValues | None) -> None:
        self._scopes, self._cache = list(scopes), cache

    def get(self, metric: str, signature: str, pairs: Sequence[Pair]) -> dict[Pair, float]:
        if not METRICS[metric].is_remote:
            return {} if self._cache is None else self._cache.get(metric, signature, pairs)
        found: dict[Pair, float] = {}
        for chunk in pair_cache.chunked(zip(pair_cache.keys_of(metric, signature, pairs), pairs, strict=True)):
            pair_of = dict(chunk)
            rows = _patiently(partial(_select, list(pair_of), self._scopes))
            in_order = sorted(rows, key=lambda row: self._scopes.index(row[1]), reverse=True)  # the first scope wins
            found |= {pair_of[key]: value for key, _scope, value in in_order}
        return found

    def put(self, metric: str, signature: str, values: Mapping[Pair, float]) -> None:
        kind = METRICS[metric]
        if not issubclass(kind, RemoteMetric):
            if self._cache is not None:
                self._cache.put(metric, signature, values)
            return
        keys = pair_cache.keys_of(metric, signature, list(values))
        rows = [
            (key, self._scopes[0] if kind.is_answer(value) else self._scopes[-1], value)
            for key, value in zip(keys, values.values(), strict=True)
            if math.isfinite(value)
        ]
        for chunk in pair_cache.chunked(sorted(rows)):  # in order, so that two workers never deadlock
            _patiently(partial(_insert, chunk))


def _patiently(statement: Callable[[], Found]) -> Found:
    """The result of ``statement``, which may be carried out twice without harm."""
    if not connection.in_atomic_block:
        connection.close_if_unusable_or_obsolete()  # it may have been idle for long
    seconds = settings.JOB_LEASE_SECONDS
    return outage.outlast(statement, again=statement, seconds=seconds, gives_up=outage.is_stopping)


def _select(keys: list[bytes], scopes: list[int]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(_SELECT, [keys, scopes])
        return [(bytes(key), scope, value) for key, scope, value in cursor.fetchall()]


def _insert(rows: list[Row]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, [list(column) for column in zip(*rows, strict=True)])
