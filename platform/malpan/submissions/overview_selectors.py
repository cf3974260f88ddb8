"""Open work of a competition's organisers: reads for the first manage page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from malpan.competitions.models import Competition, Notice, Phase, Question
from malpan.core.database.prepared import Prepared, PreparedCount
from malpan.core.times import kst_day_bounds
from malpan.jobs.errors import VersionMissing
from malpan.submissions.errors import JudgeAway, JudgeBudgetUsedUp, ModelMissing
from malpan.submissions.models import JudgeUsage, Rejection, RescoreBatch, ScoringRun, Submission
from malpan.submissions.querysets import charged
from malpan.teams.models import Team

State = ScoringRun.State


@dataclass(frozen=True, slots=True)
class Moment:
    """A future start or end of a phase."""

    phase: Phase
    at: datetime
    is_start: bool


@dataclass(frozen=True, slots=True)
class ModelWait:
    """Runs that wait for the models of a profile, a worker of another version, or an LLM judge, as ``error_code``
    names. ``requests`` and ``tokens``: what the judge has cost so far.
    """

    profile: str
    error_code: str
    runs: int
    requests: int
    tokens: int


@dataclass(frozen=True, slots=True)
class OpenWork:
    """The open work of a competition. ``oldest_wait``: how long the oldest queued run has waited, or ``None``."""

    failed: int  # submissions without a result whose newest run failed
    queued: int
    running: int
    oldest_wait: timedelta | None
    questions: int
    oldest_question_at: datetime | None
    batches: tuple[RescoreBatch, ...]
    model_waits: tuple[ModelWait, ...]
    coming: tuple[Moment, ...]
    uploads_today: int
    rejections_today: int
    teams: int
    submissions: int  # charged ones of teams, the withdrawn among them
    withdrawn: int
    of_baselines: int  # charged ones
    last_notice: Notice | None


def open_work_of(competition: Competition, now: datetime | None = None) -> OpenWork:
    """The open work of ``competition`` at ``now``. Nine queries; a day is a KST day."""
    now = now or timezone.now()
    start, end = kst_day_bounds(now)
    runs = _runs(competition)
    of_teams = charged() & Q(team__is_baseline=False)
    uploads = Submission.objects.of(competition).aggregate(
        charged=Count("pk", filter=of_teams),
        withdrawn=Count("pk", filter=of_teams & Q(withdrawn_at__isnull=False)),
        of_baselines=Count("pk", filter=charged() & Q(team__is_baseline=True)),
        today=Count("pk", filter=Q(created_at__gte=start, created_at__lt=end)),
    )
    rejections = Rejection.objects.filter(
        phase__track__competition=competition, created_at__gte=start, created_at__lt=end, is_check=False
    )
    waiting = Question.objects.filter(competition=competition, answered_at=None).aggregate(
        count=Count("pk"), oldest=Min("created_at")
    )
    return OpenWork(
        failed=_FAILED(competition.pk),
        queued=runs["queued"],
        running=runs["running"],
        oldest_wait=now - runs["oldest"] if runs["oldest"] else None,
        questions=waiting["count"],
        oldest_question_at=waiting["oldest"],
        batches=open_batches(competition),
        model_waits=model_waits_of(competition),
        coming=coming_moments(competition, now),
        uploads_today=uploads["today"],
        rejections_today=rejections.count(),
        teams=Team.objects.filter(competition=competition, is_baseline=False, merged_into=None).count(),
        submissions=uploads["charged"],
        withdrawn=uploads["withdrawn"],
        of_baselines=uploads["of_baselines"],
        last_notice=competition.notices.filter(published_at__lte=now).order_by("-published_at").first(),
    )


def waiting_by_page(competition: Competition) -> dict[str, int]:
    """What waits for an organiser, by the name of the manage page where it is done. Three queries."""
    return {
        "manage_runs": _FAILED(competition.pk),
        "manage_questions": _UNANSWERED(competition.pk),
        "manage_rescoring": len(open_batches(competition)),
    }


def open_batches(competition: Competition) -> tuple[RescoreBatch, ...]:
    """Batches that are running, or waiting to be applied or cancelled."""
    return tuple(_OPEN_BATCHES(competition.pk))


def _open(competition: int) -> QuerySet[RescoreBatch]:
    rows = RescoreBatch.objects.filter(competition=competition, state=RescoreBatch.State.RUNNING)
    return rows.select_related("phase__track__competition")


_OPEN_BATCHES: Final = Prepared(_open, int)


def model_waits_of(competition: Competition) -> tuple[ModelWait, ...]:
    """The runs of ``competition`` that wait for models, a version or a judge, by profile and reason.

    One or two queries.
    """
    codes = (ModelMissing.code, VersionMissing.code, JudgeBudgetUsedUp.code, JudgeAway.code)
    rows = ScoringRun.objects.filter(
        submission__phase__track__competition=competition,
        state__in=[State.QUEUED, State.RUNNING],
        error_code__in=codes,
    )
    counted = list(rows.order_by().values("profile", "error_code").annotate(runs=Count("pk")).order_by("profile"))
    used = JudgeUsage.objects.in_bulk([row["profile"] for row in counted], field_name="profile") if counted else {}
    return tuple(
        ModelWait(
            profile=row["profile"],
            error_code=row["error_code"],
            runs=row["runs"],
            requests=used[row["profile"]].requests if row["profile"] in used else 0,
            tokens=used[row["profile"]].tokens if row["profile"] in used else 0,
        )
        for row in counted
    )


def phases_to_publish(competition: Competition, now: datetime | None = None) -> list[Phase]:
    """The phases whose final board may be published for the first time now: they are over, somebody has a score, and
    nothing is still being scored.
    """
    counting = Submission.objects.counting().filter(phase=OuterRef("pk"))
    unfinished = ScoringRun.objects.filter(submission__phase=OuterRef("pk"), state__in=[State.QUEUED, State.RUNNING])
    over = Phase.objects.filter(
        track__competition=competition, ends_at__lte=now or timezone.now(), final_published_at=None
    )
    found = over.filter(Exists(counting.filter(live_run__isnull=False)), ~Exists(unfinished))
    return list(found.select_related("track__competition").order_by("track__position", "track", "ends_at", "pk"))


def coming_moments(competition: Competition, now: datetime) -> tuple[Moment, ...]:
    """Every start and end of a phase after ``now``, the next one first."""
    phases = Phase.objects.filter(track__competition=competition, ends_at__gt=now).select_related("track__competition")
    found = [Moment(phase, phase.ends_at, False) for phase in phases]
    found += [Moment(phase, phase.starts_at, True) for phase in phases if phase.starts_at > now]
    return tuple(sorted(found, key=lambda moment: (moment.at, moment.phase.pk)))


def _runs(competition: Competition) -> dict[str, Any]:
    rows = ScoringRun.objects.filter(
        submission__phase__track__competition=competition, state__in=[State.QUEUED, State.RUNNING]
    )
    return rows.aggregate(
        queued=Count("pk", filter=Q(state=State.QUEUED)),
        running=Count("pk", filter=Q(state=State.RUNNING)),
        oldest=Min("queued_at", filter=Q(state=State.QUEUED)),
    )


def _failed(competition: int) -> QuerySet[Submission]:
    """Submissions without a result or an unfinished run, but with a failed one; not withdrawn ones."""
    rows = Submission.objects.filter(phase__track__competition=competition, live_run=None, withdrawn_at=None)
    under_way = ScoringRun.objects.filter(state__in=[State.QUEUED, State.RUNNING], batch=None)
    failed = ScoringRun.objects.filter(state=State.FAILED, batch=None)
    return rows.filter(pk__in=failed.values("submission")).exclude(pk__in=under_way.values("submission"))


_FAILED: Final = PreparedCount(_failed, int)
_UNANSWERED: Final = PreparedCount(lambda pk: Question.objects.filter(competition=pk, answered_at=None), int)
