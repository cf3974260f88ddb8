"""What a worker does when it hears that there is work: it takes the piece whose turn it is, and does it.

Pieces are whole runs and the shards of large ones. They stand in one fair order, though in two tables.
"""

from __future__ import annotations

import logging
from datetime import datetime

from django.utils import timezone

from malpan.submissions.evaluation import queueing, runs, shard_work, shards
from malpan.submissions.models import RunShard, ScoringRun

logger = logging.getLogger(__name__)


def do_next(*, worker: str) -> None:
    """Do the piece of work whose turn it is. Returns at once when none waits."""
    piece = claim_next(worker=worker)
    if piece is None:
        logger.info("nothing is waiting; nothing to do")
    elif isinstance(piece, RunShard):
        shard_work.execute(piece)
    else:
        runs.execute(piece)


def claim_next(*, worker: str) -> ScoringRun | RunShard | None:
    """Claim the first run or the first shard, whichever has its turn earlier; ``None`` when neither waits."""
    if _shard_is_first(timezone.now()):
        return shards.claim_next(worker=worker) or queueing.claim_next(worker=worker)
    return queueing.claim_next(worker=worker) or shards.claim_next(worker=worker)


def _shard_is_first(now: datetime) -> bool:
    """Whether the turn of a shard comes before that of every run; of equal turns the shard's does.

    Live work comes before that of rescoring batches. Asked without a lock: whoever claims meanwhile may let two
    neighbours change places.
    """
    shard = shards.waiting(now).values_list("run__batch", "fair_tag").first()
    run = queueing.waiting(now).values_list("batch", "fair_tag").first()
    if shard is None or run is None:
        return shard is not None
    return (shard[0] is not None, shard[1]) <= (run[0] is not None, run[1])
