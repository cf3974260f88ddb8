"""How a job ends or returns to the queue: every move updates one row, and exactly one of several attempts succeeds.

An outcome belongs to an attempt, and is refused if the job is no longer running with it. The order of locks: a parent
before its children, a job before its subject.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Q
from django.db.models.functions import Now

from malpan.core.locks import Level, lock_rows
from malpan.jobs import outage, queue
from malpan.jobs.clock import database_now
from malpan.jobs.doorbell import ring, ring_on_commit
from malpan.jobs.models import OPEN, Job
from malpan.jobs.registry import handler_of

logger = logging.getLogger(__name__)
State = Job.State


def written(job: Job, write: Callable[[], bool]) -> bool:
    """``write()``, which moves ``job`` on in a transaction, by one of the functions below; whether it did.

    While the database is away it is tried again (``outage.patience``); the attempt decides afterwards. Raises
    ``outage.StillAway``.
    """

    def again() -> bool:
        is_done = _is_finished(job) or write() or _is_finished(job)  # the last: the lost commit was still on its way
        ring()  # what follows a commit is lost with its answer
        return is_done

    connection.close_if_unusable_or_obsolete()  # it may have been idle for long
    return outage.outlast(write, again=again)


def finish(*, job_id: int, attempt: int) -> bool:
    """Finish a job. Call it first in the transaction that writes the result; if false, it is late: write nothing."""
    held = Job.objects.filter(pk=job_id, attempt=attempt, state=State.RUNNING)
    over = {"state": State.FINISHED, "finished_at": Now(), "lease_expires_at": None}
    if not held.update(**over, progress=1.0, error_code=""):
        logger.warning("job %s: late result of attempt %s refused", job_id, attempt)
        return False
    _tell_parent(job_id)
    return True


def fail(*, job_id: int, attempt: int, error_code: str, pause: float = 0) -> bool:
    """Record a fault on our side: queue the job again after ``pause`` seconds or, after the last try, give it up.

    Returns false and does nothing if the job is no longer running with this attempt.
    """
    with transaction.atomic():
        job = _locked(job_id, attempt)
        if job is None:
            return False
        _fail(job, error_code, pause)
    return True


def wait(*, job_id: int, attempt: int, error_code: str, pause: float, at_most: float | None) -> bool:
    """Queue the job again after ``pause`` seconds, as it waits for what ``error_code`` names.

    That is no failure, unless it has waited for the same longer than ``at_most`` seconds since it was last ``resumed``.

    Returns false and does nothing if the job is no longer running with this attempt.
    """
    with transaction.atomic():
        job = _locked(job_id, attempt)
        if job is None:
            return False
        now = database_now()
        is_new = job.error_code != error_code
        if job.waiting_since is None or is_new:
            job.waiting_since = now
        if at_most is not None and now - job.waiting_since > timedelta(seconds=at_most):
            _fail(job, error_code, pause)
            return True
        job.error_code = error_code
        handler_of(job.kind).waits(job, is_new=is_new)
        _queue_again(job, pause)
    return True


def resumed(*, job_id: int) -> bool:
    """What the running job waited for is back, and it makes progress: a later wait begins anew. Whether it waited."""
    waited = Job.objects.filter(pk=job_id, state=State.RUNNING).exclude(waiting_since=None)
    return bool(waited.update(waiting_since=None))


def put_back(*, job_id: int, attempt: int, pause: float) -> bool:
    """Return the job to the queue for another worker, after ``pause`` seconds; it does not count as a failure."""
    with transaction.atomic():
        job = _locked(job_id, attempt)
        if job is not None:
            _queue_again(job, pause)
    return job is not None


def wait_for_children(*, job: Job, kind: str, costs: Sequence[int]) -> bool:
    """Queue a child for each of ``costs``, and the job itself again, to run when all of them are over.

    It keeps its place in the fair order, and its handler is not called. A child that is given up counts as over. What
    the job had waited for outside is there.
    Returns false and does nothing if the job is no longer running with this attempt.
    """
    with transaction.atomic():
        if _locked(job.pk, job.attempt) is None:
            return False
        queue.add(kind=kind, flow=job.flow, lane=job.lane, costs=costs, parent=job)
        Job.objects.filter(pk=job.pk).update(state=State.QUEUED, lease_expires_at=None, waiting_since=None)
    return True


def drop(job_ids: Iterable[int], *, error_code: str) -> list[int]:
    """End the open ones of these jobs, with their children, as they are no longer needed. Returns their primary keys.

    What their workers still send is refused. For the place of these locks in the order see ``core.locks``.
    """
    over = {"state": State.FAILED, "finished_at": Now(), "lease_expires_at": None, "error_code": error_code}
    with transaction.atomic():
        rows = Job.objects.filter(pk__in=list(job_ids), state__in=OPEN).order_by("pk")
        held = list(rows.select_for_update(no_key=True).values_list("pk", flat=True))
        Job.objects.filter(pk__in=held).update(**over)
        Job.objects.filter(parent__in=held, state__in=OPEN).update(**over)
    return held


def _is_finished(job: Job) -> bool:
    """Whether this attempt is finished: by nobody else."""
    return Job.objects.filter(pk=job.pk, attempt=job.attempt, state=State.FINISHED).exists()


def _locked(job_id: int, attempt: int) -> Job | None:
    """The row of a job that is running with ``attempt``, locked until the transaction ends; else ``None``."""
    rows = Job.objects.filter(pk=job_id, attempt=attempt, state=State.RUNNING)
    return lock_rows(rows, Level.WORK).first()


def _fail(job: Job, error_code: str, pause: float) -> None:
    job.failures += 1
    job.error_code = error_code
    if job.failures < settings.JOB_MAX_FAILURES:
        logger.warning("%s: attempt %s failed (%s); queued again", job, job.attempt, error_code)
        _queue_again(job, pause)
    else:
        _give_up(job)


def _queue_again(job: Job, pause: float) -> None:
    job.state, job.lease_expires_at, job.stage, job.progress = State.QUEUED, None, "", 0.0
    job.not_before = database_now() + timedelta(seconds=pause) if pause else None
    job.save(
        update_fields=[
            *("state", "lease_expires_at", "stage", "progress", "not_before", "waiting_since", "failures", "error_code")
        ]
    )
    handler_of(job.kind).put_back(job)
    if not pause:  # otherwise beat rings when it is due
        ring_on_commit()


def _give_up(job: Job) -> None:
    logger.error("%s is given up after %s attempts: %s", job, job.attempt, job.error_code)
    job.state, job.lease_expires_at, job.finished_at = State.FAILED, None, database_now()
    job.save(update_fields=["state", "lease_expires_at", "finished_at", "failures", "error_code"])
    handler_of(job.kind).given_up(job)
    _tell_parent(job.pk)


def _tell_parent(job_id: int) -> None:
    """After the commit, update the parent's progress from its children; it may be due now."""
    parent_id = Job.objects.values_list("parent", flat=True).get(pk=job_id)
    if parent_id is not None:  # in its own transaction: the parent's row is never requested while a child's is locked
        transaction.on_commit(lambda: _note_progress(parent_id), robust=True)
        ring_on_commit()


def _note_progress(parent_id: int) -> None:
    over = Count("pk", filter=~Q(state__in=OPEN))
    found = Job.objects.filter(parent=parent_id).order_by().aggregate(all=Count("pk"), over=over)
    waiting = Job.objects.filter(pk=parent_id, state=State.QUEUED)
    waiting.update(progress=found["over"] / (found["all"] + 1))
