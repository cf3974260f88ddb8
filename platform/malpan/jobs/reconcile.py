"""Recovers what a worker or the broker lost, from the database, a limited number at a time.

Any number of reconcilers may run at once: each job is locked in a transaction of its own, as giving it up locks its
team, and those that others have locked are skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from kombu.exceptions import OperationalError as BrokerUnreachable

from malpan.core.log import logged_with
from malpan.core.one_by_one import one_by_one
from malpan.jobs import claim, doorbell, outcome
from malpan.jobs.errors import WorkerLost
from malpan.jobs.models import Job
from malpan.jobs.registry import kinds

BATCH: Final = 200  # jobs in a pass


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
    """Reclaim up to ``BATCH`` jobs with an expired lease, the longest silent first; returns how many.

    Those of unknown kinds are left to a newer version. One that cannot be reclaimed is logged and left to the next
    pass. Raises ``OperationalError`` or ``InterfaceError`` if the database is away or has no room left.
    """
    silent = Job.objects.filter(state=Job.State.RUNNING, lease_expires_at__lt=now, kind__in=kinds())
    keys = list(silent.order_by("lease_expires_at").values_list("pk", flat=True)[:BATCH])
    return sum(one_by_one(keys, partial(_reclaim, silent), "the jobs to reclaim"))


def _reclaim(silent: QuerySet[Job], pk: int) -> bool:
    """Reclaim a job unless somebody has it locked, or it is no longer ``silent``."""
    with logged_with(job=pk), transaction.atomic():
        job = silent.filter(pk=pk).select_for_update(skip_locked=True, no_key=True, of=("self",)).first()
        return job is not None and outcome.fail(job_id=pk, attempt=job.attempt, error_code=WorkerLost.code)


def ring_for_what_waits(now: datetime | Now) -> bool:
    """Ring if a job of any kind is due, even one unknown to this process. Returns whether it rang."""
    try:
        return claim.due(now).exists() and not doorbell.is_ringing() and doorbell.ring()
    except BrokerUnreachable:
        return False
