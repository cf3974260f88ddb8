"""Recovers what a worker or the broker lost, from the database, a limited number at a time.

Any number of reconcilers may run at once: jobs are locked, and those of the others skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models.functions import Now
from kombu.exceptions import OperationalError as BrokerUnreachable

from malpan.jobs import claim, doorbell, outcome
from malpan.jobs.errors import WorkerLost
from malpan.jobs.models import Job
from malpan.jobs.registry import kinds

BATCH: Final = 200


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What one pass did: the number of jobs reclaimed from lost workers, and whether it rang."""

    reclaimed: int
    rang: bool


def reconcile(*, now: datetime | Now | None = None) -> Reconciled:
    """Reclaim jobs with an expired lease; ring if anything waits and no ring is pending."""
    now = now or Now()
    return Reconciled(reclaim_expired(now), ring_for_what_waits(now))


def reclaim_expired(now: datetime | Now) -> int:
    """Reclaim jobs with an expired lease; returns how many. Those of unknown kinds are left to a newer version."""
    silent = Job.objects.filter(state=Job.State.RUNNING, lease_expires_at__lt=now, kind__in=kinds())
    with transaction.atomic():
        locked = silent.select_for_update(skip_locked=True, no_key=True, of=("self",)).order_by("lease_expires_at")
        rows = list(locked.values_list("pk", "attempt")[:BATCH])
        return sum(outcome.fail(job_id=pk, attempt=attempt, error_code=WorkerLost.code) for pk, attempt in rows)


def ring_for_what_waits(now: datetime | Now) -> bool:
    """Ring if a job of any kind is due, even one unknown to this process. Returns whether it rang."""
    try:
        return claim.due(now).exists() and not doorbell.is_ringing() and doorbell.ring()
    except BrokerUnreachable:
        return False
