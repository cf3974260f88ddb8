"""Scoring runs as the manage pages show them: state in words, cause of a failure, progress by metric."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.utils.translation import ngettext

from malpan.core.messages import duration_text, text_of_code
from malpan.submissions.errors import CancelledByOrganiser
from malpan.submissions.models import ScoringRun
from malpan.web.presenters import scores
from scoring.recipes import UnknownRecipe, get_recipe

State = ScoringRun.State
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run as the table and its own page show it."""

    run: ScoringRun
    stage: str
    fault: str
    can_retry: bool

    @property
    def is_cancelled(self) -> bool:
        return self.run.error_code == CancelledByOrganiser.code


def line_of(run: ScoringRun) -> RunLine:
    """The row of ``run``; its job, batch and submission are fetched."""
    is_failed = run.state == State.FAILED
    return RunLine(
        run=run,
        stage=_stage(run),
        # a run that waits for another attempt still has the cause of the last one
        fault=text_of_code(run.error_code) if run.error_code else "",
        can_retry=is_failed and run.batch_id is None and run.submission.live_run_id is None,
    )


def _stage(run: ScoringRun) -> str:
    stage = run.job.stage if run.job else ""
    try:
        return scores.stage_label(run.recipe, stage) if stage else ""
    except UnknownRecipe:
        return stage


@dataclass(frozen=True, slots=True)
class Step:
    """One metric of a run: ``state`` done, now or to_come."""

    label: str
    state: str


def steps_of(run: ScoringRun) -> list[Step]:
    """How far each metric of ``run`` has come, in the order in which they are computed."""
    try:
        recipe = get_recipe(run.recipe)
    except UnknownRecipe:
        return []
    stage = run.job.stage if run.job else ""
    now = recipe.metrics.index(stage) if stage in recipe.metrics else -1
    is_finished = run.state == State.FINISHED
    return [
        Step(
            recipe.metric_label(name, scores.language()),
            "done" if is_finished or at < now else "now" if at == now else "to_come",
        )
        for at, name in enumerate(recipe.metrics)
    ]


def age_text(age: timedelta | None) -> str:
    """How long a run has waited, in whole minutes from the first minute on; empty for ``None``."""
    if age is None:
        return ""
    seconds = int(age.total_seconds())
    if seconds < 60:
        return ngettext("%(count)d초", "%(count)d초", seconds) % {"count": seconds}
    return duration_text(age - (age % _MINUTE))
