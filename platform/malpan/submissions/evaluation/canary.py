"""Before a process scores with a metric that it did not check within a day, the metric scores a few fixed items
(``scoring.canary``). A process without work checks nothing, and takes none with numbers of yesterday.

A process whose numbers differ from the known ones, or that cannot compute them, takes no more work (``jobs.refusal``);
its job goes back to the queue without a failure, and the values of pairs that any process kept are forgotten, as it may
have computed some. What was scored with its numbers is for a rescoring from scratch (``evaluation.fresh``). The numbers
of models that the instrument does not know are those of the first process that had them, kept in the database: whatever
processor, GPU or library computes, all that score for this site agree.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterable
from typing import Final

from django.conf import settings
from django.db import Error

from malpan.jobs import refusal, registry
from malpan.submissions.evaluation import pair_cache
from malpan.submissions.models import CanaryRows
from scoring import canary
from scoring.canary import Difference
from scoring.errors import ScoringError
from scoring.metrics import METRICS, Metric
from scoring.models.store import shared_store

logger = logging.getLogger(__name__)

AGAIN_AFTER: Final = 24 * 60 * 60.0  # seconds

_checked: dict[tuple[str, str], float] = {}  # (metric, profile) -> when, by the monotonic clock


def require(metrics: Iterable[str], profile: str) -> None:
    """Raise ``NumbersDiffer`` unless the numbers of all ``metrics`` with the models of ``profile`` are the known ones.

    Raises ``ModelUnavailable``.
    """
    now = time.monotonic()
    for name in metrics:
        checked = _checked.get((name, profile))
        if checked is not None and now - checked < AGAIN_AFTER:
            continue
        if (found := _wrong(name, profile)) is not None:
            refusal.refuse(f"{found} ({profile}, {socket.gethostname()})")
            _forget_pair_values()
            raise registry.NumbersDiffer("its numbers differ")
        _checked[name, profile] = now


def _wrong(name: str, profile: str) -> str | None:
    """What is wrong with the numbers of the metric ``name`` here, if anything."""
    try:
        found = _difference(name, profile)
    except (ScoringError, Error):  # a model is missing, the database is away
        raise
    except Exception as error:
        if METRICS.origin(name):  # a plug-in may take other texts; one of this package scores them where it is in order
            logger.warning("%s cannot score the fixed items, and is not checked", name, exc_info=True)
            return None
        logger.exception("%s does not score the fixed items", name)
        return f"{name}: {type(error).__name__}: {error}"
    return None if found is None else str(found)


def _forget_pair_values() -> None:
    """Empty the store of pair values, which this process may have filled since its last check."""
    try:
        pair_cache.forget_all()
    except Error:
        logger.exception("the store of pair values could not be emptied: see OPERATIONS.md, A worker's numbers differ")


def _difference(name: str, profile: str) -> Difference | None:
    store = shared_store(profile, settings.SCORING_DEVICE) if METRICS[name].model else None
    if not canary.is_checked(METRICS[name], store):  # another server's, without frames, or optional without a model
        return None
    with canary.loaded(name, store) as metric:
        rows, known = canary.rows_of(metric), canary.known_rows(metric)
        return canary.difference(name, _kept(metric, rows) if known is None else known, rows)


def _kept(metric: Metric, rows: list[tuple[float, ...]]) -> list[list[float]]:
    """The rows of the first process that had this metric with these models; ``rows`` if it is this one."""
    kept, is_first = CanaryRows.objects.get_or_create(
        identity=canary.identity(metric),
        defaults={"metric": metric.name, "rows": [list(row) for row in rows], "worker": socket.gethostname()[:120]},
    )
    if is_first:
        logger.info("the numbers of %s on this machine are from now on the known ones", metric.name)
    return list(kept.rows)
