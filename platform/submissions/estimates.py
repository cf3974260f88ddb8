"""When a run will be done: told from what is to be scored before it and from how fast the last ones were.

An estimate is no promise: small runs that come later may pass, a worker may stop. So it is rounded, and where nothing
is known there is none. It says of other teams' submissions no more than how long they take together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from statistics import median
from typing import Final

from django.db.models import Count, Exists, OuterRef, Q, Sum
from django.utils import timezone

from submissions.models import RunShard, ScoringRun
from submissions.queueing import is_large

RECENT_RUNS: Final = 20
ACTIVE_WITHIN: Final = timedelta(minutes=10)  # a worker that finished nothing for longer may be gone
EXACT_UNTIL: Final = timedelta(minutes=30)  # nearer ends are told to the minute, later ones to five
SHOWN_PROGRESS: Final = 0.1  # share done from which a run's own progress tells something
State = ScoringRun.State


@dataclass(frozen=True, slots=True)
class Outlook:
    """Of one run: how many queued runs are served before it (``None`` when it does not wait), and when it will be done.

    ``finish_at`` is rounded up to a whole minute, or to five; ``None`` when it is over, or when nothing is known.
    """

    waiting_before: int | None = None
    finish_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast runs of one model profile were lately: tokens a second of one worker, and who finished them when."""

    rate: float
    finishes: tuple[tuple[str, datetime], ...]


class Forecast:
    """The queue as it stands at ``now``. What several runs have in common is asked once: make one for each request.

    Of a queued run it takes a query, and three more whatever the number of runs, if all are of one profile.
    """

    def __init__(self, now: datetime | None = None) -> None:
        self.now = now or timezone.now()
        self._paces: dict[str, Pace | None] = {}

    def of(self, run: ScoringRun | None) -> Outlook:
        """What is to be expected of ``run``."""
        if run is not None and run.state == State.QUEUED:
            count, cost = _standing_before(run)
            return Outlook(count, self._rounded(self._end_of_queued(run, cost)))
        if run is not None and run.state == State.RUNNING:
            return Outlook(None, self._rounded(self._end_of_running(run)))
        return Outlook()

    def _end_of_queued(self, run: ScoringRun, cost_before: int) -> datetime | None:
        """The workers share what is before the run; then one of them does it, or all of them where it is large."""
        pace = self._pace(run.profile)
        workers = self._workers(pace) if pace else 0
        if pace is None or not workers or not run.cost:
            return None
        before = self._at_work(pace.rate) + cost_before + self._shards_until(_lane(run), run.fair_tag)
        begins = self.now + timedelta(seconds=before / pace.rate / workers)
        own = run.cost / pace.rate / (workers if is_large(run) else 1)
        return max(begins, run.not_before or begins) + timedelta(seconds=own)

    def _end_of_running(self, run: ScoringRun) -> datetime | None:
        """As its cost foretells; from its own progress once that is past, or where nothing is foretold."""
        if run.started_at is None:
            return None
        foretold = self._foretold(run, self._pace(run.profile))
        if foretold > self.now:
            return foretold
        if run.progress < SHOWN_PROGRESS:
            return None
        return self.now + (self.now - run.started_at) * (1 - run.progress) / run.progress

    def _foretold(self, run: ScoringRun, pace: Pace | None) -> datetime:
        """The end of a run at work by its cost; one in shards ends when the workers come to the last of them."""
        started = run.started_at or self.now
        tags = [shard.fair_tag for shard in self._shards if shard.run_id == run.pk]
        if pace is None:
            return started
        if not tags:
            return started + timedelta(seconds=run.cost / pace.rate)
        _count, cost = _standing_before(run, until=max(tags))
        before = self._at_work(pace.rate) + cost + self._shards_until(_lane(run), max(tags))
        return self.now + timedelta(seconds=before / pace.rate / max(1, self._workers(pace)))

    def _at_work(self, rate: float) -> float:
        """Tokens of what workers have in hand that are still to be done."""
        whole = sum(max(0.0, run.cost - self._elapsed(run) * rate) for run in self._running)
        return whole + sum(shard.cost * (1 - shard.progress) for shard in self._shards if shard.state == State.RUNNING)

    def _shards_until(self, lane: int, tag: int) -> int:
        """Tokens of the waiting shards whose turn comes before or with that of ``tag`` in ``lane``."""
        queued = (shard for shard in self._shards if shard.state == State.QUEUED)
        return sum(shard.cost for shard in queued if (_lane(shard.run), shard.fair_tag) <= (lane, tag))

    def _elapsed(self, run: ScoringRun) -> float:
        return (self.now - (run.started_at or self.now)).total_seconds()

    def _pace(self, profile: str) -> Pace | None:
        if profile not in self._paces:
            self._paces[profile] = pace_of(profile)
        return self._paces[profile]

    @cached_property
    def _shards(self) -> Sequence[RunShard]:
        """The pieces of large runs that wait or are at work."""
        open_ones = RunShard.objects.filter(state__in=[State.QUEUED, State.RUNNING], run__state=State.RUNNING)
        return list(open_ones.select_related("run").defer("values", "signatures", "run__scores", "run__signature"))

    @cached_property
    def _running(self) -> Sequence[ScoringRun]:
        """The runs that a worker has in hand as a whole."""
        in_shards = {shard.run_id for shard in self._shards}
        rows = ScoringRun.objects.filter(state=State.RUNNING).only("cost", "started_at", "worker")
        return [run for run in rows if run.pk not in in_shards]

    def _workers(self, pace: Pace) -> int:
        """How many workers are at work, or were lately."""
        lately = {worker for worker, finished in pace.finishes if self.now - finished <= ACTIVE_WITHIN}
        at_work = {shard.worker for shard in self._shards if shard.state == State.RUNNING}
        return len(lately | at_work | {run.worker for run in self._running})

    def _rounded(self, end: datetime | None) -> datetime | None:
        if end is None:
            return None
        step = 60 if end - self.now <= EXACT_UNTIL else 300
        return datetime.fromtimestamp(math.ceil(end.timestamp() / step) * step, tz=end.tzinfo)


def pace_of(profile: str) -> Pace | None:
    """The median speed of the last runs of ``profile``, or ``None`` where none tells. One query.

    Batches are left out, as most of their values are known from before, and so are runs that several workers shared.
    """
    rows = ScoringRun.objects.filter(profile=profile, batch=None, state=State.FINISHED, cost__gt=0)
    whole = rows.exclude(Exists(RunShard.objects.filter(run=OuterRef("pk"))))
    last = whole.order_by("-finished_at").values_list("cost", "started_at", "finished_at", "worker")[:RECENT_RUNS]
    spans = [(cost, start, end, worker) for cost, start, end, worker in last if start and end and end > start]
    if not spans:
        return None
    rate = median(cost / (end - start).total_seconds() for cost, start, end, _worker in spans)
    return Pace(rate, tuple((worker, end) for _cost, _start, end, worker in spans))


def _lane(run: ScoringRun) -> int:
    """0 of a live run, 1 of one of a rescoring batch: the former go first."""
    return int(run.batch_id is not None)


def _standing_before(run: ScoringRun, until: int | None = None) -> tuple[int, int]:
    """How many queued runs are served before ``run`` as things stand, and what they cost together. One query.

    With ``until``: before the turn of that tag, in the lane of ``run``.
    """
    tag = run.fair_tag if until is None else until
    is_before = Q(fair_tag__lt=tag) | Q(fair_tag=tag, pk__lt=run.pk)
    lane = Q(batch=None) & is_before if run.batch_id is None else Q(batch=None) | is_before
    found = ScoringRun.objects.filter(lane, state=State.QUEUED).aggregate(count=Count("pk"), cost=Sum("cost"))
    return found["count"], found["cost"] or 0
