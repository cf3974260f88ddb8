"""What a worker does for the jobs of human evaluation. Registered when the app is ready; nothing heavy is loaded."""

from __future__ import annotations

import logging
from functools import partial
from typing import Final

from malpan.arena import computing
from malpan.arena.computations import JOB, keep_answer
from malpan.arena.errors import ComputationFailed
from malpan.arena.models import Computation
from malpan.jobs import outcome, registry
from malpan.jobs.lease import LeaseRenewer
from malpan.jobs.models import Job
from scoring.arena import INSTRUMENT

logger = logging.getLogger(__name__)

_STAGE: Final = "computing"


class ComputeFigures(registry.Handler):
    """One ``Computation``, of the input in its row."""

    crashed = ComputationFailed

    def work(self, job: Job, lease: LeaseRenewer) -> None:
        row = Computation.objects.filter(job=job.pk).first()
        if row is None or row.answered_at is not None:  # its draft was removed; another attempt was faster
            outcome.written(job, partial(outcome.finish, job_id=job.pk, attempt=job.attempt))
            return
        if row.instrument != INSTRUMENT:
            raise registry.NotMine(row.instrument)
        lease.report(_STAGE, 0.0)
        answer = computing.compute_answer(row)
        if outcome.written(job, partial(keep_answer, row=row, answer=answer, job=job)):
            logger.info("computed")


def register() -> None:
    """Let this process do the jobs of human evaluation."""
    registry.register(JOB, ComputeFigures())
