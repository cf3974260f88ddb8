"""What a worker does for the jobs of runs. Registered when the app is ready; nothing heavy is loaded for that."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from malpan.competitions.errors import UnknownTrackRecipe
from malpan.competitions.references import recipe_named
from malpan.core.log import logged_with
from malpan.jobs import outcome, registry
from malpan.jobs.faults import PUT_BACK_SECONDS
from malpan.jobs.lease import LeaseLost, LeaseRenewer
from malpan.jobs.models import Job
from malpan.submissions.errors import ModelMissing, ScoringCrashed
from malpan.submissions.evaluation import canary, computing, judge_values, large_runs, runs, waiting
from malpan.submissions.evaluation.judge_budget import judge_required
from malpan.submissions.evaluation.progress import StageProgress
from malpan.submissions.models import ScoringRun
from scoring.errors import ModelUnavailable
from scoring.models.profile import InvalidProfile, UnknownProfile
from scoring.recipes import Recipe

logger = logging.getLogger(__name__)


class ScoreRun(registry.Handler):
    """A run: scored at once or, if it is large, after child jobs have computed its slices."""

    crashed = ScoringCrashed

    def work(self, job: Job, lease: LeaseRenewer) -> None:
        run = _run_of(job.pk)
        with logged_with(run=run.pk):
            self._score(run, job, lease)

    def _score(self, run: ScoringRun, job: Job, lease: LeaseRenewer) -> None:
        recipe = _recipe_of(run)
        with _models_required(), judge_required():
            slices = [] if job.children.exists() else large_runs.slice_costs(run, job.cost)
            if slices:
                if not outcome.written(job, lambda: outcome.wait_for_children(job=job, kind=runs.SLICE, costs=slices)):
                    raise LeaseLost
                return
            large_runs.forget_slices()
            canary.require((*recipe.metrics, *recipe.optional_metrics), run.profile)
            progress = StageProgress(recipe.metrics, lease.report, job.progress)
            values = judge_values.values_for(run, job_id=job.pk)
            try:
                scored = computing.score_run(run, progress=progress, values=values)
            finally:
                large_runs.forget_files()
        finish = partial(runs.finish_run, run_id=run.pk, attempt=job.attempt)
        if outcome.written(job, lambda: finish(report=scored.shown, hidden=scored.hidden)):
            logger.info("scored")

    def claimed(self, job: Job) -> None:
        runs.begin(job)

    def put_back(self, job: Job) -> None:
        runs.queue_again(job)

    def waits(self, job: Job, *, is_new: bool) -> None:
        waiting.note(job, run_job=job.pk, is_new=is_new)

    def given_up(self, job: Job) -> None:
        runs.give_up(job)


class ComputeSlice(registry.Handler):
    """A slice of a large run, whose job is the parent. If a slice fails for good, the run computes its values."""

    crashed = ScoringCrashed

    def work(self, job: Job, lease: LeaseRenewer) -> None:
        run = _run_of(job.parent_id)
        recipe = _recipe_of(run)
        progress = StageProgress(recipe.metrics, lease.report)
        count = Job.objects.filter(parent=job.parent_id).count()
        with logged_with(run=run.pk), _models_required(), judge_required():
            canary.require((*recipe.metrics, *recipe.optional_metrics), run.profile)
            large_runs.compute_slice(run, job, count, progress)
        outcome.written(job, lambda: outcome.finish(job_id=job.pk, attempt=job.attempt))

    def claimed(self, job: Job) -> None:
        if job.parent_id is not None:
            waiting.forget(job.parent_id)

    def waits(self, job: Job, *, is_new: bool) -> None:
        if job.parent_id is not None:
            waiting.note(job, run_job=job.parent_id, is_new=is_new)


def register() -> None:
    """Let this process do the jobs of runs."""
    registry.register(runs.RUN, ScoreRun())
    registry.register(runs.SLICE, ComputeSlice())


def _run_of(job_id: int | None) -> ScoringRun:
    rows = ScoringRun.objects.select_related("submission__phase__track", "reference_version", "batch")
    return rows.get(job=job_id)


def _recipe_of(run: ScoringRun) -> Recipe:
    """The recipe of ``run``. Raises ``NotMine`` for an unknown recipe, which another version may have."""
    try:
        return recipe_named(run.recipe)
    except UnknownTrackRecipe as error:
        raise registry.NotMine(run.recipe) from error


@contextmanager
def _models_required() -> Iterator[None]:
    """Let the job wait while a model or its profile is missing, and log what to do: another worker may have it, and
    whoever starts one in the wrong way costs nobody a try.
    """
    try:
        yield
    except (ModelUnavailable, UnknownProfile, InvalidProfile) as error:
        logger.error("%s", error)
        raise registry.MustWait(ModelMissing, pause=PUT_BACK_SECONDS, at_most=None) from error
