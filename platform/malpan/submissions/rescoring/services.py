"""Rescoring batches: many submissions are scored again without changing the live board, then applied all at once.

running → applied | cancelled. Participants see nothing of a batch until it is applied: its runs have ``batch`` set, and
the live runs do not change. ``apply_batch`` switches every live run, the track's recipe and models, the current
references, quotas and the notice in one transaction that locks the phase; a reader sees the board before it or after
it. Recipe and models are those of all phases of a track: batches of several are started, applied and cancelled
together. New submissions during a batch are in ``alongside``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.composites import require_sound, require_sound_counting
from malpan.competitions.locks import lock_phases
from malpan.competitions.models import Phase, ReferenceVersion
from malpan.competitions.references import load_references, recipe_named
from malpan.core import audit
from malpan.submissions import past_boards
from malpan.submissions.evaluation import fresh, reuse, runs
from malpan.submissions.integrity import chain
from malpan.submissions.models import RescoreBatch, RescoreOrder, ScoringRun, Submission
from malpan.submissions.rescoring import apply, batches, letters, orders
from malpan.submissions.rescoring.apply import NO_ANNOUNCEMENT, Announcement
from malpan.submissions.rescoring.batches import Selection
from malpan.submissions.rescoring.errors import (
    BatchNotFound,
    BatchOpenAlready,
    BatchPhasesApart,
    BatchReasonMissing,
    BatchReferencesUnfit,
    BatchRunNotFailed,
    BatchSelectsNothing,
    RescoringCancelled,
)
from malpan.submissions.scoring_config import ScoringConfig, scoring_config_of
from scoring.errors import InvalidFile

State = RescoreBatch.State
REASON_CHARS = 300


def start_batch(
    *,
    phase: Phase,
    selection: Selection,
    reason: str,
    actor: User,
    also: Collection[Phase] = (),
    reference_version: ReferenceVersion | None = None,
    recipe: str = "",
    profile: str = "",
    repeats: int = 1,
    is_from_scratch: bool = False,
) -> RescoreBatch:
    """Queue a run for every submission of ``phase`` that matches; the board does not change.

    Empty arguments change nothing. ``repeats`` > 1 scores each that many times, to show numeric noise.
    ``is_from_scratch``: no value that any worker computed before is used. Matching submissions uploaded from now on are
    scored by both rules. ``also`` are further phases of the track, with their own references: each has a batch that is
    applied and cancelled together with the one that is returned.

    Raises ``BatchReasonMissing``, ``UnknownTrackRecipe``, ``BatchPhasesApart``, ``BatchOpenAlready``,
    ``BatchSelectsNothing``, ``BatchReferencesUnfit``, ``ReferencesNotPublished``, and ``CompositeInvalid`` if the new
    recipe lacks a score that the track ranks by.
    """
    _require_reason(reason)
    if any(each.track_id != phase.track_id for each in also):
        raise BatchPhasesApart
    with transaction.atomic():
        phases = lock_phases({phase.pk, *(each.pk for each in also)})
        group = uuid4() if len(phases) > 1 else None
        started = {}
        for pk, held in phases.items():
            batch = RescoreBatch(
                competition=held.track.competition,
                phase=held,
                reason=reason.strip()[:REASON_CHARS],
                selection=selection.as_json(),
                reference_version=reference_version if pk == phase.pk else None,
                recipe=recipe,
                profile=profile,
                repeats=repeats,
                is_from_scratch=is_from_scratch,
                group=group,
                created_by=actor,
            )
            started[pk] = _started(batch, selection, actor)
    return started[phase.pk]


def _started(batch: RescoreBatch, selection: Selection, actor: User) -> RescoreBatch:
    """Save the batch, whose phase is locked, and queue its runs."""
    _clear_unchanged_fields(batch)
    _refuse_second(batch)
    config = scoring_config_of(batch.phase, batch)
    _require_fitting(batch.phase, config)
    selected = list(selection.submissions_of(batch.phase).order_by("pk"))
    if not selected:
        raise BatchSelectsNothing
    batch.save()
    runs.queue_runs([each for each in selected for _time in range(batch.repeats)], config, batch=batch)
    after = _facts(batch) | {"submissions": len(selected)}
    audit.record(actor=actor, action="rescoring.start", obj=batch, after=after)
    return batch


def cancel_batch(*, batch: RescoreBatch, actor: User) -> RescoreBatch:
    """End an open batch, and those that were started together with it, without any change of a board. Their unfinished
    runs are dropped.

    Raises ``BatchClosed``.
    """
    with transaction.atomic():
        held = batches.lock_open_together(batch)
        orders.end_with(held[0], actor=actor)
        for each in held:
            _close(each, State.CANCELLED, actor)
        for each in held:
            fresh.forget(each)
            unfinished = list(each.runs.filter(state__in=runs.UNFINISHED))
            dropped = len(runs.drop_runs(unfinished, error_code=RescoringCancelled.code))
            audit.record(
                actor=actor,
                action="rescoring.cancel",
                obj=each,
                before={"state": State.RUNNING.value},
                after={"state": each.state, "dropped_runs": dropped},
            )
    return _this(batch, held)


def retry_failed(*, batch: RescoreBatch, actor: User) -> int:
    """Score every failed submission of an open batch again, as a new run; returns how many. Raises ``BatchClosed``."""
    with transaction.atomic():
        held = batches.lock_open(batch)
        failed = [run for run in _newest(held) if run.state == ScoringRun.State.FAILED]
        config = scoring_config_of(held.phase, held)
        runs.queue_runs([run.submission for run in failed], config, batch=held)
        after = {"submissions": [str(run.submission.public_id) for run in failed]}
        audit.record(actor=actor, action="rescoring.retry", obj=held, after=after)
    return len(failed)


def exclude_submission(*, batch: RescoreBatch, submission: Submission, reason: str, actor: User) -> None:
    """Exclude a submission whose run failed from the batch: it keeps its live run, whatever that means for its rank.

    Raises ``BatchReasonMissing``, ``BatchClosed``, and ``BatchRunNotFailed`` if its newest run did not fail.
    """
    _require_reason(reason)
    with transaction.atomic():
        held = batches.lock_open(batch)
        newest = held.runs.filter(submission=submission).order_by("-pk").first()
        if newest is None or newest.state != ScoringRun.State.FAILED:
            raise BatchRunNotFailed
        excluded = batches.excluded_of(held) | {str(submission.pk): reason.strip()[:REASON_CHARS]}
        held.selection = held.selection | {"excluded": excluded}
        held.save(update_fields=["selection"])
        after = {"submission": str(submission.public_id), "reason": reason}
        audit.record(actor=actor, action="rescoring.exclude", obj=held, after=after)


def apply_batch(
    *,
    batch: RescoreBatch,
    actor: User,
    resets_quota: bool = False,
    grants_slots: int = 0,
    announcement: Announcement = NO_ANNOUNCEMENT,
    leaves_other_phases: bool = False,
    check: Callable[[Sequence[RescoreBatch]], None] | None = None,
    order: RescoreOrder | None = None,
    now: datetime | None = None,
) -> RescoreBatch:
    """Make every run of a ready batch the live one and its rule the rule of the track, in one transaction, and those of
    the batches that were started together with it: all or none.

    ``resets_quota`` and ``grants_slots`` apply to every team of the competition, in these phases. Uploads wait for the
    commit and are then scored by the new rule. ``check`` is called with the batches when everything is locked and
    nothing is changed; what it raises refuses the application (``leaderboard.rescore_preview.require_seen``). ``order``
    is the one that is carried out by it; any other ends.

    Raises ``BatchClosed``, ``BatchNotOrdered`` if ``order`` is over, ``BatchNeverApplies``, ``BatchNotReady`` below
    100 %, ``BatchOutdated`` if the rule was changed elsewhere meanwhile, and ``BatchHurtsOtherPhases`` unless
    ``leaves_other_phases``.
    """
    with transaction.atomic():
        apply.lock_all_teams(batch)
        held = batches.lock_open_together(batch)
        if order is not None:
            orders.require_waiting(order)
        configs = apply.checked_configs(held, leaves_other_phases=leaves_other_phases)
        if check is not None:
            check(held)
        kept = [past_boards.keep(phase=each.phase, change=past_boards.RESCORED, actor=actor) for each in held]
        switched = [apply.switch_pointers(each) for each in held]
        pairs = list(zip(held, configs, strict=True))
        corrected = [apply.switch_rule(each, config, actor, now) for each, config in pairs]
        for each, config in pairs:
            apply.requeue_by(each, config)
            apply.settle_quota(each, actor, resets_quota=resets_quota, grants_slots=grants_slots)
            each.resets_quota, each.grants_slots = resets_quota, grants_slots
        apply.announce(held, announcement, actor, [version for version in corrected if version is not None])
        for each, submissions in zip(held, switched, strict=True):
            _record_application(each, actor, submissions=len(submissions), is_ordered=order is not None)
        orders.end_with(held[0], actor=actor, carried_out=order)
        for each, entries in zip(held, kept, strict=True):
            past_boards.record(each.phase, entries)  # the last lock of all
        chain.append_scores(Submission.objects.filter(pk__in=[pk for found in switched for pk in found]).order_by("pk"))
    return _this(batch, held)


def get_batch(phase_competition_pk: int, pk: int) -> RescoreBatch:
    """A batch of the competition, with its phase, track and references. Raises ``BatchNotFound``."""
    rows = RescoreBatch.objects.filter(competition=phase_competition_pk, pk=pk)
    batch = rows.select_related("phase__track__competition", "reference_version", "created_by", "closed_by").first()
    if batch is None:
        raise BatchNotFound
    return batch


# --- steps of a start -------------------------------------------------------------------------------------------------
def _clear_unchanged_fields(batch: RescoreBatch) -> None:
    """Clear the fields that equal the current rule. Raises ``BatchReferencesUnfit`` for references of another phase."""
    version, track = batch.reference_version, batch.phase.track
    if version is not None and version.phase_id != batch.phase_id:
        raise BatchReferencesUnfit(count=version.item_count)
    if version is not None and version.is_current:
        batch.reference_version = None
    if batch.recipe:
        recipe_named(batch.recipe)
    batch.recipe = "" if batch.recipe == track.recipe else batch.recipe
    batch.profile = "" if batch.profile == scoring_config_of(batch.phase).profile else batch.profile


def _refuse_second(batch: RescoreBatch) -> None:
    standing = batches.open_batch(batch.phase) if batch.repeats == 1 else None
    if standing is not None:
        raise BatchOpenAlready(number=standing.pk)


def _require_fitting(phase: Phase, config: ScoringConfig) -> None:
    """Raise unless the recipe has every score that the track ranks by and can read the references, and, if empty
    answers are not allowed, they have no new items.
    """
    require_sound(phase.track.composite, recipe_named(config.recipe))
    require_sound_counting(phase, recipe_named(config.recipe))
    try:
        references = load_references(config.reference_version, config.recipe)
    except InvalidFile as error:
        raise BatchReferencesUnfit(count=error.total) from None
    if recipe_named(config.recipe).answer_form in reuse.FILLABLE_FORMS or config.reference_version.is_current:
        return
    current = load_references(scoring_config_of(phase).reference_version, phase.track.recipe)
    if added := reuse.unanswered(references, current):
        raise BatchReferencesUnfit(count=added)


def _require_reason(reason: str) -> None:
    if not reason.strip():
        raise BatchReasonMissing(field="reason")


# --- steps of an application ------------------------------------------------------------------------------------------
def _record_application(batch: RescoreBatch, actor: User, *, submissions: int, is_ordered: bool) -> None:
    _close(batch, State.APPLIED, actor, "resets_quota", "grants_slots")
    after = _facts(batch) | {"submissions": submissions, "is_ordered": is_ordered}
    audit.record(actor=actor, action="rescoring.apply", obj=batch, before={"state": State.READY.value}, after=after)
    letters.tell_rescored(batch)


def _this(batch: RescoreBatch, held: Sequence[RescoreBatch]) -> RescoreBatch:
    return next(each for each in held if each.pk == batch.pk)


def _close(batch: RescoreBatch, state: str, actor: User, *also: str) -> None:
    batch.state, batch.closed_by, batch.closed_at = state, actor, timezone.now()
    batch.save(update_fields=["state", "closed_by", "closed_at", *also])


def _newest(batch: RescoreBatch) -> list[ScoringRun]:
    return list(batches.newest_runs(batch).select_related("submission"))


def _facts(batch: RescoreBatch) -> dict[str, Any]:
    """The facts of a batch for the audit log."""
    names = ("reason", "selection", "reference_version_id", "recipe", "profile", "repeats", "is_from_scratch", "state")
    facts = {name: getattr(batch, name) for name in names}
    group = {} if batch.group is None else {"group": str(batch.group)}
    return facts | group | {"resets_quota": batch.resets_quota, "grants_slots": batch.grants_slots}
