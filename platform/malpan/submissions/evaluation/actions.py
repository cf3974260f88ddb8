"""Operators' actions on runs: cancel one, download an uploaded file. (``retrying`` scores one again.)

There is no state for cancelled runs: they are failed, with ``CancelledByOrganiser.code`` as the error. A late result of
the worker is refused, as the job is no longer running, and the worker's ``LeaseRenewer`` stops it.
"""

from __future__ import annotations

from typing import BinaryIO

from django.db import transaction

from malpan.accounts.models import User
from malpan.core import audit
from malpan.core.locks import Level, lock_rows
from malpan.core.storage import open_private
from malpan.jobs.models import Job
from malpan.submissions.errors import CancelledByOrganiser, RunBelongsToBatch, RunNotCancellable
from malpan.submissions.evaluation import runs
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.quota import services as quota

State = ScoringRun.State


def cancel_run(*, run: ScoringRun, actor: User, reason: str = "") -> None:
    """Cancel a queued or running run and refund its submission, unless an earlier run of it counts.

    Raises ``RunNotCancellable`` if it is already over, and ``RunBelongsToBatch``. If a result arrives at the same time,
    the first to change the row wins and the other changes nothing.
    """
    if run.batch_id is not None:
        raise RunBelongsToBatch
    with transaction.atomic():
        # lock order: the job before the run, and both before the team, as wherever a run is given up
        job = lock_rows(Job.objects.filter(pk=run.job_id), Level.WORK).first() if run.job_id else None
        held = ScoringRun.objects.get(pk=run.pk)
        if job is None or not runs.drop_runs([held], error_code=CancelledByOrganiser.code):
            raise RunNotCancellable(state=held.get_state_display())
        submission = Submission.objects.select_related("phase__track", "team").get(pk=run.submission_id)
        before = {"state": held.state, "attempt": job.attempt, "worker": job.worker}
        after = {"state": State.FAILED.value, "error_code": CancelledByOrganiser.code, "reason": reason}
        audit.record(actor=actor, action="run.cancel", obj=held, before=before, after=after)
        if submission.live_run_id is None:
            quota.refund(submission=submission, reason=reason or CancelledByOrganiser.code, actor=actor)


def open_for_download(*, submission: Submission, actor: User) -> BinaryIO:
    """The uploaded file of ``submission``, open for reading, for an organiser; the download is recorded in the audit
    log.

    Raises ``StoredFileMissing``, ``StoredFileCorrupt`` or ``StorageUnavailable``.
    """
    file = open_private(submission.file_sha256)
    facts = {"file_sha256": submission.file_sha256}
    audit.record(actor=actor, action="submission.download", obj=submission, after=facts)
    return file
