"""The worker's boundary: every error that stops a job is written to its row, without quoting any submitted text."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from malpan.core.errors import StorageUnavailable, SystemFault
from malpan.core.service_faults import is_full
from malpan.jobs import outage, outcome
from malpan.jobs.errors import VersionMissing
from malpan.jobs.lease import LeaseLost
from malpan.jobs.models import Job
from malpan.jobs.registry import MustWait, NotMine, NumbersDiffer, handler_of

logger = logging.getLogger(__name__)

# times the number of failures, so that a temporary fault can pass; an outage has passed once it can be written
RETRY_PAUSE_SECONDS: Final = 5
STORE_PAUSE_SECONDS: Final = 15  # the store of files is away for all jobs: no failure of this one
STORE_WAIT_SECONDS: Final = 6 * 60 * 60
PUT_BACK_SECONDS: Final = 15  # until this worker may claim the job again: another one has a chance


@contextmanager
def record_faults(job: Job) -> Iterator[None]:
    """Write every fault of the ``with`` block to ``job``; a lost lease ends the block quietly.

    A process that is being stopped writes nothing: the lease will expire.
    """
    try:
        yield
    except LeaseLost:
        logger.info("%s: attempt %s stops, it is in other hands", job, job.attempt)
    except NumbersDiffer as reason:
        logger.warning("%s: left to another worker: %s", job, reason)
        outcome.written(job, partial(outcome.put_back, job_id=job.pk, attempt=job.attempt, pause=PUT_BACK_SECONDS))
    except NotMine as reason:
        logger.warning("%s: left to a worker of another version: %s", job, reason)
        _wait(job, VersionMissing, pause=PUT_BACK_SECONDS, at_most=None)
    except MustWait as reason:
        logger.warning("%s: waits: %s", job, reason)
        _wait(job, reason.fault, pause=reason.pause, at_most=reason.at_most)
    except StorageUnavailable:
        logger.warning("%s: waits for the store of files", job)
        _wait(job, StorageUnavailable, pause=STORE_PAUSE_SECONDS, at_most=STORE_WAIT_SECONDS)
    except Exception as error:
        if is_full(error):  # until somebody makes room, which takes longer than all tries
            logger.warning("%s: put back, as the database has no room left on its disk", job)
            put_back = partial(outcome.put_back, job_id=job.pk, attempt=job.attempt)
            outcome.written(job, partial(put_back, pause=RETRY_PAUSE_SECONDS))
        elif isinstance(error, outage.StillAway):
            raise  # nothing can be written: the lease will expire
        else:
            _fail(job, error)


def _wait(job: Job, fault: type[SystemFault], *, pause: float, at_most: float | None) -> None:
    waits = partial(outcome.wait, job_id=job.pk, attempt=job.attempt, error_code=fault.code)
    outcome.written(job, partial(waits, pause=pause, at_most=at_most))


def _fail(job: Job, error: Exception) -> None:
    """Write that the attempt failed, as soon as the database is there."""
    _log(job, error)
    code = error.code if isinstance(error, SystemFault) else handler_of(job.kind).crashed.code
    pauses = job.failures if isinstance(error, outage.UNREACHABLE) else job.failures + 1
    failed = partial(outcome.fail, job_id=job.pk, attempt=job.attempt, error_code=code)
    outcome.written(job, partial(failed, pause=RETRY_PAUSE_SECONDS * pauses))


def _log(job: Job, error: Exception) -> None:
    """Log where it stopped and the class of the error, but not its message, which may quote a text."""
    places = "".join(traceback.format_tb(error.__traceback__))
    logger.error("%s: attempt %s: %s\n%s", job, job.attempt, type(error).__name__, places)
