"""Adds jobs to the queue."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from malpan.core import tracing
from malpan.jobs.doorbell import ring_on_commit
from malpan.jobs.models import Job
from malpan.jobs.order import assign_fair_tags, next_fair_tag


def add(
    *,
    kind: str,
    flow: str,
    lane: int,
    costs: Sequence[int],
    turns: Sequence[int] | None = None,
    parent: Job | None = None,
) -> list[Job]:
    """Queue a job for each of ``costs`` (in expected tokens), and ring when the transaction commits. Three queries.

    They are served and numbered in the order given. ``turns`` are the costs of their first turns, if these are smaller
    than the whole: for jobs that will be done by children.
    """
    if not costs:
        return []
    now = timezone.now()
    with transaction.atomic():
        parent_span = tracing.parent_of_now()
        tags = assign_fair_tags(turns or costs, next_fair_tag(flow, lane))
        made = [
            Job(
                kind=kind,
                flow=flow,
                lane=lane,
                parent=parent,
                number=number,
                cost=cost,
                fair_tag=tag,
                traceparent=parent_span,
                queued_at=now,
            )
            for number, (cost, tag) in enumerate(zip(costs, tags, strict=True))
        ]
        Job.objects.bulk_create(made, batch_size=1000)
        ring_on_commit()
    return made
