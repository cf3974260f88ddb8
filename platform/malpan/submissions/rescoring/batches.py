"""A rescoring batch: its selection of submissions, its progress, and whether it is ready."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Self

from django.db.models import BooleanField, ExpressionWrapper, F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from malpan.competitions.locks import lock_phases
from malpan.competitions.models import Competition, Phase, ReferenceVersion
from malpan.core.locks import Level, lock_rows
from malpan.submissions.models import RescoreBatch, ScoringRun, Submission
from malpan.submissions.rescoring.errors import BatchClosed, RescoringCancelled

State = RescoreBatch.State
UNFINISHED: Final = (ScoringRun.State.QUEUED, ScoringRun.State.RUNNING)


@dataclass(frozen=True, slots=True)
class Selection:
    """The submissions of a phase that a batch rescores; an empty selection takes all that count.

    ``states``: finished (a score counts) or waiting (none yet). ``signature_hash`` is that of the live score.
    ``submissions`` lists them. ``since`` and ``until`` limit the moment of upload, the latter excluded.
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
        """The fields that are set, for the database and the audit log."""
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
    def for_new_submissions(self) -> Self | None:
        """The selection for later submissions, without ``states``, which change; ``None`` if none can match."""
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


def open_batch(phase: Phase) -> RescoreBatch | None:
    """The batch of ``phase`` that may still be applied, if any."""
    rows = RescoreBatch.objects.filter(phase=phase, state=State.RUNNING, repeats=1)
    return rows.select_related("reference_version").first()


def phases_to_rescore_with(phase: Phase) -> QuerySet[Phase]:
    """The other phases of the track that have scored submissions: those that another recipe or model changes too."""
    scored = Submission.objects.counting().filter(live_run__isnull=False)
    return Phase.objects.filter(track=phase.track_id, pk__in=scored.values("phase")).exclude(pk=phase.pk)


def together(batch: RescoreBatch) -> list[RescoreBatch]:
    """``batch`` and those that were started together with it, by number. One query, none where it is alone."""
    if batch.group is None:
        return [batch]
    rows = RescoreBatch.objects.filter(group=batch.group).order_by("pk")
    return list(rows.select_related("phase__track__competition", "reference_version", "created_by", "closed_by"))


def numbers_together(competition: Competition) -> list[list[int]]:
    """The primary keys of the batches of a competition, newest first; those that were started together in one list."""
    found: dict[object, list[int]] = {}
    for pk, group in RescoreBatch.objects.filter(competition=competition).values_list("pk", "group"):
        found.setdefault(group or pk, []).append(pk)
    return list(found.values())


def lock_open(batch: RescoreBatch) -> RescoreBatch:
    """The batch, locked together with its phase. Raises ``BatchClosed``."""
    return _locked_open([batch])[0]


def lock_open_together(batch: RescoreBatch) -> list[RescoreBatch]:
    """``together``, each locked together with its phase; their phases share one track. Raises ``BatchClosed``."""
    return _locked_open(together(batch))


def _locked_open(found: Sequence[RescoreBatch]) -> list[RescoreBatch]:
    phases = lock_phases([each.phase_id for each in found])
    held = list(lock_rows(RescoreBatch.objects.filter(pk__in=[each.pk for each in found]), Level.BATCH))
    if not all(each.is_open for each in held):
        raise BatchClosed
    for each in held:
        each.phase = phases[each.phase_id]
        if each.reference_version_id is not None:
            each.reference_version = ReferenceVersion.objects.select_related("phase__track__competition").get(
                pk=each.reference_version_id
            )
    return held


# --- progress ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class BatchProgress:
    """The number of submissions of a batch by state. Of several runs of a submission the newest counts.

    ``late`` of the unfinished ones were uploaded after the batch was started: nobody waits for them, as with steady
    uploads there is always one. They are scored by the new rule after it is applied. ``cancelled``: dropped with the
    batch, which is no failure.
    """

    finished: int = 0
    running: int = 0
    queued: int = 0
    failed: int = 0
    excluded: int = 0
    late: int = 0
    cancelled: int = 0

    @property
    def total(self) -> int:
        return self.finished + self.unfinished + self.failed + self.cancelled

    @property
    def unfinished(self) -> int:
        return self.running + self.queued

    @property
    def is_complete(self) -> bool:
        """Whether all runs (at least one) are finished, but for those nobody waits for."""
        return self.finished > 0 and self.finished + self.late == self.total

    @property
    def is_decided(self) -> bool:
        """Whether it is complete, or will not be unless somebody does something about failed runs."""
        return self.is_complete or not self.unfinished or (self.failed > 0 and self.unfinished == self.late)


def newest_runs(batch: RescoreBatch) -> QuerySet[ScoringRun]:
    """The newest run of each submission of ``batch`` that still counts and was not excluded.

    For a batch of repeats the newest ``repeats`` runs of each: one that failed and was retried does not count.
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
    """The excluded submissions, by primary key as text, each with its reason."""
    return dict(batch.selection.get("excluded", {}))


def progress_of(batch: RescoreBatch) -> BatchProgress:
    """The progress of ``batch``. One query."""
    rows = list(newest_runs(batch).values_list("state", "submission__created_at", "error_code"))
    counts = dict.fromkeys((*ScoringRun.State.values, "cancelled"), 0)
    for state, _uploaded, code in rows:
        counts["cancelled" if code == RescoringCancelled.code else state] += 1
    late = sum(state in UNFINISHED and uploaded > batch.created_at for state, uploaded, _code in rows)
    return BatchProgress(**counts, excluded=len(excluded_of(batch)), late=late if batch.repeats == 1 else 0)


def state_of(batch: RescoreBatch) -> State:
    """The state to show: a batch with all runs finished is ready. One query for an open batch."""
    if batch.is_open and progress_of(batch).is_complete:
        return State.READY
    return State(batch.state)


def common_state(states: Collection[State]) -> State:
    """The state to show of batches that were started together and have these: they are ready when each is."""
    found = set(states)
    return found.pop() if len(found) == 1 else State.RUNNING


def item_counts(batch: RescoreBatch) -> tuple[int, int] | None:
    """How many items the phase has now and with the references of ``batch``; ``None`` where those are no others."""
    if batch.reference_version is None:
        return None
    current = batch.phase.reference_versions.filter(is_current=True).first()
    if current is None or current.pk == batch.reference_version_id:
        return None
    return current.item_count, batch.reference_version.item_count
