"""What a queue benchmark needs of a site: rows to queue, and, to measure, servers of its own and real workers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from malpan.accounts.models import User
from malpan.celery import app
from malpan.core.storage import store_private
from malpan.submissions.evaluation import runs
from malpan.submissions.models import RescoreBatch, ScoringRun, Submission
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.batches import Selection
from tests.benchmarks.queue_loads import CONTEST_TOKENS, Load, Wait
from tests.paths import ROOT
from tests.submissions.rescoring.contest_of_many import Contest, answers, found
from tests.waiting import wait_for

State = ScoringRun.State


class Site:
    """A contest with a row for each upload of ``load`` and for each file of its batch, not queued yet."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.contest: Contest = found(1 + max(upload.team for upload in load.uploads))
        stored = store_private(answers(1))
        now = self.contest.phase.starts_at
        place = {"phase": self.contest.phase, "file_sha256": stored.sha256, "item_count": 6, "created_at": now}
        self.uploads: list[Submission] = Submission.objects.bulk_create(
            [self._row(upload.team, upload.cost, place) for upload in load.uploads]
        )
        self._rescored = Submission.objects.bulk_create(
            [self._row(number % len(self.contest.teams), CONTEST_TOKENS, place) for number in range(load.batch)]
        )

    def _row(self, team: int, cost: int, place: dict[str, object]) -> Submission:
        size = cost * 3  # the cost of a file that was never scored is told from its size
        return Submission(team=self.contest.teams[team], submitted_by=self._user(team), file_size=size, **place)

    def _user(self, team: int) -> User:
        return self.contest.users[team]

    def start_batch(self) -> RescoreBatch | None:
        """Rescore, as organisers do, the files that are there already."""
        if not self._rescored:
            return None
        chosen = Selection(submissions=tuple(row.pk for row in self._rescored))
        return rescoring.start_batch(
            phase=self.contest.phase, selection=chosen, reason="규칙 변경", actor=self.contest.organiser
        )

    def queue(self, place: int) -> ScoringRun:
        """Queue the run of the upload at this place, as an upload does."""
        return runs.queue_run(submission=self.uploads[place], cost=self.load.uploads[place].cost)


def measure(load: Load, *, workers: int, order: str, rate: float, folder: Path) -> list[Wait]:
    """The waits of ``load`` with real workers of ``rate`` tokens a second; what is left of the batch is dropped."""
    site = Site(load)
    with _workers(workers, order, rate, folder):
        batch = site.start_batch()
        start = time.monotonic()
        queued = []
        for place, upload in enumerate(load.uploads):
            time.sleep(max(0.0, start + upload.at - time.monotonic()))
            queued.append(site.queue(place).pk)
        done = ScoringRun.objects.filter(pk__in=queued, state=State.FINISHED)
        wait_for(lambda: done.count() == len(queued), "every upload is scored", seconds=600)
    if batch is not None:
        rescoring.cancel_batch(batch=RescoreBatch.objects.get(pk=batch.pk), actor=site.contest.organiser)
    spans = {run.pk: (run.finished_at - run.queued_at).total_seconds() for run in done}
    return [Wait(upload, spans[pk]) for upload, pk in zip(load.uploads, queued, strict=True)]


@contextmanager
def _workers(count: int, order: str, rate: float, folder: Path) -> Iterator[None]:
    """Real Celery workers on the queue, which starts empty; they are stopped at the end."""
    with app.connection_for_write() as connection:
        connection.default_channel.queue_purge("scoring")
    ready = [folder / f"ready-{time.monotonic_ns()}-{number}" for number in range(count)]
    started: Sequence[subprocess.Popen[bytes]] = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.queue_worker", f"w{number}@bench", order, str(rate), str(file)],
            cwd=ROOT,
            env=os.environ
            | {
                "PYTHONWARNINGS": "ignore:You're running the worker with superuser",
            },
        )
        for number, file in enumerate(ready)
    ]
    try:
        wait_for(lambda: all(file.exists() for file in ready), "the workers listen", seconds=90)
        yield
    finally:
        for worker in started:
            worker.kill()  # at work on the batch; what it has is taken back with the batch
        for worker in started:
            worker.wait(30)
