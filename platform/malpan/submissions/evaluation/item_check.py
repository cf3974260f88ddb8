"""Whether the stored values of items are those that the scores were made of.

The chain binds scores, not the values of items; the scores of each metric follow from them. A row of values is of the
run that first had its signature, which another recipe may have laid out, so it must give the score of some run. A
judge's answers are filled in later (``evaluation.results``), so its rows are left out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from malpan.competitions.models import Competition
from malpan.submissions.integrity.chain import results_by_split
from malpan.submissions.models import MetricResult, ScoringRun, Submission
from scoring.metrics import METRICS
from scoring.signature import metric_signatures

TOLERANCE: Final = 1e-9
BATCH: Final = 200  # submissions read together

_Place = tuple[int, int, str, str, str]  # submission, reference version, split, metric, its signature


def altered_items(competition: Competition) -> Iterator[tuple[str, str]]:
    """The public id of the submission, and the metric, of each row of values that gives the score of no run."""
    found = list(Submission.objects.of(competition).order_by("pk").values_list("pk", "public_id"))
    for start in range(0, len(found), BATCH):
        names = dict(found[start : start + BATCH])
        scores = _scores_of(names)
        rows = MetricResult.objects.filter(submission__in=names).order_by("submission", "pk")
        for row in rows.iterator(chunk_size=BATCH):
            made = scores.get(_place(row))
            if made and not any(gives(row.metric, row.values, each) for each in made):
                yield str(names[row.submission_id]), row.metric


def _place(row: MetricResult) -> _Place:
    return row.submission_id, row.reference_version_id, row.split, row.metric, row.metric_signature


def _scores_of(submissions: Mapping[int, Any]) -> dict[_Place, list[Mapping[str, float]]]:
    """The scores of finished runs by the rows that they may have been made of."""
    runs = ScoringRun.objects.filter(submission__in=submissions, state=ScoringRun.State.FINISHED)
    found: dict[_Place, list[Mapping[str, float]]] = defaultdict(list)
    for run in runs.select_related("hidden_result"):
        results = results_by_split(run)
        for part, result in results:
            split = "all" if len(results) == 1 else part
            signatures = metric_signatures(result.signature) if result.signature.get("metrics") else {}
            for metric, signature in signatures.items():
                found[run.submission_id, run.reference_version_id, split, metric, signature].append(result.scores)
    return found


def gives(name: str, values: Mapping[str, Any], scores: Mapping[str, float]) -> bool:
    """Whether ``values`` of the metric called ``name`` give ``scores``, as far as these have the metric's own."""
    metric = METRICS.get(name)
    if metric is None or metric.is_remote:
        return True
    try:
        rows = [(value,) if isinstance(value, int | float) else tuple(value) for value in values.values()]
        again = metric.aggregate(rows)
        pairs = [(again[each], scores[each]) for each in again if scores.get(each) is not None]
        return all(math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for a, b in pairs)
    except (TypeError, ValueError, ArithmeticError):
        return False
