"""A worker's lease on a job in the database, renewed by a thread during the work.

The thread has its own database connection. It writes the progress too, so that the working thread never waits for the
database. If the row no longer has our attempt, the lease is lost: another worker has the job, or it was dropped. The
working thread gets ``LeaseLost`` at its next report of progress.
"""

from __future__ import annotations

import logging
import threading
import time
from contextvars import copy_context
from datetime import timedelta
from types import TracebackType
from typing import Final, Self

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now

from malpan.jobs.models import Job
from malpan.jobs.outage import UNREACHABLE

logger = logging.getLogger(__name__)

PROGRESS_SECONDS: Final = 1.0


class LeaseLost(Exception):
    """The job was reclaimed or dropped; the result of this attempt would be refused."""


def lease_length() -> timedelta:
    return timedelta(seconds=settings.JOB_LEASE_SECONDS)


def renew_lease(*, job_id: int, attempt: int, stage: str, progress: float) -> bool:
    """Extend the lease and store the progress (share done, 0-1). False if the job is no longer ours."""
    held = Job.objects.filter(pk=job_id, attempt=attempt, state=Job.State.RUNNING)
    return bool(held.update(lease_expires_at=Now() + lease_length(), stage=stage, progress=progress))


class LeaseRenewer:
    """Renews the lease of ``job`` inside a ``with`` block."""

    def __init__(self, job: Job) -> None:
        self._job_id = job.pk
        self._attempt = job.attempt
        self._now = self._written = (job.stage, job.progress)
        self._renewed_at = time.monotonic()
        self._stop = threading.Event()
        self._lost = threading.Event()
        self._thread = threading.Thread(
            target=copy_context().run,  # its log lines name the job too
            args=(self._renew_until_stopped,),
            name=f"lease-{job.pk}",
            daemon=True,
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=settings.JOB_LEASE_SECONDS)  # a database that hangs must not keep the result

    def report(self, stage: str, progress: float) -> None:
        """Record the progress. Raises ``LeaseLost``, which stops the work on a lost job."""
        self._now = (stage, progress)
        if self._lost.is_set():
            raise LeaseLost

    def _renew_until_stopped(self) -> None:
        third = settings.JOB_LEASE_SECONDS / 3
        try:
            while not self._lost.is_set() and not self._stop.wait(min(PROGRESS_SECONDS, third)):
                now = self._now
                if now != self._written or time.monotonic() - self._renewed_at >= third - PROGRESS_SECONDS:
                    self._renew(*now)
        finally:
            connection.close()

    def _renew(self, stage: str, progress: float) -> None:
        """Write once; if the database is down for a moment, the next turn tries again."""
        try:
            is_ours = renew_lease(job_id=self._job_id, attempt=self._attempt, stage=stage, progress=progress)
        except UNREACHABLE:
            logger.warning("job %s: the lease could not be renewed; the database is unreachable", self._job_id)
            connection.close()
            return
        if not is_ours:  # reclaimed, or just finished by ourselves: only after the former ``report`` is called again
            self._lost.set()
        self._written = (stage, progress)
        self._renewed_at = time.monotonic()
