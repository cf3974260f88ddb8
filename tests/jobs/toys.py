"""Toy work for the queue, which does what a test tells it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from malpan.core.errors import StorageFull, SystemFault
from malpan.jobs import outcome, queue, registry
from malpan.jobs.lease import LeaseRenewer
from malpan.jobs.models import Job


class Toy(registry.Handler):
    """Does what it is told, and remembers what it was asked."""

    crashed: type[SystemFault] = StorageFull

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []
        self.act: Callable[[Job], None] = lambda _job: None

    def work(self, job: Job, lease: LeaseRenewer) -> None:
        self.calls.append(("work", job.number))
        self.act(job)
        outcome.written(job, lambda: outcome.finish(job_id=job.pk, attempt=job.attempt))

    def claimed(self, job: Job) -> None:
        self.calls.append(("claimed", job.number))

    def put_back(self, job: Job) -> None:
        self.calls.append(("put_back", job.number))

    def given_up(self, job: Job) -> None:
        self.calls.append(("given_up", job.number))


def add(count: int = 1, kind: str = "toy", **fields: Any) -> list[Job]:
    return queue.add(kind=kind, flow="team:1", lane=Job.Lane.LIVE, costs=[1] * count, **fields)
