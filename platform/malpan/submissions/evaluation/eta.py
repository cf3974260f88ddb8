"""When a run will be done, estimated from the work before it and the speed of recent runs.

Work is counted in model tokens (``scoring.running.costs``) and converted to seconds by the speed of its kind: tokens of
a recipe with large models take longer than those of one that counts words. An estimate is no promise: later small runs
may pass, a worker may stop. So it is rounded, and if nothing is known, or the end is days away, there is none. It
reveals nothing about other teams' submissions except their total time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from django.conf import settings
from django.db.models import BigIntegerField, Case, Count, Exists, F, Max, OuterRef, Q, Sum, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Least
from django.utils import timezone

from malpan.jobs.heartbeat import is_anybody_working
from malpan.jobs.models import OPEN, Job
from malpan.submissions.evaluation.large_runs import cost_of_turn, is_large
from malpan.submissions.models import ScoringRun

RECENT_RUNS: Final = 20
ACTIVE_WITHIN: Final = timedelta(minutes=10)  # a worker that finished nothing for longer may have stopped
EXACT_UNTIL: Final = timedelta(minutes=30)  # up to here ends are rounded to one minute, later ones to five
FURTHEST_END: Final = timedelta(days=7)  # no estimate for later ends
PATIENCE: Final = timedelta(seconds=3)  # most runs are claimed by then
SHOWN_PROGRESS: Final = 0.1  # share done from which a run's progress is used
State = ScoringRun.State
OPEN_SLICE: Final = Q(job__children__state__in=OPEN)

Kind = tuple[str, str]  # recipe and model profile: runs of one kind are equally fast, token by token
Costs = Iterable[tuple[Kind, float]]  # tokens of some pieces of work


@dataclass(frozen=True, slots=True)
class RunForecast:
    """The forecast of one run: how many runs are before it (``None`` if it is not waiting), and when it will be done.

    ``finish_at`` is rounded up to a whole minute, or to five; ``None`` if it is over, or nothing is known.
    """

    waiting_before: int | None = None
    finish_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """The work before a run: the number of runs, and the tokens by kind."""

    count: int
    costs: Sequence[tuple[Kind, float]]


class Forecast:
    """The state of the queue at ``now``. Common data of several runs is read once: make one instance for each request.

    Queries for each queued run: one, or two while a large run is being computed. Independent of the number of runs: one
    or two for running work, one for the workers of each profile, and one for the pace of each kind.
    """

    def __init__(self, now: datetime | None = None) -> None:
        self.now = now or timezone.now()
        self._paces: dict[Kind, float | None] = {}
        self._names: dict[str, set[str]] = {}

    def of(self, run: ScoringRun | None) -> RunForecast:
        """The forecast of ``run``."""
        if run is not None and run.state == State.QUEUED:
            before = self._before_queued(run)
            if self._nobody_works(run):
                return RunForecast(before.count)  # nobody is there who could keep a promise
            return RunForecast(before.count, self._moment(self._end_of_queued(run, before.costs)))
        if run is not None and run.state == State.RUNNING:
            return RunForecast(None, self._moment(self._end_of_running(run)))
        return RunForecast()

    def lacks_worker(self, run: ScoringRun | None) -> bool:
        """Whether ``run`` waits for a worker that can do it: none is alive, or one put it back as not its own.

        Who is alive is read once, and only for a run that has waited for ``PATIENCE``.
        """
        if run is None or run.state != State.QUEUED:
            return False
        job = job_of(run)
        was_put_back = job.not_before is not None and not job.failures
        return was_put_back or self._nobody_works(run)

    def _nobody_works(self, run: ScoringRun) -> bool:
        return self.now - run.queued_at > PATIENCE and not self._has_workers

    # --- the end of a run, in seconds from now ------------------------------------------------------------------------
    def _end_of_queued(self, run: ScoringRun, before: Costs) -> float | None:
        """The workers share the work before the run; then one of them does it, or all of them if it is large."""
        pace, workers, job = self._pace(_kind(run)), self._workers(run.profile), job_of(run)
        if pace is None or not workers or not job.cost:
            return None
        begins = (self._at_work(pace) + self._seconds(before, pace)) / workers
        if job.not_before is not None:
            begins = max(begins, (job.not_before - self.now).total_seconds())
        return begins + job.cost / pace / (workers if is_large(run.submission.item_count) else 1)

    def _end_of_running(self, run: ScoringRun) -> float | None:
        """From its cost; from its progress if that end has passed, or without an estimate from the cost."""
        if run.started_at is None:
            return None
        by_cost = self._end_by_cost(run)
        if by_cost is not None and by_cost > 0:
            return by_cost
        progress = job_of(run).progress
        if progress < SHOWN_PROGRESS:
            return None
        return self._elapsed(run) * (1 - progress) / progress

    def _end_by_cost(self, run: ScoringRun) -> float | None:
        """The end of a running run by its cost; one in slices ends when the workers reach the last of them."""
        pace = self._pace(_kind(run))
        if pace is None:
            return None
        if run.pk in self._runs_with_all_slices_done:
            return None
        if run.pk not in self._last_turns:
            return job_of(run).cost / pace - self._elapsed(run)
        last = self._last_turns[run.pk]
        before = [*_runs_before(run, last, last).costs, *_slices_before(run, last, last).costs]
        return (self._at_work(pace) + self._seconds(before, pace)) / max(1, self._workers(run.profile))

    # --- what there is to do ------------------------------------------------------------------------------------------
    def _before_queued(self, run: ScoringRun) -> Waiting:
        """The work with its turn before the last turn of ``run``; the count is of runs before its first turn."""
        job = job_of(run)
        until = job.fair_tag - cost_of_turn(job.cost, run.submission.item_count) + job.cost
        runs = _runs_before(run, job.fair_tag, until)
        if not self._last_turns:
            return runs
        slices = _slices_before(run, job.fair_tag, until)
        return Waiting(runs.count + slices.count, [*runs.costs, *slices.costs])

    def _at_work(self, usual: float) -> float:
        """Remaining work of the running runs and slices, in seconds of one worker."""
        whole = (
            max(0.0, self._seconds([(_kind(run), job_of(run).cost)], usual) - self._elapsed(run))
            for run in self._whole_runs
            if run.pk not in self._runs_with_all_slices_done
        )
        slices = [(kind, job.cost * (1 - job.progress)) for kind, job in self._slices_at_work]
        return sum(whole) + self._seconds(slices, usual)

    def _seconds(self, costs: Costs, usual: float) -> float:
        """Seconds of one worker for ``costs``; ``usual`` is the pace for kinds without one."""
        return sum(cost / (self._pace(kind) or usual) for kind, cost in costs)

    def _elapsed(self, run: ScoringRun) -> float:
        return (self.now - (run.started_at or self.now)).total_seconds()

    # --- what is read once -------------------------------------------------------------------------------------------
    @cached_property
    def _has_workers(self) -> bool:
        return is_anybody_working()

    def _pace(self, kind: Kind) -> float | None:
        if kind not in self._paces:
            self._paces[kind] = pace_of(*kind)
        return self._paces[kind]

    @cached_property
    def _running(self) -> Sequence[ScoringRun]:
        """All running runs, with their number of slices and, as ``last_turn``, the tag of the last open slice."""
        last_turn = Max("job__children__fair_tag", filter=OPEN_SLICE)
        rows = ScoringRun.objects.filter(state=State.RUNNING)
        rows = rows.annotate(last_turn=last_turn, slices=Count("job__children"))
        return list(rows.select_related("job").only("recipe", "profile", "started_at", "job__cost", "job__worker"))

    @cached_property
    def _whole_runs(self) -> Sequence[ScoringRun]:
        """The running runs that one worker scores as a whole."""
        return [run for run in self._running if run.pk not in self._last_turns]

    @cached_property
    def _last_turns(self) -> dict[int, int]:
        """The tag of the last open slice, by the key of its run."""
        turns = ((run.pk, getattr(run, "last_turn", None)) for run in self._running)
        return {pk: turn for pk, turn in turns if turn is not None}

    @cached_property
    def _runs_with_all_slices_done(self) -> set[int]:
        """The runs whose slices are all done: the rest of them is short, whatever their cost."""
        return {run.pk for run in self._whole_runs if getattr(run, "slices", 0)}

    @cached_property
    def _slices_at_work(self) -> Sequence[tuple[Kind, Job]]:
        """The running slices of large runs: at most as many as workers."""
        if not self._last_turns:
            return []
        kinds = {run.job_id: _kind(run) for run in self._running}
        rows = Job.objects.filter(state=Job.State.RUNNING, parent__in=list(kinds))
        return [(kinds[job.parent_id], job) for job in rows.only("parent", "cost", "progress", "worker")]

    def _workers(self, profile: str) -> int:
        """The number of worker processes.

        Several processes of one worker have the same name; but while anything waits, each of them has a running job.
        """
        if profile not in self._names:
            lately = ScoringRun.objects.filter(profile=profile, batch=None, state=State.FINISHED)
            active = lately.filter(finished_at__gte=self.now - ACTIVE_WITHIN, job__isnull=False)
            self._names[profile] = set(active.order_by().values_list("job__worker", flat=True).distinct())
        in_hand = [*(job_of(run) for run in self._whole_runs), *(job for _kind, job in self._slices_at_work)]
        return max(len(self._names[profile] | {job.worker for job in in_hand}), len(in_hand))

    def _moment(self, seconds: float | None) -> datetime | None:
        """The moment in ``seconds`` from now, rounded up; ``None`` if that is later than ``FURTHEST_END``."""
        if seconds is None or seconds > FURTHEST_END.total_seconds():
            return None
        end = self.now + timedelta(seconds=seconds)
        step = 60 if end - self.now <= EXACT_UNTIL else 300
        return datetime.fromtimestamp(math.ceil(end.timestamp() / step) * step, tz=end.tzinfo)


def pace_of(recipe: str, profile: str) -> float | None:
    """Tokens per second of one worker over the last runs of a kind, or ``None`` without any. One query.

    Over all of them together: alone, small runs measure only the overhead, and runs with known values nothing. Batches
    are excluded, as most of their values are known, and so are runs shared by several workers.
    """
    rows = ScoringRun.objects.filter(recipe=recipe, profile=profile, batch=None, state=State.FINISHED, job__cost__gt=0)
    whole = rows.exclude(Exists(Job.objects.filter(parent=OuterRef("job"))))
    last = whole.order_by("-finished_at").values_list("job__cost", "started_at", "finished_at")[:RECENT_RUNS]
    spans = [(cost, (end - start).total_seconds()) for cost, start, end in last if start and end and end > start]
    seconds = sum(span for _cost, span in spans)
    return sum(cost for cost, _span in spans) / seconds if seconds else None


def job_of(run: ScoringRun) -> Job:
    """The job of a run that is not over, or that ended on this site."""
    assert run.job is not None
    return run.job


def _kind(run: ScoringRun) -> Kind:
    return run.recipe, run.profile


def _runs_before(run: ScoringRun, first: int, until: int) -> Waiting:
    """The number of queued runs before tag ``first`` in the lane of ``run``, and the tokens of all other runs up to tag
    ``until``. One query.
    """

    def before(tag: int) -> Q:
        earlier = Q(job__fair_tag__lt=tag) | Q(job__fair_tag=tag, job__lt=run.job_id)
        return Q(batch=None) & earlier if run.batch_id is None else Q(batch=None) | earlier

    rows = ScoringRun.objects.filter(before(until), state=State.QUEUED).exclude(pk=run.pk).order_by()
    tokens = Sum(_share_before(until, is_live=run.batch_id is None))
    found = rows.values_list("recipe", "profile").annotate(count=Count("pk", filter=before(first)), tokens=tokens)
    return _waiting(found)


def _share_before(until: int, *, is_live: bool) -> Combinable:
    """The tokens of a queued run with a turn up to ``until``: not all of a large one."""
    turn = Case(
        When(
            submission__item_count__gt=settings.LARGE_RUN_ITEMS,
            then=F("job__cost") * settings.SLICE_ITEMS / F("submission__item_count"),
        ),
        default=F("job__cost"),
        output_field=BigIntegerField(),
    )
    share = Least(F("job__cost"), Value(until) - F("job__fair_tag") + turn, output_field=BigIntegerField())
    if is_live:
        return share
    return Case(When(batch=None, then=F("job__cost")), default=share, output_field=BigIntegerField())


def _slices_before(run: ScoringRun, first: int, until: int) -> Waiting:
    """As ``_runs_before``, of running large runs: those with a waiting slice before, and the tokens of the slices."""

    def before(tag: int) -> Q:
        earlier = Q(job__children__fair_tag__lte=tag)  # equal tags count as earlier
        return Q(batch=None) & earlier if run.batch_id is None else Q(batch=None) | earlier

    waiting = Q(job__children__state=Job.State.QUEUED)
    rows = ScoringRun.objects.filter(before(until), waiting, state=State.RUNNING).order_by()
    count = Count("pk", distinct=True, filter=before(first))
    found = rows.values_list("recipe", "profile").annotate(count=count, tokens=Sum("job__children__cost"))
    return _waiting(found)


def _waiting(found: Iterable[tuple[str, str, int, int]]) -> Waiting:
    """``Waiting`` from rows of (recipe, profile, number of runs, tokens)."""
    rows = list(found)
    costs = [((recipe, profile), tokens) for recipe, profile, _count, tokens in rows]
    return Waiting(sum(count for _recipe, _profile, count, _tokens in rows), costs)
