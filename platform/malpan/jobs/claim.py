"""Claims: no two workers get the same job."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import Exists, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Greatest, Now

from malpan.core.locks import Level, note
from malpan.jobs import order, outage
from malpan.jobs.clock import database_now
from malpan.jobs.lease import lease_length
from malpan.jobs.models import OPEN, Job
from malpan.jobs.registry import handler_of, kinds

State = Job.State


def may_run(now: datetime | Now) -> Q:
    """Of jobs: those that may be claimed at ``now``. One with open children waits for them."""
    is_due = Q(not_before=None) | Q(not_before__lte=now)
    open_children = Job.objects.filter(parent=OuterRef("pk"), state__in=OPEN)
    return Q(is_due, ~Q(Exists(open_children)), state=State.QUEUED)


def due(now: datetime | Now) -> QuerySet[Job]:
    """The jobs that may be claimed at ``now``, the next one first."""
    return Job.objects.filter(may_run(now)).order_by(*order.FAIR_ORDER)


def waits_since(now: datetime | Now) -> Min:
    """Of a group of jobs: since when the one that could run for longest waits for a worker."""
    return Min(Greatest("queued_at", "not_before"), filter=may_run(now))


def claim_patiently(*, worker: str) -> Job | None:
    """As ``claim_next``; while the database is away, it is tried again, until the worker is stopped.

    Raises ``outage.StillAway`` after ``outage.RING_SECONDS``.
    """
    unsure: list[Job] = []

    def again() -> Job | None:
        return next(filter(_was_taken, unsure), None) or claim_next(worker=worker, unsure=unsure)

    first = partial(claim_next, worker=worker, unsure=unsure)
    return outage.outlast(first, again=again, seconds=outage.RING_SECONDS, gives_up=outage.is_stopping)


def claim_next(*, worker: str, unsure: list[Job] | None = None) -> Job | None:
    """Claim the next job and move it to running; ``None`` if no job is due that this process can do.

    Locked rows are skipped first, and waited for only if there is nothing else: otherwise the last job, if locked for
    an instant, would wait for the next ring. If the answer to the commit is lost, the job is the last of ``unsure``.
    """
    for passes_over in (True, False):
        with transaction.atomic():
            rows = due(Now()).filter(kind__in=kinds())
            note(Level.WORK)
            job = rows.select_for_update(skip_locked=passes_over, no_key=True, of=("self",)).first()
            if job is not None:
                take(job, worker)
                if unsure is not None:
                    unsure.append(job)
                return job
    return None


def _was_taken(job: Job) -> bool:
    """Whether this very claim of ``job`` was committed, and is still ours; its lease begins anew."""
    claimed = {"attempt": job.attempt, "worker": job.worker, "started_at": job.started_at}
    ours = Job.objects.filter(pk=job.pk, state=State.RUNNING, **claimed)
    return bool(ours.update(lease_expires_at=Now() + lease_length()))


def take(job: Job, worker: str) -> None:
    """Write the claim of ``job``, whose row must be locked: a new attempt, with a lease."""
    now = database_now()
    job.state, job.attempt, job.worker = State.RUNNING, job.attempt + 1, worker[:120]
    job.started_at, job.lease_expires_at, job.not_before = now, now + lease_length(), None
    job.save(update_fields=["state", "attempt", "worker", "started_at", "lease_expires_at", "not_before"])
    handler_of(job.kind).claimed(job)
