"""The values of a rescoring from scratch: kept apart until it is applied, and then in the place of what was known.

Where a worker computed wrong numbers, the values that it left are as good as any to whoever reads them. A batch that
``is_from_scratch`` reads none of them (``results.serves``); nobody sees its own before its scores count.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.db import connection

from malpan.submissions.models import FreshResult, MetricResult, RescoreBatch, ScoringRun

# of every version of the references: a value serves all whose texts are the same
_DELETE: Final = """
    DELETE FROM submissions_metricresult known
    USING submissions_freshresult fresh JOIN submissions_scoringrun run ON run.id = fresh.run_id
    WHERE run.id = ANY(%s) AND known.submission_id = run.submission_id
    AND known.metric = fresh.metric AND known.metric_signature = fresh.metric_signature
"""
_INSERT: Final = """
    INSERT INTO submissions_metricresult
    (submission_id, reference_version_id, split, metric, metric_signature, "values", created_at)
    SELECT run.submission_id, run.reference_version_id, fresh.split, fresh.metric, fresh.metric_signature,
    fresh."values", now()
    FROM submissions_freshresult fresh JOIN submissions_scoringrun run ON run.id = fresh.run_id
    WHERE run.id = ANY(%s) ORDER BY fresh.id
"""


def keep(run: ScoringRun, rows: Iterable[MetricResult]) -> None:
    """Keep ``rows`` of ``run``, which is of a batch from scratch, until ``replace``."""
    FreshResult.objects.bulk_create(
        FreshResult(
            run=run, split=row.split, metric=row.metric, metric_signature=row.metric_signature, values=row.values
        )
        for row in rows
    )


def replace(run_ids: Iterable[int]) -> None:
    """Make what is kept of these runs, all of them live, the values of their submissions; in the transaction in which
    they became it.
    """
    ids = list(run_ids)
    with connection.cursor() as cursor:
        for statement in (_DELETE, _INSERT):
            cursor.execute(statement, [ids])
    FreshResult.objects.filter(run__in=ids).delete()


def settle(run: ScoringRun, *, is_live: bool) -> None:
    """Of a run whose batch was applied before it was finished: ``replace``, or delete what no score was made of."""
    if is_live:
        replace([run.pk])
    else:
        FreshResult.objects.filter(run=run).delete()


def forget(batch: RescoreBatch) -> None:
    """Delete what is kept of a batch that is cancelled."""
    FreshResult.objects.filter(run__batch=batch).delete()
