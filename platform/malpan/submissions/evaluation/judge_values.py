"""What LLM judges answered, kept for good: every judgement cost money, so none is asked for twice.

The table is logged, is never pruned, and is written as each answer comes. A statement that fails because the database
is away is tried again until it is back; only then the next answer is taken. A scoring finds here what any other one
asked before.

Jobs that run at once (runs, slices of one run) and hold the same pair take turns: whoever asks has a row without a
value, and the others look again until it has one, or the turn is over. It ends with the answer, when the asker stops,
or after the time that a request may take; a killed job's own next attempt takes it over at once. What remains: a pair
is paid twice if its asker is alive and still without a stored answer when that time is over, as the database was away,
or if the job was given to another worker while the first one's request was on its way. Then all use the value that was
stored first.

Two things are kept for one scoring alone (``scope``), so that it continues where it was paused or killed:

* the judgements of a repetition, whose purpose is to ask again. A retried run uses those of the failed one
  whose place it takes.
* that an answer stayed unparsable (``RemoteMetric.is_answer``): it counts as 0, but is no judgement. So whoever wants
  such an item asked again scores the submission again, and pays for these items alone.

As in ``pair_cache``, there is no text in it. Values of other metrics go to that cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Final, TypeVar

from django.db import Error, connection
from django.db.models.functions import Now

from malpan.jobs import outage, outcome
from malpan.submissions.evaluation import pair_cache, results
from malpan.submissions.models import Judgement, ScoringRun
from scoring.metrics import METRICS, RemoteMetric
from scoring.running.pair_values import Pair, PairValues

ANY: Final = 0  # the scope of a judgement that serves every scoring

_SELECT: Final = """
    SELECT key, scope, value FROM submissions_judgement
    WHERE key = ANY(%s) AND scope = ANY(%s) AND value IS NOT NULL
"""
_INSERT: Final = """
    INSERT INTO submissions_judgement AS known (key, scope, value, created_at)
    SELECT *, now() FROM unnest(%s::bytea[], %s::bigint[], %s::float8[])
    ON CONFLICT (key, scope) DO UPDATE
    SET value = excluded.value, created_at = now(), asker = NULL, asked_until = NULL WHERE known.value IS NULL
"""
_TAKE: Final = """
    INSERT INTO submissions_judgement AS known (key, scope, asker, asked_until, created_at)
    SELECT wanted, %s, %s, now() + make_interval(secs => %s), now() FROM unnest(%s::bytea[]) AS wanted
    ON CONFLICT (key, scope) DO UPDATE SET asker = excluded.asker, asked_until = excluded.asked_until
    WHERE known.value IS NULL AND (known.asker = excluded.asker OR known.asked_until < now())
    RETURNING key
"""
_GIVE_BACK: Final = """
    DELETE FROM submissions_judgement WHERE key = ANY(%s) AND scope = %s AND asker = %s AND value IS NULL
"""
FORGOTTEN_AFTER: Final = timedelta(days=1)  # a turn that is over, whose pair nobody asked about again

Found = TypeVar("Found")
Row = tuple[bytes, int, float]


def values_for(run: ScoringRun, *, job_id: int) -> RunValues:
    """Where the job ``job_id``, that of ``run`` or of a slice of it, finds and keeps the values of pairs."""
    scopes = (scope_of(run),) if results.is_repeat(run) else (ANY, run.pk)
    return RunValues(scopes, pair_cache.store_for(run), asker=job_id)


def forget_turns() -> int:
    """Delete the turns of jobs that were killed and never came back; returns how many."""
    return Judgement.objects.filter(value=None, asked_until__lt=Now() - FORGOTTEN_AFTER).delete()[0]


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
    """The values of pairs for one scoring, outside any transaction. It has ``Turns``.

    ``scopes``: those whose judgements it takes; the last one is its own. ``asker``: the job that takes turns. Raises
    ``outage.StillAway`` if the database stays away while a judgement is read or written.
    """

    def __init__(self, scopes: Sequence[int], cache: PairValues | None, *, asker: int) -> None:
        self._scopes, self._cache, self._asker = list(scopes), cache, asker
        self._was_answered = False

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
        self.give_back(metric, signature, [pair for pair, value in values.items() if not kind.is_answer(value)])
        if rows and not self._was_answered:
            _patiently(partial(outcome.resumed, job_id=self._asker))
            self._was_answered = True

    def take(self, metric: str, signature: str, pairs: Sequence[Pair], seconds: float) -> set[Pair]:
        pair_of = dict(zip(pair_cache.keys_of(metric, signature, pairs), pairs, strict=True))
        taken: list[bytes] = []
        for chunk in pair_cache.chunked(sorted(pair_of)):
            taken += _patiently(partial(_take, self._scopes[0], self._asker, seconds, chunk))
        return {pair_of[key] for key in taken}

    def give_back(self, metric: str, signature: str, pairs: Sequence[Pair]) -> None:
        """As ``Turns.give_back``. It is tried once: a turn ends by itself."""
        with suppress(Error):
            for chunk in pair_cache.chunked(sorted(pair_cache.keys_of(metric, signature, pairs))):
                with connection.cursor() as cursor:
                    cursor.execute(_GIVE_BACK, [chunk, self._scopes[0], self._asker])


def _patiently(statement: Callable[[], Found]) -> Found:
    """The result of ``statement``, which may be carried out twice without harm."""
    if not connection.in_atomic_block:
        connection.close_if_unusable_or_obsolete()  # it may have been idle for long
    return outage.outlast(statement, again=statement, gives_up=outage.is_stopping)


def _select(keys: list[bytes], scopes: list[int]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(_SELECT, [keys, scopes])
        return [(bytes(key), scope, value) for key, scope, value in cursor.fetchall()]


def _take(scope: int, asker: int, seconds: float, keys: list[bytes]) -> list[bytes]:
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, [scope, asker, seconds, keys])
        return [bytes(key) for (key,) in cursor.fetchall()]


def _insert(rows: list[Row]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, [list(column) for column in zip(*rows, strict=True)])
