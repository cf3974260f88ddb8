"""What a worker does for human evaluation, done at once: a test asks, and has the answer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar, cast
from unittest.mock import patch

from django.db import connection
from django.db.models import F

from malpan.arena.computations import JOB
from malpan.arena.errors import StillComputing
from malpan.arena.handlers import ComputeFigures
from malpan.arena.models import Campaign, Computation
from malpan.arena.quality import LiveQuality, live_quality
from malpan.jobs import claim
from malpan.jobs.lease import LeaseRenewer
from malpan.jobs.models import Job

T = TypeVar("T")


class NoLease:
    """A lease that nobody takes away."""

    def report(self, stage: str, progress: float) -> None:
        pass


def work_off() -> int:
    """Every computation that waits is done; returns how many."""
    jobs = list(Job.objects.filter(kind=JOB, state=Job.State.QUEUED).order_by("pk"))
    for job in jobs:
        claim.take(job, "worker of a test")
        do(job)
    return len(jobs)


def do(job: Job) -> None:
    """The work of a claimed job, inside the transaction of a test."""
    with patch.object(connection, "close_if_unusable_or_obsolete", lambda: None):
        ComputeFigures().work(job, cast("LeaseRenewer", NoLease()))


def answered(read: Callable[..., T], **arguments: object) -> T:
    """What ``read`` returns once a worker has answered."""
    try:
        return read(**arguments)
    except StillComputing:
        work_off()
        return read(**arguments)


def rested() -> None:
    """The last computations are long ago."""
    Computation.objects.filter(answered_at__isnull=False).update(answered_at=F("answered_at") - timedelta(days=1))


def quality_of(campaign: Campaign) -> LiveQuality:
    """The figures of exactly the present judgements."""
    rested()
    if live_quality(campaign).waiting is not None:
        work_off()
        rested()
    found = live_quality(campaign)
    if found.waiting is not None:  # a former computation was under way
        work_off()
        found = live_quality(campaign)
    assert found.waiting is None
    return found
