"""What a page asks for and reads: the comparison of two results, computed once. The web process loads no numpy."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from malpan.jobs import queue
from malpan.jobs.models import OPEN, Job
from malpan.leaderboard.models import ResultComparison
from malpan.submissions.models import ScoringRun

COMPARISON: Final = "compare_results"  # the kind of the jobs
AGAIN_AFTER: Final = timedelta(minutes=1)  # since a computation was given up
_COST: Final = 1


def comparison_of(one: ScoringRun, other: ScoringRun, *, is_private: bool = False) -> ResultComparison:
    """The comparison of two finished runs, of their scores of the private split if it ``is_private``.

    A worker is asked for it where there is none yet, behind all scoring: then ``computed_at`` is ``None``. Two queries
    once it is there.
    """
    key: dict[str, Any] = {"one": one, "other": other, "is_private": is_private}
    found = ResultComparison.objects.select_related("job").filter(**key).first()
    return found if found is not None and not _is_due(found) else _asked(key, one)


def _is_due(row: ResultComparison) -> bool:
    """Whether nobody computes ``row``, and somebody should."""
    if row.computed_at is not None:
        return bool(row.reason == ResultComparison.CRASHED and row.computed_at < timezone.now() - AGAIN_AFTER)
    return row.job is None or row.job.state not in OPEN


def _asked(key: dict[str, Any], one: ScoringRun) -> ResultComparison:
    with transaction.atomic():
        ResultComparison.objects.bulk_create([ResultComparison(**key)], ignore_conflicts=True)
        row = ResultComparison.objects.select_for_update(no_key=True, of=("self",)).select_related("job").get(**key)
        if _is_due(row):
            flow = f"team:{one.submission.team_id}"
            [row.job] = queue.add(kind=COMPARISON, flow=flow, lane=Job.Lane.FIGURES, costs=[_COST])
            row.computed_at, row.reason = None, ""
            row.save(update_fields=["job", "computed_at", "reason"])
    return row
