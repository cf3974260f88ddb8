"""The job that compares two results. The web process imports this module: numpy is loaded by the work alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from malpan.competitions.errors import UnknownTrackRecipe
from malpan.competitions.references import recipe_named
from malpan.core.errors import SystemFault
from malpan.jobs import outcome, registry
from malpan.jobs.lease import LeaseRenewer
from malpan.jobs.models import Job
from malpan.leaderboard.comparing.asking import COMPARISON
from malpan.leaderboard.models import ResultComparison
from malpan.leaderboard.sureness.sources import Source, report_of, stored_values
from malpan.submissions.models import ScoringRun

SEED: Final = 20_261_120  # as ``python -m scoring compare`` has it
TRIALS: Final = 10_000


class ComparisonCrashed(SystemFault):
    """Comparing two results failed by an error of ours. The scores stand as they do."""

    text = _("두 제출을 비교하지 못했습니다. 점수와 순위에는 영향이 없습니다.")


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a computation, as the columns of ``ResultComparison``."""

    lines: dict[str, Any] = field(default_factory=dict)
    items: int = 0
    reason: str = ""


class CompareResults(registry.Handler):
    """Computes the comparison whose row names the job."""

    crashed = ComparisonCrashed

    def work(self, job: Job, lease: LeaseRenewer) -> None:
        wanted = ResultComparison.objects.select_related("one", "other").get(job=job)
        found = compute(wanted)
        fields = {"lines": found.lines, "items": found.items, "reason": found.reason, "seed": SEED, "trials": TRIALS}
        outcome.written(job, lambda: _store(job, wanted.pk, fields))

    def given_up(self, job: Job) -> None:
        rows = ResultComparison.objects.filter(job=job)
        rows.update(lines={}, reason=ResultComparison.CRASHED, computed_at=timezone.now())


def register() -> None:
    """Let this process compare results."""
    registry.register(COMPARISON, CompareResults())


def compute(wanted: ResultComparison) -> Found:
    """The comparison from the stored values of the items."""
    sources = [_source(run, wanted.is_private) for run in (wanted.one_id, wanted.other_id)]
    values = stored_values(sources)
    if not all(values):
        return Found(reason="no_items")
    try:
        reports = [
            report_of(source, recipe_named(source.run.recipe), each)
            for source, each in zip(sources, values, strict=True)
        ]
    except UnknownTrackRecipe:
        return Found(reason="recipe")
    from scoring.significance.comparison import DifferentItems, DifferentRecipes, compare

    try:
        found = compare(*reports, trials=TRIALS, seed=SEED)
    except DifferentRecipes:
        return Found(reason="recipe")
    except DifferentItems:
        return Found(reason="items")
    lines = {
        line.key: {
            "a": line.a,
            "b": line.b,
            "p": line.adjusted_p,
            "interval": line.result and [line.result.difference_interval.low, line.result.difference_interval.high],
            "a_interval": line.result and [line.result.a_interval.low, line.result.a_interval.high],
            "b_interval": line.result and [line.result.b_interval.low, line.result.b_interval.high],
            "is_significant": line.is_significant,
        }
        for line in found.lines
    }
    return Found(lines, found.items)


def _source(run: int, is_private: bool) -> Source:
    row = ScoringRun.objects.select_related("submission", "reference_version", "hidden_result").get(pk=run)
    return Source(str(row.submission.public_id), None, row, row.hidden_result if is_private else None)


def _store(job: Job, pk: int, fields: dict[str, Any]) -> bool:
    with transaction.atomic():
        if not outcome.finish(job_id=job.pk, attempt=job.attempt):
            return False
        ResultComparison.objects.filter(pk=pk).update(computed_at=timezone.now(), **fields)
    return True
