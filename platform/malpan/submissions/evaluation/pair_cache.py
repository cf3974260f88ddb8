"""Values of pairs that any worker scored before, for any team: the site's store behind ``scoring.running.pair_values``.

A file uploaded again with ten changed answers costs ten pairs. The store is optional: its table may lose everything at
any time (it is UNLOGGED), and after a failed or slow statement it is not used for the rest of the run. It contains no
text: the key of a pair is an HMAC with the site's secret key, as anybody who can read the table could guess a plain
hash of a short reference. What a judge answered cost money, and is kept elsewhere (``judge_values``).
"""

from __future__ import annotations

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hmac import HMAC
from itertools import islice
from typing import Final, TypeVar

from django.conf import settings
from django.db import Error, connection, transaction
from django.db.models import Max
from django.utils.crypto import salted_hmac

from malpan.submissions.evaluation import results
from malpan.submissions.models import PairValue, ScoringRun
from scoring.running.pair_values import Pair, as_bytes

logger = logging.getLogger(__name__)

KEY_SALT: Final = "malpan.submissions.evaluation.pair_cache"
CHUNK: Final = 5_000  # pairs in one statement
STATEMENT_SECONDS: Final = 2.0  # a chunk takes some 20 ms
BUDGET_SECONDS: Final = 20.0  # limit for all statements of one scoring together,
CHUNK_SECONDS: Final = 0.2  # plus this for each chunk: a large run has many, and computing them takes far longer
FORGET_SECONDS: Final = 5  # for those who read and write at this moment
PRUNE_CHUNK: Final = 10_000
PRUNE_CHUNKS: Final = 50  # in one pass

# keys and values travel as one text each: a list of 5,000 keys takes psycopg ten times as long
_SELECT: Final = """
    SELECT key, value FROM submissions_pairvalue
    WHERE key = ANY(ARRAY(SELECT decode(wanted, 'hex') FROM unnest(string_to_array(%s, ',')) AS wanted))
"""
_INSERT: Final = """
    INSERT INTO submissions_pairvalue (key, value)
    SELECT decode(key, 'hex'), value::float8
    FROM unnest(string_to_array(%s, ','), string_to_array(%s, ',')) AS new(key, value)
    ON CONFLICT DO NOTHING
"""
_REPLACE: Final = _INSERT.replace("DO NOTHING", "(key) DO UPDATE SET value = excluded.value")
# an array is computed once; IN may be a nested loop that selects again, skips what it holds, and deletes without limit
_PRUNE: Final = """
    DELETE FROM submissions_pairvalue WHERE id = ANY(ARRAY(
        SELECT id FROM submissions_pairvalue WHERE id <= %s ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED
    ))
"""

counted: Final = Counter({"asked": 0, "known": 0})  # pairs in this process since its start

Found = TypeVar("Found")
Rows = list[tuple[bytes, float]]


def store_for(run: ScoringRun) -> DatabasePairValues | None:
    """The cache for ``run``; ``None`` if it is off, and for a repetition. A run from scratch only writes to it."""
    if settings.PAIR_VALUES_MAX_ROWS <= 0 or results.is_repeat(run):
        return None
    return DatabasePairValues(replaces=results.is_from_scratch(run))


def is_read_by(run: ScoringRun) -> bool:
    """Whether ``run`` finds there what was computed ahead."""
    store = store_for(run)
    return store is not None and not store.replaces


class DatabasePairValues:
    """The store, for one scoring, outside any transaction. After its first failure it returns nothing more.

    ``replaces``: nothing is read, and what is put stands in the place of what was there.
    """

    def __init__(self, *, replaces: bool = False) -> None:
        self.replaces = replaces
        self._is_out = False
        self._seconds = 0.0
        self._chunks = 0

    def get(self, metric: str, signature: str, pairs: Sequence[Pair]) -> dict[Pair, float]:
        found: dict[Pair, float] = {}
        if self.replaces:
            return found
        for chunk in chunked(zip(keys_of(metric, signature, pairs), pairs, strict=True)):
            pair_of = dict(chunk)
            rows = self._ask(partial(_select, list(pair_of))) or []
            found |= {pair_of[key]: value for key, value in rows if math.isfinite(value)}
        counted.update(asked=len(pairs), known=len(found))
        return found

    def put(self, metric: str, signature: str, values: Mapping[Pair, float]) -> None:
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()  # it was idle while the metric ran
        rows = zip(keys_of(metric, signature, list(values)), values.values(), strict=True)
        # in order of key: two workers that write the same pairs may wait for each other, but never deadlock
        for chunk in chunked(sorted(row for row in rows if math.isfinite(row[1]))):
            self._ask(partial(_insert, chunk, _REPLACE if self.replaces else _INSERT))

    def _ask(self, statement: Callable[[], Found]) -> Found | None:
        """The result of ``statement`` in a separate short transaction; ``None`` after a failure."""
        if self._is_out:
            return None
        started = time.monotonic()
        try:
            with transaction.atomic():
                with connection.cursor() as cursor:
                    cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{STATEMENT_SECONDS}s"])
                return statement()
        except Error as error:
            self._give_up(type(error).__name__)
            return None
        finally:
            self._seconds += time.monotonic() - started
            self._chunks += 1
            if self._seconds > BUDGET_SECONDS + CHUNK_SECONDS * self._chunks:
                self._give_up("too slow")

    def _give_up(self, why: str) -> None:
        if not self._is_out:  # no message of the error: it may quote a statement
            logger.warning("the store of pair values is not used for the rest of this scoring: %s", why)
        self._is_out = True


def forget_all() -> None:
    """Empty the store: somebody may have put wrong values into it. Raises what the database raises."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{FORGET_SECONDS}s"])
        cursor.execute("TRUNCATE submissions_pairvalue")


def prune() -> int:
    """Delete the oldest rows beyond ``PAIR_VALUES_MAX_ROWS``, a limited number in one pass; returns how many.

    Rows are numbered as they are inserted, so no count is needed. If two workers computed the same pair, a number is
    skipped: then a few rows fewer are kept, never more.
    """
    newest = PairValue.objects.aggregate(newest=Max("pk"))["newest"] or 0
    deleted = 0
    for _chunk in range(PRUNE_CHUNKS):
        with connection.cursor() as cursor:
            cursor.execute(_PRUNE, [newest - settings.PAIR_VALUES_MAX_ROWS, PRUNE_CHUNK])
            deleted += cursor.rowcount
            if cursor.rowcount < PRUNE_CHUNK:
                break
    return deleted


def _select(keys: list[bytes]) -> Rows:
    with connection.cursor() as cursor:
        cursor.execute(_SELECT, [",".join(map(bytes.hex, keys))])
        return [(bytes(key), value) for key, value in cursor.fetchall()]


def _insert(rows: Rows, statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            statement, [",".join(key.hex() for key, _ in rows), ",".join(repr(float(value)) for _, value in rows)]
        )


def keys_of(metric: str, signature: str, pairs: Sequence[Pair]) -> Iterator[bytes]:
    """The key of each pair for this metric, 32 bytes."""
    keyed = salted_hmac(KEY_SALT, b"", algorithm="sha256")
    _feed(keyed, metric, signature)
    for pair in pairs:
        own = keyed.copy()
        _feed(own, *pair)
        yield own.digest()


def _feed(keyed: HMAC, *texts: str) -> None:
    keyed.update(b"".join(as_bytes(*texts)))


Item = TypeVar("Item")


def chunked(items: Iterator[Item] | Sequence[Item]) -> Iterator[list[Item]]:
    rest = iter(items)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk
