"""The reconciler: what the queue or a worker lost is put right from the database, a bounded number at a time.

Any number of reconcilers may run at once: each locks the rows it works on and skips those of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from core.errors import WorkerLost
from submissions.batches import settle_open_batches
from submissions.models import ScoringRun
from submissions.runs import fail_run, send_run

BATCH: Final = 200
UNSENT_GRACE: Final = timedelta(seconds=5)  # the commit that created the run is about to send it itself
RESEND_AFTER: Final = timedelta(minutes=5)  # a message may wait in a long queue; a second one does no harm


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What one pass did: runs taken back from silent workers, and messages sent (again)."""

    taken_back: int
    sent: int


def reconcile(*, now: datetime | None = None) -> Reconciled:
    """Take back runs whose lease ran out; send queued runs that nobody took again; see which batches are complete."""
    now = now or timezone.now()
    done = Reconciled(taken_back=_take_back(now), sent=_send_again(now))
    settle_open_batches()
    return done


def _take_back(now: datetime) -> int:
    silent = ScoringRun.objects.filter(state=ScoringRun.State.RUNNING, lease_expires_at__lt=now)
    with transaction.atomic():
        rows = list(
            silent.select_for_update(skip_locked=True).order_by("lease_expires_at").values_list("pk", "attempt")[:BATCH]
        )
        return sum(fail_run(run_id=pk, attempt=attempt, error_code=WorkerLost.code) for pk, attempt in rows)


def _send_again(now: datetime) -> int:
    never_sent = Q(sent_at=None, queued_at__lt=now - UNSENT_GRACE)
    waiting_long = Q(sent_at__lt=now - RESEND_AFTER)
    due = ScoringRun.objects.filter(never_sent | waiting_long, state=ScoringRun.State.QUEUED)
    with transaction.atomic():
        run_ids = list(
            due.select_for_update(skip_locked=True).order_by("queued_at", "pk").values_list("pk", flat=True)[:BATCH]
        )
        ScoringRun.objects.filter(pk__in=run_ids).update(sent_at=now)  # ours: another reconciler passes them over
    for sent, run_id in enumerate(run_ids):
        if not send_run(run_id=run_id):  # the broker is away: the rest waits for the next pass
            ScoringRun.objects.filter(pk__in=run_ids[sent:], state=ScoringRun.State.QUEUED).update(sent_at=None)
            return sent
    return len(run_ids)
