"""What operators do to runs by hand: cancel one, try several again, take out an uploaded file.

A cancelled run has no state of its own: it is failed, with ``CancelledByOrganiser.code`` for its error. Whatever its
worker still sends is refused, as the run is no longer running, and the worker's ``LeaseKeeper`` stops it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

from django.db import transaction
from django.utils import timezone

from malpan.accounts.models import User
from malpan.core import audit
from malpan.core.errors import DomainError
from malpan.core.locks import Level, lock_rows
from malpan.core.storage import open_private
from malpan.submissions.errors import CancelledByOrganiser, RunBelongsToBatch, RunNotCancellable
from malpan.submissions.evaluation.runs import retry_failed_run
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.quota import services as quota

State = ScoringRun.State


@dataclass(frozen=True, slots=True)
class Retried:
    """What came of trying several runs again: the new runs, and the refused ones with the reason."""

    runs: tuple[ScoringRun, ...]
    refused: tuple[tuple[ScoringRun, DomainError], ...]


def cancel_run(*, run: ScoringRun, actor: User, reason: str = "") -> None:
    """Take a queued or running run back and refund its submission, unless an earlier run of it counts.

    Raises ``RunNotCancellable`` when it is over by now, and ``RunBelongsToBatch``. Of a cancellation and a result
    that meet, the one that moves the row first wins and the other changes nothing.
    """
    if run.batch_id is not None:
        raise RunBelongsToBatch
    with transaction.atomic():
        held = lock_rows(ScoringRun.objects.all(), Level.WORK).get(pk=run.pk)
        before = {"state": held.state, "attempt": held.attempt, "worker": held.worker}
        moved = ScoringRun.objects.filter(pk=run.pk, state__in=[State.QUEUED, State.RUNNING]).update(
            state=State.FAILED, lease_expires_at=None, finished_at=timezone.now(), error_code=CancelledByOrganiser.code
        )
        if not moved:
            raise RunNotCancellable(state=held.get_state_display())
        submission = Submission.objects.select_related("phase__track", "team").get(pk=run.submission_id)
        after = {"state": State.FAILED.value, "error_code": CancelledByOrganiser.code, "reason": reason}
        audit.record(actor=actor, action="run.cancel", obj=held, before=before, after=after)
        if submission.live_run_id is None:
            quota.refund(submission=submission, reason=reason or CancelledByOrganiser.code, actor=actor)


def retry_runs(*, runs: Iterable[ScoringRun], actor: User) -> Retried:
    """Try each of ``runs`` again, one transaction each: a refusal of one keeps no other from its turn."""
    retried, refused = [], []
    for run in runs:
        try:
            retried.append(retry_failed_run(run=run, actor=actor))
        except DomainError as error:
            refused.append((run, error))
    return Retried(tuple(retried), tuple(refused))


def hand_out_file(*, submission: Submission, actor: User) -> BinaryIO:
    """The uploaded file of ``submission``, open for reading, for an organiser; who took it is kept.

    Raises ``StoredFileMissing``, ``StoredFileCorrupt`` or ``StorageUnavailable``.
    """
    file = open_private(submission.file_sha256)
    audit.record(
        actor=actor,
        action="submission.download",
        obj=submission,
        after={"file_name": submission.file_name, "file_sha256": submission.file_sha256},
    )
    return file
