"""Reads of runs and submissions for the manage pages. Every read is limited to one competition."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any, Final

from django.db.models import (
    Case,
    Count,
    F,
    Func,
    IntegerField,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
    Window,
)
from django.db.models.functions import Coalesce, RowNumber
from django.utils import timezone

from malpan.competitions.models import Competition, DataFile
from malpan.jobs.models import OPEN, Job
from malpan.submissions.errors import RunNotFound, SubmissionNotFound
from malpan.submissions.models import HiddenResult, MetricResult, ScoringRun, Submission
from scoring.recipes.warning_texts import INTEGRITY_CODES
from scoring.signature import metric_signatures

State = ScoringRun.State
HOUR: Final = timedelta(hours=1)
MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """The queue at ``now``. ``running`` come with submission, team and track, the longest running first.

    ``queued`` counts the competition's runs, ``queued_everywhere`` those of the whole site, which the same workers
    score; ``queued_slices`` the waiting slices of its large runs, which are themselves running. ``mean_seconds`` is
    that of the runs finished in the last hour, ``None`` without any.
    """

    now: datetime
    queued: int
    queued_everywhere: int
    queued_slices: int
    oldest_queued_at: datetime | None
    running: Sequence[ScoringRun]
    finished_last_hour: int
    failed_last_hour: int
    mean_seconds: float | None

    @property
    def oldest_age(self) -> timedelta | None:
        """How long the oldest queued run has waited, in whole seconds."""
        if self.oldest_queued_at is None:
            return None
        return timedelta(seconds=int((self.now - self.oldest_queued_at).total_seconds()))


def queue_status(competition: Competition, now: datetime | None = None) -> QueueStatus:
    """The state of the queue; five queries."""
    now = now or timezone.now()
    queued = ScoringRun.objects.filter(state=State.QUEUED)
    waiting = _runs(competition).filter(state=State.QUEUED).order_by("queued_at", "pk")
    at_work = runs_of(competition).filter(state=State.RUNNING)
    recent = _runs(competition).filter(finished_at__gt=now - HOUR)
    over = list(recent.values_list("state", "started_at", "finished_at"))
    spans = [(end - start).total_seconds() for state, start, end in over if state == State.FINISHED and start and end]
    queued_at = list(waiting.values_list("queued_at", flat=True))
    return QueueStatus(
        now=now,
        queued=len(queued_at),
        queued_everywhere=queued.count(),
        queued_slices=Job.objects.filter(parent__in=at_work.values("job"), state=Job.State.QUEUED).count(),
        oldest_queued_at=queued_at[0] if queued_at else None,
        running=list(at_work.order_by("started_at", "pk")),
        finished_last_hour=sum(state == State.FINISHED for state, *_span in over),
        failed_last_hour=sum(state == State.FAILED for state, *_span in over),
        mean_seconds=sum(spans) / len(spans) if spans else None,
    )


def runs_of(
    competition: Competition, *, state: str = "", track: str = "", team: str = "", batch: int | None = None
) -> QuerySet[ScoringRun]:
    """Runs, newest first, with their submission, team and track. ``track`` is a slug, ``team`` a part of the name."""
    rows = _runs(competition).select_related("submission__phase__track", "submission__team", "batch", "job")
    if state:
        rows = rows.filter(state=state)
    if track:
        rows = rows.filter(submission__phase__track__slug=track)
    if team:
        rows = rows.filter(submission__team__name__icontains=team)
    return rows if batch is None else rows.filter(batch=batch)


def run_of(competition: Competition, pk: int) -> ScoringRun:
    """One run, with everything that its page shows. Raises ``RunNotFound``."""
    run = runs_of(competition).select_related("reference_version", "submission__submitted_by").filter(pk=pk).first()
    if run is None:
        raise RunNotFound
    return run


def other_runs(run: ScoringRun) -> list[ScoringRun]:
    """The other runs of the submission of ``run``, newest first."""
    return list(
        ScoringRun.objects.filter(submission=run.submission_id).exclude(pk=run.pk).select_related("submission", "batch")
    )


@dataclass(frozen=True, slots=True)
class SliceStatus:
    """The number of finished slices of a large run and of all; ``error_code`` is of the one that failed most often."""

    over: int
    total: int
    error_code: str


def slice_status(run: ScoringRun) -> SliceStatus | None:
    """The state of the slices of ``run``, ``None`` if it has none; two queries."""
    slices = Job.objects.filter(parent=run.job_id, parent__isnull=False).order_by()
    found = slices.aggregate(total=Count("pk"), over=Count("pk", filter=~Q(state__in=OPEN)))
    if not found["total"]:
        return None
    faults = slices.exclude(error_code="").order_by("-failures", "-pk")
    return SliceStatus(found["over"], found["total"], faults.values_list("error_code", flat=True).first() or "")


def _runs(competition: Competition) -> QuerySet[ScoringRun]:
    return ScoringRun.objects.filter(submission__phase__track__competition=competition)


@dataclass(frozen=True, slots=True)
class SubmissionSearch:
    """The search for submissions; an empty field does not filter. ``track`` and ``phase`` are slugs, ``team`` part of a
    name.

    ``state`` is a run's state, or ``refunded`` or ``withdrawn``. ``warned``: those with ``any`` warning, or with an
    integrity warning (``noted``).
    """

    track: str = ""
    phase: str = ""
    team: str = ""
    state: str = ""
    warned: str = ""

    def __bool__(self) -> bool:
        return bool(self.track or self.phase or self.team or self.state or self.warned)


SORTS: Final[dict[str, Sequence[Any]]] = {
    "time": (F("created_at"), F("pk")),
    "team": (F("team__name"), F("created_at")),
    "score": (F("shown_score"), F("created_at")),
    "hidden": (F("hidden_score"), F("created_at")),
    "warnings": (F("warning_count"), F("created_at")),
}


def submissions_of(
    competition: Competition, search: SubmissionSearch, *, sort: str = "time", ascending: bool = False
) -> QuerySet[Submission]:
    """Submissions with team, phase, track and live run, those without the sorted value last.

    Each has ``shown_state`` (of the live run, else of the newest outside a batch), ``shown_score``, ``hidden_score``
    and ``warning_count``.
    """
    newest = ScoringRun.objects.filter(submission=OuterRef("pk"), batch=None).order_by("-pk").values("state")[:1]
    rows = Submission.objects.of(competition).annotate(
        shown_state=Coalesce("live_run__state", Subquery(newest)),
        shown_score=F("live_run__final_score"),
        hidden_score=F("live_run__hidden_result__final_score"),
        warning_count=_length("live_run__warnings"),
    )
    rows = rows.select_related("team", "phase__track", "live_run")
    if search.track:
        rows = rows.filter(phase__track__slug=search.track)
    if search.phase:
        rows = rows.filter(phase__slug=search.phase)
    if search.team:
        rows = rows.filter(team__name__icontains=search.team)
    if search.warned == "any":
        rows = rows.filter(warning_count__gt=0)
    if search.warned == "noted":
        rows = rows.filter(_has_any_of(INTEGRITY_CODES))
    return _in_state(rows, search.state).order_by(*_order(sort, ascending))


def _has_any_of(codes: Iterable[str]) -> Q:
    """The condition that the live run has one of these warnings."""
    return reduce(or_, (Q(live_run__warnings__contains=[{"code": code}]) for code in sorted(codes)))


def _in_state(rows: QuerySet[Any], state: str) -> QuerySet[Any]:  # annotated by ``submissions_of``
    if state == "refunded":
        return rows.exclude(refunded_at=None)
    if state == "withdrawn":
        return rows.exclude(withdrawn_at=None)
    return rows.filter(shown_state=state) if state else rows


def _order(sort: str, ascending: bool) -> list[Any]:
    columns = SORTS.get(sort, SORTS["time"])
    return [each.asc(nulls_last=True) if ascending else each.desc(nulls_last=True) for each in columns]


def _length(column: str) -> Case:
    """The number of warnings of a run; 0 without a run."""
    count = Func(column, function="jsonb_array_length", output_field=IntegerField())
    return Case(When(live_run=None, then=Value(0)), default=count, output_field=IntegerField())


def submission_of(competition: Competition, public_id: uuid.UUID | str) -> Submission:
    """One submission with team, phase, track and live run. Raises ``SubmissionNotFound``."""
    rows = Submission.objects.of(competition).filter(public_id=public_id)
    row = rows.select_related("team", "phase__track", "live_run__reference_version", "submitted_by").first()
    if row is None:
        raise SubmissionNotFound
    return row


def hidden_result_of(run: ScoringRun) -> HiddenResult | None:
    """The result of ``run`` on the private split. Only for people who may view hidden scores."""
    return HiddenResult.objects.filter(run=run).first()


@dataclass(frozen=True, slots=True)
class ItemValues:
    """The scores of one item: its id, whether it is public (``None`` without a split), values by metric."""

    id: str
    is_public: bool | None
    values: Mapping[str, float]


def item_values(run: ScoringRun, *, by: str = "", with_private: bool) -> tuple[list[str], list[ItemValues]]:
    """The metrics of ``run`` with item values, and the items, the lowest value of ``by`` first.

    ``by`` is a metric, by default the first; equal values are ordered by the following ones, and an item without a
    value is last. Private items are left out unless ``with_private``.
    """
    signatures = metric_signatures(run.signature) if run.signature.get("metrics") else {}
    found: dict[str, dict[str, float]] = {}
    seen: set[str] = set()
    rows = MetricResult.objects.filter(submission=run.submission_id, reference_version=run.reference_version_id)
    for row in rows.order_by("created_at", "pk"):
        if signatures and signatures.get(row.metric) != row.metric_signature:
            continue
        for item, value in row.values.items():
            if isinstance(value, int | float):  # a corpus metric has a row of statistics instead
                found.setdefault(item, {})[row.metric] = value
                seen.add(row.metric)
    public_ids = run.reference_version.public_ids
    metrics = [*(name for name in signatures if name in seen), *sorted(seen - signatures.keys())]
    order = [by, *metrics] if by in seen else metrics
    items = [
        ItemValues(item, None if public_ids is None else item in public, values)
        for public in [frozenset(public_ids or ())]
        for item, values in found.items()
        if with_private or public_ids is None or item in public
    ]
    return metrics, sorted(items, key=lambda row: [row.values.get(name, float("inf")) for name in order])


@dataclass(frozen=True, slots=True)
class SharedFile:
    """One file that several teams submitted, the first sender first. ``is_sample``: the organisers published it.
    ``left_out``: so many later submissions are not among them.
    """

    sha256: str
    submissions: Sequence[Submission]
    is_sample: bool
    left_out: int = 0


def shared_hashes(competition: Competition) -> list[str]:
    """The sha256 of every file of the competition that more than one team submitted, the most widely shared first."""
    files = Submission.objects.of(competition).order_by().values("file_sha256")
    counts = files.annotate(teams=Count(_root_team(), distinct=True), first=Min("created_at")).filter(teams__gt=1)
    return list(counts.order_by("-teams", "first", "file_sha256").values_list("file_sha256", flat=True))


def shared_files(competition: Competition, hashes: Sequence[str], *, senders: int | None = None) -> list[SharedFile]:
    """The files with these ``hashes``, each with its first ``senders`` submissions, by default all; two queries."""
    of_tracks = DataFile.objects.filter(track__competition=competition, file_sha256__in=hashes)
    samples = set(of_tracks.values_list("file_sha256", flat=True))
    by_file: dict[str, Any] = {"partition_by": F("file_sha256")}
    rows = Submission.objects.of(competition).filter(file_sha256__in=hashes).select_related("team", "phase__track")
    rows = rows.annotate(
        place=Window(RowNumber(), order_by=["created_at", "pk"], **by_file), sent=Window(Count("pk"), **by_file)
    )
    if senders is not None:
        rows = rows.filter(place__lte=senders)
    found: dict[str, list[Any]] = {sha256: [] for sha256 in hashes}
    for row in rows.order_by("created_at", "pk"):
        found[row.file_sha256].append(row)
    return [
        SharedFile(sha256, first, sha256 in samples, left_out=first[0].sent - len(first))
        for sha256, first in found.items()
        if first
    ]


def _root_team() -> Coalesce:
    """The team that remains after a merge: files of the two merged teams are no copies of each other."""
    return Coalesce("team__merged_into", "team")


def best_files(phase_id: int) -> list[tuple[int, str]]:
    """The key and the file's sha256 of the best scored submission of each team in a phase, by its final score in
    public, in the order of their keys.
    """
    rows = Submission.objects.filter(phase=phase_id, live_run__state=State.FINISHED).annotate(root_team=_root_team())
    best = rows.order_by("root_team", "-live_run__final_score", "created_at", "pk").distinct("root_team")
    return sorted((key, sha256) for key, sha256, _team in best.values_list("pk", "file_sha256", "root_team"))
