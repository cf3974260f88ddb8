"""The life of a large run's shards: queued → running (attempt n, lease) → finished | failed, each by itself.

A run with more than ``SHARD_ABOVE_ITEMS`` items is not scored by one worker. Whoever claims it cuts it into shards
(``shard_work``); from then on the run stays running, held by its open shards, and they are claimed in the fair order
like runs. What a run keeps in its row every shard keeps in its own: attempt, lease, pause before another attempt. The
last one that finishes adds one more, which gathers what all of them gave and finishes the run.

Of everything that can meet here exactly one wins: a claim, a result and a fault each move one row by a conditional
update; results and faults hold the run's row first, so that one of them is the last. A shard that fails for good fails
its run, unless a new plan may help. When the run is over, however it ended, its files and values go; what a worker
still sends is refused.

Locks are taken in one order: the batch, the run, its shards. A claim holds its shard and nothing else.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Greatest
from django.db.models.lookups import IsNull
from django.utils import timezone

from malpan.core.errors import StoredFileMissing
from malpan.core.storage import remove_work, works
from malpan.submissions.errors import PlanOutdated, RescoringCancelled, WorkerLost
from malpan.submissions.evaluation import queueing, runs
from malpan.submissions.evaluation.leases import lease_length
from malpan.submissions.models import RescoreBatch, RunShard, ScoringRun

logger = logging.getLogger(__name__)

BATCH: Final = 200  # of one pass of the reconciler
FAIR_ORDER: Final = (IsNull(F("run__batch"), False), F("fair_tag"), F("pk"))
WORK_PREFIX: Final = "run-"
State = RunShard.State
Kind = RunShard.Kind
OPEN: Final = (State.QUEUED, State.RUNNING)
AT_WORK: Final = ScoringRun.State.RUNNING
UNFINISHED: Final = (ScoringRun.State.QUEUED, ScoringRun.State.RUNNING)
PLANNED_ANEW: Final = frozenset({PlanOutdated.code, StoredFileMissing.code})  # an upgrade, a restore without the files


def work_of(run_id: int) -> str:
    """The name under which the files of a run's shards lie in private storage."""
    return f"{WORK_PREFIX}{run_id}"


# --- creation ---------------------------------------------------------------------------------------------------------
def create_shards(*, run: ScoringRun, shards: Sequence[RunShard]) -> bool:
    """Add the planned, unsaved ``shards``, with their costs, and give each its turn in the fair order.

    Without any the gathering is all that is left. False, and nothing done, when the run is no longer running under the
    attempt of ``run``: two planners that overlap leave the shards of one. False too when its batch was cancelled
    meanwhile, which ends the run.
    """
    now = timezone.now()
    with transaction.atomic():
        is_wanted = _batch_goes_on(run)
        if not _hold(run.pk, attempt=run.attempt):
            return False
        if not is_wanted:
            ScoringRun.objects.filter(pk=run.pk).update(
                state=ScoringRun.State.FAILED,
                lease_expires_at=None,
                finished_at=now,
                error_code=RescoringCancelled.code,
            )
            return False
        RunShard.objects.filter(run=run).delete()
        for shard, tag in zip(shards, _tags(run, [shard.cost for shard in shards]), strict=True):
            shard.run, shard.fair_tag, shard.queued_at = run, tag, now
        RunShard.objects.bulk_create(shards)
        ScoringRun.objects.filter(pk=run.pk).update(lease_expires_at=now + lease_length())
        if not shards:
            _add_gathering(run.pk, 0)
        keys = [shard.pk for shard in shards]
        transaction.on_commit(lambda: send_shards(keys), robust=True)
    return True


def _batch_goes_on(run: ScoringRun) -> bool:
    """Whether somebody wants the run still. A batch is held: whoever cancels it then finds the shards."""
    if run.batch_id is None:
        return True
    batch = RescoreBatch.objects.select_for_update(no_key=True).get(pk=run.batch_id)
    return batch.state != RescoreBatch.State.CANCELLED


def _tags(run: ScoringRun, costs: Sequence[int]) -> list[int]:
    """The place of each shard: as if the team had sent so many runs one after the other."""
    return list(accumulate(costs, initial=queueing.start_of_turn(run)))[1:]


def _add_gathering(run_id: int, number: int) -> None:
    """The last piece, whose turn has come with that of the last shard. In the transaction that finished it."""
    tag = ScoringRun.objects.values_list("fair_tag", flat=True).get(pk=run_id)
    shard = RunShard.objects.create(
        run_id=run_id, kind=Kind.GATHER, number=number, fair_tag=tag, queued_at=timezone.now()
    )
    transaction.on_commit(lambda: send_shards([shard.pk]), robust=True)


# --- claims -----------------------------------------------------------------------------------------------------------
def waiting(now: datetime) -> QuerySet[RunShard]:
    """The shards that may be taken at ``now``, the one whose turn it is first."""
    due = Q(not_before=None) | Q(not_before__lte=now)
    return RunShard.objects.filter(due, state=State.QUEUED, run__state=AT_WORK).order_by(*FAIR_ORDER)


def claim_next(*, worker: str) -> RunShard | None:
    """Move the shard whose turn it is to running, or ``None`` when none waits. No two workers get the same.

    Rows that somebody holds this moment are passed over, and waited for when nothing else is there, as
    ``queueing.claim_next`` does.
    """
    for passes_over in (True, False):
        with transaction.atomic():
            rows = waiting(timezone.now()).select_for_update(skip_locked=passes_over, no_key=True, of=("self",))
            shard = rows.first()
            if shard is not None:
                _take(shard, worker)
        if shard is not None:
            # the virtual time of the queue is read from the runs; apart, as the claim waits for nobody who has the run
            ScoringRun.objects.filter(pk=shard.run_id).update(fair_tag=Greatest("fair_tag", shard.fair_tag))
            return RunShard.objects.select_related("run").get(pk=shard.pk)
    return None


def _take(shard: RunShard, worker: str) -> None:
    """Write the claim of ``shard``, whose row is held: a new attempt, with a lease."""
    shard.state, shard.attempt, shard.worker = State.RUNNING, shard.attempt + 1, worker[:120]
    shard.lease_expires_at, shard.not_before, shard.progress = timezone.now() + lease_length(), None, 0.0
    shard.save(update_fields=["state", "attempt", "worker", "lease_expires_at", "not_before", "progress"])


# --- ends -------------------------------------------------------------------------------------------------------------
def finish_shard(*, shard: RunShard, values: dict[str, list[float]]) -> bool:
    """Write what the attempt of ``shard`` gave, and add the gathering when it was the last.

    False, and nothing written, when the shard or its run is no longer running under this attempt.
    """
    with transaction.atomic():
        if not _hold(shard.run_id) or not _end(shard, State.FINISHED, values=values, progress=1.0, error_code=""):
            logger.warning("shard %s: late result of attempt %s refused", shard, shard.attempt)
            return False
        siblings = RunShard.objects.filter(run=shard.run_id, kind=Kind.SCORE)
        total, still_open = siblings.count(), siblings.filter(state__in=OPEN).count()
        ScoringRun.objects.filter(pk=shard.run_id).update(
            progress=(total - still_open) / (total + 1), lease_expires_at=timezone.now() + lease_length()
        )
        if not still_open:
            _add_gathering(shard.run_id, total)
    return True


def finish_gathering(*, shard: RunShard) -> bool:
    """Mark the gathering as done, in the transaction that finishes the run. False when it is in other hands."""
    return _hold(shard.run_id) is not None and _end(shard, State.FINISHED, progress=1.0, error_code="")


def fail_shard(*, shard: RunShard, error_code: str, pause: float = 0) -> bool:
    """Note a fault of ours: queue the shard again after ``pause`` seconds or, after the last attempt, fail its run.

    Where the plan itself no longer holds, the last attempt ends the shards, and the run is queued to be planned anew
    as often as runs are tried.
    False, and nothing done, when the shard or its run is no longer running under this attempt.
    """
    with transaction.atomic():
        run = _hold(shard.run_id)
        if run is None:
            return False
        if shard.attempt >= settings.RUN_MAX_ATTEMPTS:
            return _end(shard, State.FAILED, error_code=error_code) and _fail_run_of(run, error_code, pause)
        moved = bool(
            _held(shard).update(
                state=State.QUEUED,
                lease_expires_at=None,
                sent_at=None,
                error_code=error_code,
                not_before=timezone.now() + timedelta(seconds=pause) if pause else None,
            )
        )
        if moved:
            logger.warning("shard %s: attempt %s failed (%s); queued again", shard, shard.attempt, error_code)
            later = pause + runs.CLOCK_SKEW_SECONDS if pause else 0
            transaction.on_commit(lambda: send_shards([shard.pk], pause=later), robust=True)
        return moved


def fail_planning(*, run: ScoringRun, error_code: str, pause: float = 0) -> bool:
    """Note a fault of the planning of ``run``, as ``runs.fail_run`` does.

    False, and nothing done, when its shards were made before the fault came, and when it is in other hands.
    """
    with transaction.atomic():
        if not _hold(run.pk, attempt=run.attempt) or RunShard.objects.filter(run=run, state__in=OPEN).exists():
            return False
        return runs.fail_run(run_id=run.pk, attempt=run.attempt, error_code=error_code, pause=pause)


def _fail_run_of(run: ScoringRun, error_code: str, pause: float) -> bool:
    """Fail the run whose shard has failed, or have it planned anew. Its row is held."""
    is_planned_anew = error_code in PLANNED_ANEW
    if is_planned_anew:  # while it is planned it is running, and nobody must take its old shards
        _end_open(run.pk)
    return runs.fail_run(
        run_id=run.pk, attempt=run.attempt, error_code=error_code, pause=pause, for_good=not is_planned_anew
    )


def _hold(run_id: int, **wanted: Any) -> ScoringRun | None:
    """The row of a run that is at work, held until the transaction ends."""
    rows = ScoringRun.objects.filter(pk=run_id, state=AT_WORK, **wanted)
    return rows.select_for_update(no_key=True).first()


def _held(shard: RunShard) -> QuerySet[RunShard]:
    return RunShard.objects.filter(pk=shard.pk, attempt=shard.attempt, state=State.RUNNING)


def _end(shard: RunShard, state: RunShard.State, **fields: Any) -> bool:
    return bool(_held(shard).update(state=state, lease_expires_at=None, finished_at=timezone.now(), **fields))


def _end_open(run_id: int) -> None:
    rows = RunShard.objects.filter(run=run_id, state__in=OPEN)
    rows.update(state=State.FAILED, lease_expires_at=None, finished_at=timezone.now())


def has_open() -> Exists:
    """Of a query of runs: whether the run has an open shard. It lives by that, whatever its own lease says."""
    return Exists(RunShard.objects.filter(run=OuterRef("pk"), state__in=OPEN))


def droppable(rows: QuerySet[ScoringRun]) -> QuerySet[ScoringRun]:
    """Those of ``rows`` that end at once where nobody wants them: queued ones, and ones that go on shard by shard."""
    has_shards = Exists(RunShard.objects.filter(run=OuterRef("pk")))
    return rows.filter(Q(state=ScoringRun.State.QUEUED) | Q(has_shards, state=AT_WORK))


# --- messages and the reconciler's passes -----------------------------------------------------------------------------
def send_shards(keys: Sequence[int], *, pause: float = 0) -> int:
    """Tell the workers, after ``pause`` seconds, that these shards wait: a message each. How many went out."""
    sent = queueing.send_hints(len(keys), pause=pause)
    queued = RunShard.objects.filter(state=State.QUEUED)
    queued.filter(pk__in=keys[sent:]).update(sent_at=None)
    queued.filter(pk__in=keys[:sent]).update(sent_at=timezone.now() + timedelta(seconds=pause))
    return sent


def take_back(now: datetime) -> int:
    """Take back the shards whose lease ran out; how many."""
    silent = RunShard.objects.filter(state=State.RUNNING, lease_expires_at__lt=now, run__state=AT_WORK)
    rows = list(silent.order_by("lease_expires_at")[:BATCH])
    return sum(fail_shard(shard=shard, error_code=WorkerLost.code) for shard in rows)


def send_again(now: datetime, due: Q) -> int:
    """A message for each shard that may lack one; ``due`` says which those are."""
    rows = waiting(now).filter(due)
    with transaction.atomic():
        locked = rows.select_for_update(skip_locked=True, no_key=True, of=("self",))
        keys = list(locked.values_list("pk", flat=True)[:BATCH])
        RunShard.objects.filter(pk__in=keys).update(sent_at=now)  # ours: another reconciler passes them over
    return send_shards(keys)


def clear(run_id: int) -> None:
    """Remove what the shards of a run that is over were given and gave; the rows stay as a record."""
    _end_open(run_id)
    RunShard.objects.filter(run=run_id).exclude(values=None).update(values=None)
    remove_work(work_of(run_id))


def clear_ended() -> int:
    """Clear every run that is over and still has files or open shards; how many."""
    found = {int(name.removeprefix(WORK_PREFIX)) for name in works() if name.startswith(WORK_PREFIX)}
    going_on = ScoringRun.objects.filter(pk__in=found, state__in=UNFINISHED).values_list("pk", flat=True)
    left_open = RunShard.objects.filter(state__in=OPEN).exclude(run__state__in=UNFINISHED)
    over = found.difference(going_on).union(left_open.values_list("run", flat=True))
    for run_id in over:
        clear(run_id)
    return len(over)
