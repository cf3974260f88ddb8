"""Runs that wait for something outside: what their rows say, and one mail for all that wait for the same.

The mail of a cause (a judge's budget that is used up, a server that is away, models or a version that no worker has)
is sent when the first run of a model profile begins to wait for it, and not again before the last run of the profile
that had to wait for it is over.
"""

from __future__ import annotations

from django.db.models import Q

from malpan.jobs.models import OPEN, Job
from malpan.submissions.evaluation.mails import tell_admins
from malpan.submissions.models import JudgeUsage, ScoringRun


def note(job: Job, *, run_job: int, is_new: bool) -> None:
    """Write to the run why it waits, and tell the organiser if nobody was told; in the transaction of the move.

    ``job`` waits, that of a run or of a slice of it; ``run_job`` is the run's.
    """
    ScoringRun.objects.filter(job=run_job).update(error_code=job.error_code)
    if not is_new:
        return
    run = ScoringRun.objects.select_related("submission__phase__track__competition").get(job=run_job)
    _lock(run.profile)
    if not _is_told(job, run.profile):
        tell_admins("run_waits", run)


def forget(run_job: int) -> None:
    """A slice of the run is being tried again."""
    ScoringRun.objects.filter(job=run_job).exclude(error_code="").update(error_code="")


def _lock(profile: str) -> None:
    """Let nobody else tell of ``profile`` until the transaction ends."""
    JudgeUsage.objects.bulk_create([JudgeUsage(profile=profile)], ignore_conflicts=True)
    JudgeUsage.objects.select_for_update(no_key=True).get(profile=profile)


def _is_told(job: Job, profile: str) -> bool:
    """Whether another job of ``profile`` that is not over has waited for the same."""
    others = Job.objects.filter(state__in=OPEN, error_code=job.error_code).exclude(pk=job.pk)
    runs = ScoringRun.objects.filter(profile=profile)
    return runs.filter(Q(job__in=others) | Q(job__in=others.values("parent"))).exists()
