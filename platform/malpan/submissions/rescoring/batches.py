"""What a rescoring batch means to a single run. ``evaluation.runs`` asks; the batch as a whole is ``rescoring``.

Two locks keep a batch whole. An upload holds its phase shared, from before its run is queued until it commits;
starting, applying and cancelling hold it alone. So a submission is either there when a batch selects, or sees the open
batch and gets a second run of it; and none is queued by a rule that is just being replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Self

from django.conf import settings
from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, F, Q, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from malpan.competitions.locks import lock_phase
from malpan.competitions.models import Phase, ReferenceVersion
from malpan.competitions.selectors import current_reference
from malpan.core.locks import Level, lock_rows
from malpan.submissions.evaluation import queueing
from malpan.submissions.models import RescoreBatch, ScoringRun, Submission

State = RescoreBatch.State
OPEN_STATES: Final = (State.RUNNING, State.READY)


@dataclass(frozen=True, slots=True)
class Rule:
    """What submissions are scored with."""

    reference_version: ReferenceVersion
    recipe: str
    profile: str


@dataclass(frozen=True, slots=True)
class Selection:
    """Which submissions of a phase a batch takes; nothing set takes all that count.

    ``states``: finished (a score counts) or waiting (none yet). ``signature_hash`` is that of the live score.
    ``submissions`` names them one by one. ``since`` and ``until`` are when they came in, the latter excluded.
    """

    teams: tuple[int, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    states: tuple[str, ...] = ()
    signature_hash: str = ""
    submissions: tuple[int, ...] = ()

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        def moment(name: str) -> datetime | None:
            return datetime.fromisoformat(stored[name]) if stored.get(name) else None

        return cls(
            teams=tuple(stored.get("teams", ())),
            since=moment("since"),
            until=moment("until"),
            states=tuple(stored.get("states", ())),
            signature_hash=stored.get("signature_hash", ""),
            submissions=tuple(stored.get("submissions", ())),
        )

    def as_json(self) -> dict[str, Any]:
        """What is set, for the database and the audit log."""
        values = {
            "teams": list(self.teams),
            "since": self.since.isoformat() if self.since else None,
            "until": self.until.isoformat() if self.until else None,
            "states": list(self.states),
            "signature_hash": self.signature_hash,
            "submissions": list(self.submissions),
        }
        return {name: value for name, value in values.items() if value}

    @property
    def takes_all(self) -> bool:
        return not self.as_json()

    @property
    def for_newcomers(self) -> Self | None:
        """What a submission that comes in later must match; ``None`` where none can. Its state changes by itself."""
        return None if self.signature_hash or self.submissions else replace(self, states=())

    def submissions_of(self, phase: Phase) -> QuerySet[Submission]:
        """The counting submissions of ``phase`` that match: neither refunded nor withdrawn."""
        rows = Submission.objects.counting().filter(phase=phase)
        if self.teams:
            rows = rows.filter(team__in=self.teams)
        if self.since:
            rows = rows.filter(created_at__gte=self.since)
        if self.until:
            rows = rows.filter(created_at__lt=self.until)
        if self.states:
            rows = rows.filter(self._states())
        if self.signature_hash:
            rows = rows.filter(live_run__signature_hash=self.signature_hash)
        return rows.filter(pk__in=self.submissions) if self.submissions else rows

    def _states(self) -> Q:
        wanted = {"finished": Q(live_run__isnull=False), "waiting": Q(live_run=None)}
        found = Q(pk__in=())
        for state in self.states:
            found |= wanted[state]
        return found


def rule_of(phase: Phase, batch: RescoreBatch | None = None) -> Rule:
    """What ``phase`` is scored with now, or what ``batch`` scores with. Raises ``ReferencesNotPublished``."""
    track = phase.track
    profile = track.profile or settings.SCORING_PROFILE
    version = batch.reference_version if batch else None
    return Rule(
        version or current_reference(phase),
        (batch.recipe if batch else "") or track.recipe,
        (batch.profile if batch else "") or profile,
    )


def open_batch(phase: Phase) -> RescoreBatch | None:
    """The batch of ``phase`` that may still be applied."""
    rows = RescoreBatch.objects.filter(phase=phase, state__in=OPEN_STATES, repeats=1)
    return rows.select_related("reference_version").first()


def new_run(
    submission: Submission, rule: Rule, batch: RescoreBatch, cost: int, now: datetime | None = None
) -> ScoringRun:
    """A queued run of ``cost`` expected tokens, not saved and without its turn (``queueing.give_turns``)."""
    return ScoringRun(
        submission=submission,
        reference_version=rule.reference_version,
        recipe=rule.recipe,
        profile=rule.profile,
        batch=batch,
        cost=cost,
        queued_at=now or timezone.now(),
    )


def beside(submission: Submission, phase: Phase, cost: int) -> ScoringRun | None:
    """Queue the second run of a submission that comes in while a batch is open, or ``None`` where none takes it.

    Call it under ``lock_phase_shared``. A batch that was ready waits for it again.
    """
    batch = open_batch(phase)
    if batch is None or not _takes_newcomer(batch, submission, phase):
        return None
    RescoreBatch.objects.filter(pk=batch.pk, state=State.READY).update(state=State.RUNNING, ready_at=None)
    run = new_run(submission, rule_of(phase, batch), batch, cost)
    queueing.give_turns([run])
    run.save()
    return run


def _takes_newcomer(batch: RescoreBatch, submission: Submission, phase: Phase) -> bool:
    wanted = Selection.from_json(batch.selection).for_newcomers
    if wanted is None or not wanted.submissions_of(phase).filter(pk=submission.pk).exists():
        return False
    return not batch.runs.filter(submission=submission).exclude(state=ScoringRun.State.FAILED).exists()


# --- progress ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How many submissions of a batch stand where. Of several runs of a submission the newest speaks."""

    finished: int = 0
    running: int = 0
    queued: int = 0
    failed: int = 0
    excluded: int = 0

    @property
    def total(self) -> int:
        return self.finished + self.unfinished + self.failed

    @property
    def unfinished(self) -> int:
        return self.running + self.queued

    @property
    def is_complete(self) -> bool:
        """Whether everything that can be applied is there: 100 %."""
        return self.finished > 0 and self.finished == self.total


def newest_runs(batch: RescoreBatch) -> QuerySet[ScoringRun]:
    """The newest run of each submission of ``batch`` that still counts and was not left out.

    Of a batch of repeats as many runs of each as it has repeats: one that failed and was tried again does not count.
    """
    rows = _counting_runs(batch)
    if batch.repeats > 1:
        failed = ExpressionWrapper(Q(state=ScoringRun.State.FAILED), BooleanField())
        place = Window(RowNumber(), partition_by="submission_id", order_by=[failed, F("pk").desc()])
        return rows.annotate(place=place).filter(place__lte=batch.repeats).order_by("submission_id", "pk")
    return rows.order_by("submission_id", "-pk").distinct("submission_id")


def _counting_runs(batch: RescoreBatch) -> QuerySet[ScoringRun]:
    rows = batch.runs.filter(submission__in=Submission.objects.counting())
    return rows.exclude(submission__in=[int(key) for key in excluded_of(batch)])


def excluded_of(batch: RescoreBatch) -> dict[str, str]:
    """The submissions left out, by primary key as text, each with its reason."""
    return dict(batch.selection.get("excluded", {}))


def progress_of(batch: RescoreBatch) -> BatchProgress:
    """One query."""
    states = list(newest_runs(batch).values_list("state", flat=True))
    counts = {state: states.count(state) for state in ScoringRun.State.values}
    return BatchProgress(**counts, excluded=len(excluded_of(batch)))


def settle(batch_id: int) -> bool:
    """Move a running batch to ready when every run of it is finished, and a ready one back when one is not.

    True when it moved. Called after the commit of whatever ended a run, and by the reconciler; any number at once.
    """
    batch = RescoreBatch.objects.filter(pk=batch_id, state__in=OPEN_STATES).first()
    if batch is None or _is_settled(batch):  # without a lock: most runs of a batch are not its last
        return False
    with transaction.atomic():
        lock_phase(batch.phase_id)
        batch = lock_rows(RescoreBatch.objects.all(), Level.BATCH).get(pk=batch_id)
        if batch.state not in OPEN_STATES or _is_settled(batch):
            return False
        is_ready = batch.state == State.RUNNING
        batch.state = State.READY if is_ready else State.RUNNING
        batch.ready_at = timezone.now() if is_ready else None
        batch.save(update_fields=["state", "ready_at"])
    return True


def settle_later(run: ScoringRun) -> None:
    """See whether the batch of ``run`` is complete, once this transaction is over."""
    if run.batch_id is not None:
        batch_id = run.batch_id
        transaction.on_commit(lambda: settle(batch_id), robust=True)


def settle_open_batches() -> int:
    """The reconciler's pass: how many batches moved."""
    open_ids = RescoreBatch.objects.filter(state__in=OPEN_STATES).values_list("pk", flat=True)
    return sum(settle(pk) for pk in list(open_ids))


def _is_settled(batch: RescoreBatch) -> bool:
    """Whether the state says what the runs say. While one is waiting or at work the rest need not be looked at."""
    at_work = (ScoringRun.State.QUEUED, ScoringRun.State.RUNNING)
    if batch.state == State.RUNNING and _counting_runs(batch).filter(state__in=at_work).exists():
        return True
    return progress_of(batch).is_complete == (batch.state == State.READY)
