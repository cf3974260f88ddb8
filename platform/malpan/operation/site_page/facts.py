"""What the operators' page shows of the whole site: reads only, a fixed number of queries, none that grows with the age
of the site.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import connection
from django.db.models import Count, Min, Q, Sum
from django.db.models.functions import TruncHour

from malpan.competitions.models import Phase
from malpan.core.errors import StorageUnavailable
from malpan.core.fields import stored_file_fields
from malpan.core.storage.collecting import is_held
from malpan.core.storage.places import configured
from malpan.core.times import KST
from malpan.jobs.claim import waits_since
from malpan.jobs.heartbeat import Scorer, Scorers
from malpan.jobs.models import OPEN, Job
from malpan.submissions.errors import ModelMissing
from malpan.submissions.models import ScoringRun

DAY: Final = timedelta(days=1)
HOUR: Final = timedelta(hours=1)
AHEAD: Final = timedelta(days=14)
DEADLINES: Final = 12
LOW_DISK: Final = 0.1  # of the disk is free

State = ScoringRun.State


@dataclass(frozen=True, slots=True)
class Lane:
    """The open work of a lane: submissions, or rescoring and what else may wait."""

    lane: Job.Lane
    waiting: int
    running: int
    oldest_wait: timedelta | None


@dataclass(frozen=True, slots=True)
class Hour:
    """The runs that ended within an hour, the items of those that were scored, and the runs that were ``open`` at its
    end: that waited or were being scored.
    """

    starts_at: datetime
    finished: int
    failed: int
    items: int
    open: int


@dataclass(frozen=True, slots=True)
class Failure:
    """How many runs of the last day failed with an error code."""

    code: str
    runs: int


@dataclass(frozen=True, slots=True)
class LackingModels:
    """How many runs wait for a worker with the models of a profile."""

    profile: str
    runs: int


@dataclass(frozen=True, slots=True)
class Held:
    """How many jobs wait for what is outside the workers, which ``code`` names, and since when the first does."""

    code: str
    jobs: int
    since: datetime


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes of the disk of the private files."""

    free: int
    total: int

    @property
    def share(self) -> float:
        """How much of it is free."""
        return self.free / self.total if self.total else 1.0

    @property
    def is_low(self) -> bool:
        """Whether somebody must make room."""
        return self.share < LOW_DISK


@dataclass(frozen=True, slots=True)
class Storage:
    """Bytes, and how many files."""

    database: int
    files: int
    files_bytes: int


@dataclass(frozen=True, slots=True)
class Deadline:
    """A start or an end of a phase ahead."""

    phase: Phase
    at: datetime
    is_start: bool


@dataclass(frozen=True, slots=True)
class AtWork:
    """A scoring process with the run that it works on, if it is one."""

    scorer: Scorer
    job: Job | None
    run: ScoringRun | None


def at_work(found: Scorers) -> list[AtWork]:
    """What each process of ``found`` does now. Two queries."""
    wanted = [key for each in found.all if isinstance(key := each.worker.about.get("job"), int)]
    jobs = Job.objects.in_bulk(wanted)
    subjects = {job.parent_id or job.pk for job in jobs.values()}  # of a slice its run's
    rows = ScoringRun.objects.filter(job__in=subjects).select_related("submission__phase__track__competition")
    runs = {run.job_id: run for run in rows}
    lines = []
    for each in found.all:
        job = jobs.get(each.worker.about.get("job") or 0)
        lines.append(AtWork(each, job, runs.get(job.parent_id or job.pk) if job else None))
    return lines


def lanes(now: datetime) -> list[Lane]:
    """The queue of each lane. One query."""
    rows = Job.objects.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING]).order_by().values("lane")
    waiting = Q(state=Job.State.QUEUED)
    counted = rows.annotate(
        waiting=Count("pk", filter=waiting),
        running=Count("pk", filter=~waiting),
        oldest=waits_since(now),
    )
    found = {row["lane"]: _lane(row, now) for row in counted}
    return [found.get(lane.value, Lane(lane, 0, 0, None)) for lane in Job.Lane]


def _lane(row: Mapping[str, Any], now: datetime) -> Lane:
    wait = max(timedelta(0), now - row["oldest"]) if row["oldest"] else None
    return Lane(Job.Lane(row["lane"]), row["waiting"], row["running"], wait)


def day_curve(now: datetime) -> list[Hour]:
    """The 24 hours up to the present one, which ends now, the oldest first. Two queries."""
    first = now.astimezone(KST).replace(minute=0, second=0, microsecond=0) - 23 * HOUR
    rows = ScoringRun.objects.filter(finished_at__gte=first, job__isnull=False).order_by()
    hours = rows.annotate(hour=TruncHour("finished_at", tzinfo=KST)).values("hour")
    counted = hours.annotate(
        finished=Count("pk", filter=Q(state=State.FINISHED)),
        failed=Count("pk", filter=Q(state=State.FAILED)),
        items=Sum("submission__item_count", filter=Q(state=State.FINISHED)),
    )
    ended = {row["hour"]: (row["finished"], row["failed"], row["items"] or 0) for row in counted}
    starts = [first + number * HOUR for number in range(24)]
    open_runs = _open_at([*starts[1:], now])
    return [Hour(start, *ended.get(start, (0, 0, 0)), left) for start, left in zip(starts, open_runs, strict=True)]


def _open_at(moments: list[datetime]) -> list[int]:
    """How many runs waited or were being scored at each of ``moments``, the earliest first. One query."""
    is_near = Q(finished_at__gt=moments[0]) | Q(state__in=[State.QUEUED, State.RUNNING])
    rows = ScoringRun.objects.filter(is_near, job__isnull=False).order_by()
    is_over_later = [Q(finished_at__isnull=True) | Q(finished_at__gt=moment) for moment in moments]
    counts = {
        f"at_{number}": Count("pk", filter=Q(queued_at__lte=moment) & is_later)
        for number, (moment, is_later) in enumerate(zip(moments, is_over_later, strict=True))
    }
    return list(rows.aggregate(**counts).values())


def failures(now: datetime) -> list[Failure]:
    """Why runs of the last day failed, the commonest cause first. One query."""
    rows = ScoringRun.objects.filter(finished_at__gt=now - DAY, state=State.FAILED).order_by()
    counted = rows.values_list("error_code").annotate(runs=Count("pk")).order_by("-runs", "error_code")
    return [Failure(code, runs) for code, runs in counted]


def lacking_models() -> list[LackingModels]:
    """The profiles whose models no worker had that asked. One query."""
    rows = ScoringRun.objects.filter(state__in=[State.QUEUED, State.RUNNING], error_code=ModelMissing.code)
    counted = rows.order_by("profile").values_list("profile").annotate(runs=Count("pk"))
    return [LackingModels(profile, runs) for profile, runs in counted]


def held() -> list[Held]:
    """What jobs wait for, but models. One query. They are queued again every few seconds, so that no lane tells it."""
    rows = Job.objects.filter(state__in=OPEN, waiting_since__isnull=False).exclude(error_code=ModelMissing.code)
    counted = rows.order_by("error_code").values_list("error_code").annotate(Count("pk"), Min("waiting_since"))
    return [Held(*row) for row in counted]


def storage() -> Storage:
    """What is stored. A query for each column that names files, and one."""
    files = size = 0
    for field in stored_file_fields():
        if not field.size:
            continue
        rows = field.model._base_manager.exclude(**{field.name: ""}).order_by()
        found = rows.values(field.name, field.size).distinct().aggregate(n=Count("*"), size=Sum(field.size))
        files, size = files + found["n"], size + (found["size"] or 0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        [database] = cursor.fetchone()
    return Storage(int(database), files, size)


def disk() -> Disk | None:
    """The room that is left; ``None`` where the private files lie in an S3 store."""
    if settings.MALPAN_STORAGE:
        return None
    root = settings.PRIVATE_ROOT  # where they lie, or will
    found = shutil.disk_usage(root if root.exists() else root.parent if root.parent.exists() else "/")
    return Disk(found.free, found.total)


def is_store_held() -> bool:
    """Whether nothing is collected in the store of files since a restore; not where the store is away."""
    try:
        owner = configured().owner()
    except StorageUnavailable:
        return False
    return owner is not None and is_held(owner)


def deadlines(now: datetime) -> list[Deadline]:
    """Starts and ends of phases in the next days, the next one first. One query."""
    until = now + AHEAD
    rows = Phase.objects.filter(Q(starts_at__gt=now, starts_at__lte=until) | Q(ends_at__gt=now, ends_at__lte=until))
    found = []
    for phase in rows.select_related("track__competition"):
        found += [Deadline(phase, phase.starts_at, True)] if now < phase.starts_at <= until else []
        found += [Deadline(phase, phase.ends_at, False)] if now < phase.ends_at <= until else []
    return sorted(found, key=lambda each: (each.at, each.phase.pk))[:DEADLINES]
