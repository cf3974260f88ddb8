"""Recovers what a worker or the broker lost, from the database, a limited number at a time.

Any number of reconcilers may run at once: jobs are locked, and those of the others skipped. Each job has a transaction
of its own: giving one up locks its team too, after which no further job may be locked (``core.locks``), and one that
cannot be taken back keeps no other from it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from kombu.exceptions import OperationalError as BrokerUnreachable

from malpan.jobs import claim, doorbell, outcome
from malpan.jobs.errors import WorkerLost
from malpan.jobs.models import Job
from malpan.jobs.outage import UNREACHABLE
from malpan.jobs.registry import kinds

logger = logging.getLogger(__name__)

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
    found = list(silent.order_by("lease_expires_at").values_list("pk", flat=True)[:BATCH])
    return sum(_is_reclaimed(silent.filter(pk=pk)) for pk in found)


def _is_reclaimed(silent: QuerySet[Job]) -> bool:
    """Reclaim the one job of ``silent``, unless somebody holds it or it is not silent any more."""
    try:
        with transaction.atomic():
            job = silent.select_for_update(skip_locked=True, no_key=True, of=("self",)).first()
            return job is not None and outcome.fail(job_id=job.pk, attempt=job.attempt, error_code=WorkerLost.code)
    except UNREACHABLE:
        raise
    except Exception:
        logger.exception("a job of a lost worker cannot be taken back: %s", silent.first())
        return False


def ring_for_what_waits(now: datetime | Now) -> bool:
    """Ring if a job of any kind is due, even one unknown to this process. Returns whether it rang."""
    try:
        return claim.due(now).exists() and not doorbell.is_ringing() and doorbell.ring()
    except BrokerUnreachable:
        return False
