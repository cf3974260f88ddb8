"""The life of a scoring run: queued → running → finished | failed.

When a run is due, its worker and its attempts are in its job (``malpan.jobs``). The run itself has what to score and
the result; its state follows the job's, in the same transaction. A large run stays running from its first claim on,
while its slices are computed.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from django.db import transaction
from django.db.models import Case, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Now

from malpan.competitions.locks import lock_phase_shared
from malpan.competitions.models import Competition, ReferenceVersion
from malpan.core.locks import Level, lock_shared
from malpan.jobs import outcome, queue
from malpan.jobs.models import Job
from malpan.submissions import letters
from malpan.submissions.evaluation import fresh, results
from malpan.submissions.evaluation.large_runs import cost_of_turn
from malpan.submissions.evaluation.mails import tell_admins
from malpan.submissions.integrity import chain
from malpan.submissions.models import RescoreBatch, ScoringRun, Submission
from malpan.submissions.quota import services as quota
from malpan.submissions.scoring_config import ScoringConfig, scoring_config_of
from scoring.records import ScoreReport
from scoring.running.costs import tokens_of_file

logger = logging.getLogger(__name__)

RUN: Final = "run"  # the kinds of jobs: a run,
SLICE: Final = "slice"  # and a slice of a large run, whose values are computed ahead
State = ScoringRun.State
UNFINISHED: Final = (State.QUEUED, State.RUNNING)


# --- into the queue ---------------------------------------------------------------------------------------------------
def queue_run(
    *, submission: Submission, reference_version: ReferenceVersion | None = None, cost: int | None = None
) -> ScoringRun:
    """Create a run of ``submission`` and queue it; locks the phase in shared mode.

    Scored with the phase's current references (``ReferencesNotPublished``), by the track's current recipe and model
    profile; or with ``reference_version``. ``cost`` is in expected tokens; the default is that of its newest run. The
    caller must also queue the run of an open batch (``enqueue_alongside``).
    """
    with transaction.atomic():
        config = scoring_config_of(lock_phase_shared(submission.phase_id))
        if reference_version is not None:
            config = ScoringConfig(reference_version, config.recipe, config.profile)
        [run] = queue_runs([submission], config, costs=None if cost is None else {submission.pk: cost})
    return run


def queue_runs(
    submissions: Sequence[Submission],
    config: ScoringConfig,
    *,
    batch: RescoreBatch | None = None,
    costs: dict[int, int] | None = None,
) -> list[ScoringRun]:
    """Create and queue runs of one team's ``submissions``, or of one ``batch``'s, in this order, with one insert."""
    if not submissions:
        return []
    known = known_costs(submissions) if costs is None else costs
    with transaction.atomic():
        jobs = _queue_jobs(submissions, [known[each.pk] for each in submissions], batch)
        return ScoringRun.objects.bulk_create(
            [
                ScoringRun(
                    submission=submission,
                    reference_version=config.reference_version,
                    recipe=config.recipe,
                    profile=config.profile,
                    batch=batch,
                    job=job,
                    queued_at=job.queued_at,
                )
                for submission, job in zip(submissions, jobs, strict=True)
            ],
            batch_size=500,
        )


def requeue_imported(competition: Competition) -> None:
    """Queue the unfinished runs of an imported competition, which have no worker here, as if they were new.

    Call it in the transaction of the import.
    """
    unfinished = ScoringRun.objects.filter(submission__phase__track__competition=competition, state__in=UNFINISHED)
    unfinished.update(state=State.QUEUED, started_at=None)
    flows: dict[tuple[int | None, int | None], list[ScoringRun]] = {}
    for run in unfinished.select_related("submission", "batch").order_by("pk"):
        flows.setdefault((run.batch_id, run.submission.team_id if run.batch_id is None else None), []).append(run)
    for found in flows.values():
        submissions = [run.submission for run in found]
        known = known_costs(submissions)
        jobs = _queue_jobs(submissions, [known[each.pk] for each in submissions], found[0].batch)
        for run, job in zip(found, jobs, strict=True):
            run.job = job
        ScoringRun.objects.bulk_update(found, ["job"], batch_size=500)


def _queue_jobs(submissions: Sequence[Submission], costs: Sequence[int], batch: RescoreBatch | None) -> list[Job]:
    return queue.add(
        kind=RUN,
        flow=f"team:{submissions[0].team_id}" if batch is None else f"batch:{batch.pk}",
        lane=Job.Lane.LIVE if batch is None else Job.Lane.RESCORING,
        costs=costs,
        turns=[cost_of_turn(cost, each.item_count) for cost, each in zip(costs, submissions, strict=True)],
    )


def known_costs(submissions: Sequence[Submission]) -> dict[int, int]:
    """The cost of scoring each of ``submissions``, in expected tokens by primary key: that of its newest run. One
    query.

    Without a run it is estimated from the size of the file.
    """
    costed_runs = ScoringRun.objects.filter(submission=OuterRef("pk"), job__cost__gt=0).order_by("-pk")
    rows = Submission.objects.filter(pk__in=[each.pk for each in submissions])
    rows = rows.annotate(cost=Subquery(costed_runs.values("job__cost")[:1]))
    return {pk: cost or tokens_of_file(size) for pk, cost, size in rows.values_list("pk", "cost", "file_size")}


# --- moves of its job, each in the transaction of the move ------------------------------------------------------------
def begin(job: Job) -> None:
    """A worker has claimed it; what stopped the last attempt is over. A large run whose slices are done is running."""
    first = When(state=State.QUEUED, then=Value(job.started_at))
    unfinished = ScoringRun.objects.filter(job=job, state__in=UNFINISHED)
    unfinished.update(state=State.RUNNING, error_code="", started_at=Case(first, default=F("started_at")))


def queue_again(job: Job) -> None:
    """It waits for another attempt, and keeps the cause of the last failure."""
    waiting = ScoringRun.objects.filter(job=job, state=State.RUNNING)
    waiting.update(state=State.QUEUED, error_code=job.error_code)


def give_up(job: Job) -> None:
    """Fail it, refund its submission unless an earlier run of it counts and tell its team, and alert the organiser."""
    run = ScoringRun.objects.select_related("submission__phase__track__competition").get(job=job)
    run.state, run.finished_at, run.error_code = State.FAILED, job.finished_at, job.error_code
    run.save(update_fields=["state", "finished_at", "error_code"])
    if run.batch_id is None and run.submission.live_run_id is None:
        quota.refund(submission=run.submission, reason=run.error_code)
        letters.tell_refunded(run)
    tell_admins("run_failed", run, failures=job.failures)


def finish_run(*, run_id: int, attempt: int, report: ScoreReport, hidden: ScoreReport | None = None) -> bool:
    """Write the result of ``attempt`` with its item values, and make the run live if its submission has none, or only
    one by an earlier rule while this is by the current one.

    ``report`` is of all items or, with ``hidden`` for the private split, of the public split.
    Returns false and writes nothing if the job is no longer running with this attempt: a late result is refused.
    """
    run = ScoringRun.objects.only("submission_id", "reference_version_id", "batch_id", "job_id").get(pk=run_id)
    if run.job_id is None:
        return False
    with transaction.atomic():
        counts = _counts_by_itself(run)
        if not outcome.finish(job_id=run.job_id, attempt=attempt):
            return False
        ScoringRun.objects.filter(pk=run_id).update(
            state=State.FINISHED,
            finished_at=Now(),
            error_code="",
            **results.result_of(report),
            is_demo_models=bool(report.signature.get("about", {}).get("is_demo", False)),
        )
        results.keep(run, report, hidden)
        is_live = counts and bool(_waiting_for(run).update(live_run=run))
        if counts and results.is_from_scratch(run):
            fresh.settle(run, is_live=is_live)
        if is_live:
            letters.tell_scored(run)
            chain.append_scores([run.submission])
    return True


def _counts_by_itself(run: ScoringRun) -> bool:
    """Whether the run is of no batch, or of one that was applied before it was finished: a late upload's.

    A batch that is being applied or cancelled holds its row: it takes the run along, or is over when the lock is
    given. Call it before the run's job is locked: cancelling holds the batch when it waits for jobs.
    """
    if run.batch_id is None:
        return True
    lock_shared(RescoreBatch, run.batch_id, Level.BATCH)
    return RescoreBatch.objects.filter(pk=run.batch_id, state=RescoreBatch.State.APPLIED).exists()


def _waiting_for(run: ScoringRun) -> QuerySet[Submission]:
    """The submission of ``run``, if its score is to become live now."""
    scored_by = ScoringRun.objects.select_related("reference_version", "submission__phase__track").get(pk=run.pk)
    recipe = scored_by.submission.phase.track.recipe
    waiting = Q(live_run=None)
    if scored_by.reference_version.is_current and scored_by.recipe == recipe:
        waiting |= Q(live_run__reference_version__is_current=False) | ~Q(live_run__recipe=recipe)
    return Submission.objects.filter(waiting, pk=run.submission_id)


def drop_runs(runs: Sequence[ScoringRun], *, error_code: str) -> list[int]:
    """End those of ``runs`` that are not over, as they are no longer needed. Returns their primary keys."""
    dropped = outcome.drop([run.job_id for run in runs if run.job_id is not None], error_code=error_code)
    ended = ScoringRun.objects.filter(job__in=dropped)
    keys = list(ended.values_list("pk", flat=True))
    ended.update(state=State.FAILED, finished_at=Now(), error_code=error_code)
    return keys
