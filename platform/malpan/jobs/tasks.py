"""The Celery tasks: a message has no arguments, and its task calls one function. The settings name the queues."""

from __future__ import annotations

import logging

from celery import Task, shared_task
from django.db.models.functions import Now

from malpan.core import tracing
from malpan.core.log import logged_with
from malpan.jobs import claim, doorbell, heartbeat, refusal
from malpan.jobs.faults import record_faults
from malpan.jobs.lease import LeaseRenewer
from malpan.jobs.models import Job
from malpan.jobs.outage import UNREACHABLE
from malpan.jobs.reconcile import reconcile
from malpan.jobs.registry import handler_of

logger = logging.getLogger(__name__)


@shared_task(bind=True)
def work(self: Task) -> None:
    """Answer the doorbell: do the next job."""
    work_next(worker=self.request.hostname or "")


@shared_task
def look_for_work() -> None:
    """Recover what a worker or the broker lost, and ring if anything waits."""
    reconcile()


def work_next(*, worker: str) -> Job | None:
    """Do the next job and return it, after waking the next worker; ``None`` if none is due, or this process refuses.

    While the database is away, the ring is kept, and so nobody else's is taken.
    """
    if refusal.reason():
        return None
    job = claim.claim_patiently(worker=worker)
    if job is None:
        logger.debug("nothing is waiting")
        return None
    if _may_more_wait():
        doorbell.ring()
    perform(job)
    return job


def _may_more_wait() -> bool:
    try:
        return claim.due(Now()).exists()
    except UNREACHABLE:  # the job is ours already; a ring too many finds nothing
        return True


def perform(job: Job) -> None:
    """Do a claimed job while its lease is renewed; faults are written to its row."""
    with (
        logged_with(job=job.pk, attempt=job.attempt),
        record_faults(job),
        tracing.continued(job.traceparent),
        tracing.span(job.kind, job=job.pk, attempt=job.attempt),
        heartbeat.doing(job.pk),
        LeaseRenewer(job) as lease,
    ):
        handler_of(job.kind).work(job, lease)
