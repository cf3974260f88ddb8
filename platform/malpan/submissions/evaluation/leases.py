"""A worker's hold on a run or a shard: a lease in the database, renewed by a thread while the engine works.

The thread has a database connection of its own. It writes the progress too, so that the scoring thread never waits
for the database. When the row no longer bears our attempt the lease is lost: somebody else has the run, and the
scoring thread is told so at its next report of progress.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from datetime import timedelta
from types import TracebackType
from typing import Final, Self

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from malpan.submissions.models import RunShard, ScoringRun
from scoring.records import Progress

logger = logging.getLogger(__name__)

PROGRESS_SECONDS: Final = 1.0


class LeaseLost(Exception):
    """The run was taken back; what this attempt still computes is of no use to anybody."""


def lease_length() -> timedelta:
    return timedelta(seconds=settings.RUN_LEASE_SECONDS)


def renew_lease(*, run_id: int, attempt: int, stage: str, progress: float) -> bool:
    """Move the end of the lease and note the progress (share done, 0-1). False when the run is no longer ours."""
    held = ScoringRun.objects.filter(pk=run_id, attempt=attempt, state=ScoringRun.State.RUNNING)
    return bool(held.update(lease_expires_at=timezone.now() + lease_length(), stage=stage, progress=progress))


def renew_shard_lease(*, shard_id: int, attempt: int, progress: float) -> bool:
    """The same for a shard, which is nobody's any more when its run is over."""
    running = RunShard.State.RUNNING
    held = RunShard.objects.filter(pk=shard_id, attempt=attempt, state=running, run__state=ScoringRun.State.RUNNING)
    return bool(held.update(lease_expires_at=timezone.now() + lease_length(), progress=progress))


class LeaseKeeper:
    """Keeps the lease of ``run`` inside a ``with`` block. ``stages`` are the stages to come, in order."""

    def __init__(self, run: ScoringRun | RunShard, stages: Sequence[str]) -> None:
        self._run_id = run.pk
        self._attempt = run.attempt
        self._stages = tuple(stages)
        self._stage = ""
        self._share = 0.0
        self._done: dict[str, float] = {}  # share by stage
        self._written = ("", 0.0)
        self._renewed_at = time.monotonic()
        self._stop = threading.Event()
        self._lost = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"lease-{run.pk}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=settings.RUN_LEASE_SECONDS)  # a database that hangs must not keep the result

    def report(self, progress: Progress) -> None:
        """Take note of the engine's progress. Raises ``LeaseLost`` so that a run taken back stops here."""
        self.check()
        self._done[progress.stage] = progress.done / progress.total if progress.total else 1.0
        done = [self._done.get(stage, 0.0) for stage in self._stages]  # two of them may be under way at once
        self._share = max(self._share, min(1.0, sum(done) / max(1, len(done))))
        self._stage = next((s for s in self._stages if self._done.get(s, 0.0) < 1), progress.stage)

    def check(self) -> None:
        """Raise ``LeaseLost`` when the run is in other hands."""
        if self._lost.is_set():
            raise LeaseLost

    def _keep(self) -> None:
        third = settings.RUN_LEASE_SECONDS / 3
        try:
            while not self._lost.is_set() and not self._stop.wait(min(PROGRESS_SECONDS, third)):
                now = (self._stage, self._share)
                if now != self._written or time.monotonic() - self._renewed_at >= third - PROGRESS_SECONDS:
                    self._renew(*now)
        finally:
            connection.close()

    def _renew(self, stage: str, share: float) -> None:
        """Write once; a database that is away for a moment is tried again, as long as the lease may last."""
        try:
            is_ours = self._write(stage, share)
        except (OperationalError, InterfaceError):
            logger.warning("run %s: the lease could not be renewed; the database is away", self._run_id)
            connection.close()
            return
        if not is_ours:  # taken back, or finished by ourselves this moment: only the former is met again in ``report``
            self._lost.set()
        self._written = (stage, share)
        self._renewed_at = time.monotonic()

    def _write(self, stage: str, share: float) -> bool:
        return renew_lease(run_id=self._run_id, attempt=self._attempt, stage=stage, progress=share)


class ShardLeaseKeeper(LeaseKeeper):
    """Keeps the lease of a shard."""

    def _write(self, stage: str, share: float) -> bool:
        return renew_shard_lease(shard_id=self._run_id, attempt=self._attempt, progress=share)
