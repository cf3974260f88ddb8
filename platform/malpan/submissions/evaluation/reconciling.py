"""The reconciler: what the queue or a worker lost is put right from the database, a bounded number at a time.

Any number of reconcilers may run at once. Runs, and whatever is sent again, are locked and those of the others skipped;
a silent shard is taken back by the one whose conditional update comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from malpan.submissions.errors import WorkerLost
from malpan.submissions.evaluation import queueing, shards
from malpan.submissions.evaluation.runs import fail_run
from malpan.submissions.models import ScoringRun
from malpan.submissions.rescoring.batches import settle_open_batches

BATCH: Final = 200
UNSENT_GRACE: Final = timedelta(seconds=5)  # the commit that created the run is about to send it itself
RESEND_AFTER: Final = timedelta(minutes=5)  # a message may wait in a long queue; a second one does no harm


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What one pass did: runs and shards taken back from silent workers, and messages sent (again)."""

    taken_back: int
    sent: int


def reconcile(*, now: datetime | None = None) -> Reconciled:
    """Take back what has a lease that ran out; send again what nobody took; see which batches are complete."""
    now = now or timezone.now()
    taken_back = _take_back(now) + shards.take_back(now)
    done = Reconciled(taken_back, sent=_send_again(now) + shards.send_again(now, _may_lack_a_message(now)))
    settle_open_batches()
    shards.clear_ended()
    return done


def _take_back(now: datetime) -> int:
    silent = ScoringRun.objects.filter(~shards.has_open(), state=ScoringRun.State.RUNNING, lease_expires_at__lt=now)
    with transaction.atomic():
        rows = list(
            silent.select_for_update(skip_locked=True).order_by("lease_expires_at").values_list("pk", "attempt")[:BATCH]
        )
        return sum(fail_run(run_id=pk, attempt=attempt, error_code=WorkerLost.code) for pk, attempt in rows)


def _may_lack_a_message(now: datetime) -> Q:
    """What waits, of runs or shards, and was never sent or not for long."""
    never_sent = Q(sent_at=None, queued_at__lt=now - UNSENT_GRACE)
    return never_sent | Q(sent_at__lt=now - RESEND_AFTER)


def _send_again(now: datetime) -> int:
    """A message for each run that may lack one. Those still under way are too many then, and find nothing."""
    is_due = Q(not_before=None) | Q(not_before__lte=now)
    due = ScoringRun.objects.filter(is_due, _may_lack_a_message(now), state=ScoringRun.State.QUEUED)
    with transaction.atomic():
        locked = due.select_for_update(skip_locked=True, no_key=True, of=("self",)).order_by(*queueing.FAIR_ORDER)
        run_ids = list(locked.values_list("pk", flat=True)[:BATCH])
        ScoringRun.objects.filter(pk__in=run_ids).update(sent_at=now)  # ours: another reconciler passes them over
    return queueing.send_runs(run_ids)
