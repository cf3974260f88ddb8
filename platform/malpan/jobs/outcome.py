"""How a job ends, or comes back: every move is one row, and of all who try to move it exactly one does.

An outcome names the attempt that it is of, and is refused when the job is no longer running under it. Locks are taken
in one order: a parent before its children, a job before what it is about.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from malpan.core.locks import Level, lock_rows
from malpan.jobs import queue
from malpan.jobs.doorbell import ring_on_commit
from malpan.jobs.models import OPEN, Job
from malpan.jobs.registry import handler_of

logger = logging.getLogger(__name__)
State = Job.State


def finish(*, job_id: int, attempt: int) -> bool:
    """It is done. Call it first in the transaction that writes the result; False: a late result, write nothing."""
    held = Job.objects.filter(pk=job_id, attempt=attempt, state=State.RUNNING)
    over = {"state": State.FINISHED, "finished_at": timezone.now(), "lease_expires_at": None}
    if not held.update(**over, progress=1.0, error_code=""):
        logger.warning("job %s: late result of attempt %s refused", job_id, attempt)
        return False
    _tell_parent(job_id)
    return True


def fail(*, job_id: int, attempt: int, error_code: str, pause: float = 0) -> bool:
    """Note a fault of ours: queue the job again after ``pause`` seconds or, after the last try, give it up.

    False, and nothing done, when the job is no longer running under this attempt.
    """
    with transaction.atomic():
        job = _held(job_id, attempt)
        if job is None:
            return False
        job.failures += 1
        job.error_code = error_code
        if job.failures < settings.JOB_MAX_ATTEMPTS:
            logger.warning("%s: attempt %s failed (%s); queued again", job, attempt, error_code)
            _queue_again(job, pause)
        else:
            _give_up(job)
    return True


def put_back(*, job_id: int, attempt: int, pause: float) -> bool:
    """Leave the job to another worker, from ``pause`` seconds on; it counts as no failure."""
    with transaction.atomic():
        job = _held(job_id, attempt)
        if job is not None:
            _queue_again(job, pause)
    return job is not None


def wait_for_children(*, job: Job, kind: str, costs: Sequence[int]) -> bool:
    """Queue a child of each of ``costs``, and the job itself again, to be taken when all of them are over.

    It keeps its place in the fair order, and its handler is not told. A child that is given up counts as over. False,
    and nothing done, when the job is no longer running under this attempt.
    """
    with transaction.atomic():
        if _held(job.pk, job.attempt) is None:
            return False
        queue.add(kind=kind, flow=job.flow, lane=job.lane, costs=costs, parent=job)
        Job.objects.filter(pk=job.pk).update(state=State.QUEUED, lease_expires_at=None)
    return True


def drop(job_ids: Iterable[int], *, error_code: str) -> list[int]:
    """End those of the jobs that are open, with their children: nobody wants them. Returns which they were.

    What their workers still send is refused. For the place of these locks in the order see ``core.locks``.
    """
    over = {"state": State.FAILED, "finished_at": timezone.now(), "lease_expires_at": None, "error_code": error_code}
    with transaction.atomic():
        rows = Job.objects.filter(pk__in=list(job_ids), state__in=OPEN).order_by("pk")
        held = list(rows.select_for_update(no_key=True).values_list("pk", flat=True))
        Job.objects.filter(pk__in=held).update(**over)
        Job.objects.filter(parent__in=held, state__in=OPEN).update(**over)
    return held


def _held(job_id: int, attempt: int) -> Job | None:
    """The row of a job that runs under ``attempt``, held until the transaction ends."""
    rows = Job.objects.filter(pk=job_id, attempt=attempt, state=State.RUNNING)
    return lock_rows(rows, Level.WORK).first()


def _queue_again(job: Job, pause: float) -> None:
    job.state, job.lease_expires_at, job.stage, job.progress = State.QUEUED, None, "", 0.0
    job.not_before = timezone.now() + timedelta(seconds=pause) if pause else None
    job.save(update_fields=["state", "lease_expires_at", "stage", "progress", "not_before", "failures", "error_code"])
    handler_of(job.kind).put_back(job)
    if not pause:  # else beat rings when its time has come
        ring_on_commit()


def _give_up(job: Job) -> None:
    logger.error("%s is given up after %s attempts: %s", job, job.attempt, job.error_code)
    job.state, job.lease_expires_at, job.finished_at = State.FAILED, None, timezone.now()
    job.save(update_fields=["state", "lease_expires_at", "finished_at", "failures", "error_code"])
    handler_of(job.kind).given_up(job)
    _tell_parent(job.pk)


def _tell_parent(job_id: int) -> None:
    """After the commit: a parent is as far as its children are, and may be due now."""
    parent_id = Job.objects.values_list("parent", flat=True).get(pk=job_id)
    if parent_id is not None:  # apart: a child's row is never held while the parent's is asked for
        transaction.on_commit(lambda: _note_progress(parent_id), robust=True)
        ring_on_commit()


def _note_progress(parent_id: int) -> None:
    over = Count("pk", filter=~Q(state__in=OPEN))
    found = Job.objects.filter(parent=parent_id).order_by().aggregate(all=Count("pk"), over=over)
    waiting = Job.objects.filter(pk=parent_id, state=State.QUEUED)
    waiting.update(progress=found["over"] / (found["all"] + 1))
