"""Retrying failed or cancelled runs by hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction

from malpan.accounts.models import User
from malpan.core import audit
from malpan.core.errors import DomainError
from malpan.submissions.errors import RunNotRetryable
from malpan.submissions.evaluation import runs
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.quota import services as quota
from malpan.submissions.rescoring.alongside import enqueue_alongside


@dataclass(frozen=True, slots=True)
class Retried:
    """The result of retrying several runs: the new runs, and the refused ones with the reason."""

    runs: tuple[ScoringRun, ...]
    refused: tuple[tuple[ScoringRun, DomainError], ...]


def retry_failed_run(*, run: ScoringRun, actor: User) -> ScoringRun:
    """Score a submission whose run failed again, as a new run, and charge its slot again.

    Raises ``RunNotRetryable``, and ``QuotaExceeded`` if the team has used the refunded slot meanwhile.
    """
    submission = Submission.objects.select_related("phase__track", "team").get(pk=run.submission_id)
    with transaction.atomic():
        quota.lock_team_of(submission)
        submission.refresh_from_db(fields=["refunded_at", "live_run"])
        newest = submission.runs.filter(batch=None).order_by("-pk").first()
        if newest is None or newest.state != ScoringRun.State.FAILED or submission.live_run_id is not None:
            raise RunNotRetryable(state=newest.get_state_display() if newest else "")
        quota.charge_again(submission=submission, actor=actor)
        retried = runs.queue_run(submission=submission)
        enqueue_alongside(submission=submission)
        audit.record(actor=actor, action="run.retry", obj=retried, after={"failed_run": run.pk})
    return retried


def retry_runs(*, runs: Iterable[ScoringRun], actor: User) -> Retried:
    """Retry each of ``runs``, in one transaction each: a refused one does not stop the others."""
    retried, refused = [], []
    for run in runs:
        try:
            retried.append(retry_failed_run(run=run, actor=actor))
        except DomainError as error:
            refused.append((run, error))
    return Retried(tuple(retried), tuple(refused))
