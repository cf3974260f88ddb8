"""Rescoring batches: many submissions are scored again without changing the live board, then applied all at once.

running → applied | cancelled. Participants see nothing of a batch until it is applied: its runs have ``batch`` set, and
the live runs do not change. ``apply_batch`` switches every live run, the track's recipe and models, the current
references, quotas and the notice in one transaction that locks the phase; a reader sees the board before it or after
it. New submissions during a batch are in ``alongside``.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.composites import require_sound, require_sound_counting
from malpan.competitions.locks import lock_phase
from malpan.competitions.models import Phase, ReferenceVersion
from malpan.competitions.references import load_references, recipe_named
from malpan.core import audit
from malpan.submissions import past_boards
from malpan.submissions.evaluation import reuse, runs
from malpan.submissions.integrity import chain
from malpan.submissions.models import RescoreBatch, RescoreOrder, ScoringRun, Submission
from malpan.submissions.rescoring import apply, batches, letters, orders
from malpan.submissions.rescoring.apply import NO_ANNOUNCEMENT, Announcement
from malpan.submissions.rescoring.batches import Selection
from malpan.submissions.rescoring.errors import (
    BatchNotFound,
    BatchOpenAlready,
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
    reference_version: ReferenceVersion | None = None,
    recipe: str = "",
    profile: str = "",
    repeats: int = 1,
) -> RescoreBatch:
    """Queue a run for every submission of ``phase`` that matches; the board does not change.

    Empty arguments change nothing. ``repeats`` > 1 scores each that many times, from scratch, to show numeric noise.
    Matching submissions uploaded from now on are scored by both rules.

    Raises ``BatchReasonMissing``, ``UnknownTrackRecipe``, ``BatchOpenAlready``, ``BatchSelectsNothing``,
    ``BatchReferencesUnfit``, ``ReferencesNotPublished``, and ``CompositeInvalid`` if the new recipe lacks a score that
    the track ranks by.
    """
    _require_reason(reason)
    with transaction.atomic():
        held = lock_phase(phase.pk)
        batch = RescoreBatch(
            competition=held.track.competition,
            phase=held,
            reason=reason.strip()[:REASON_CHARS],
            selection=selection.as_json(),
            reference_version=reference_version,
            recipe=recipe,
            profile=profile,
            repeats=repeats,
            created_by=actor,
        )
        _clear_unchanged_fields(batch)
        _refuse_second(batch)
        config = scoring_config_of(held, batch)
        _require_fitting(held, config)
        selected = list(selection.submissions_of(held).order_by("pk"))
        if not selected:
            raise BatchSelectsNothing
        batch.save()
        runs.queue_runs([each for each in selected for _time in range(repeats)], config, batch=batch)
        audit.record(
            actor=actor, action="rescoring.start", obj=batch, after=_facts(batch) | {"submissions": len(selected)}
        )
    return batch


def cancel_batch(*, batch: RescoreBatch, actor: User) -> RescoreBatch:
    """End an open batch without any change of a board. Its unfinished runs are dropped.

    Raises ``BatchClosed``.
    """
    with transaction.atomic():
        held = batches.lock_open(batch)
        before = {"state": held.state}
        _close(held, State.CANCELLED, actor)
        orders.end_with(held, actor=actor)
        unfinished = list(held.runs.filter(state__in=runs.UNFINISHED))
        dropped = len(runs.drop_runs(unfinished, error_code=RescoringCancelled.code))
        audit.record(
            actor=actor,
            action="rescoring.cancel",
            obj=held,
            before=before,
            after={"state": held.state, "dropped_runs": dropped},
        )
    return held


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
    check: Callable[[RescoreBatch], None] | None = None,
    order: RescoreOrder | None = None,
    now: datetime | None = None,
) -> RescoreBatch:
    """Make every run of a ready batch the live one and its rule the rule of the track, in one transaction.

    ``resets_quota`` and ``grants_slots`` apply to every team of the competition, in this phase. Uploads wait for the
    commit and are then scored by the new rule. ``check`` is called with the batch when everything is locked and nothing
    is changed; what it raises refuses the application (``leaderboard.rescore_preview.require_seen``). ``order`` is the
    one that is carried out by it; any other ends.

    Raises ``BatchClosed``, ``BatchNotOrdered`` if ``order`` is over, ``BatchNeverApplies``, ``BatchNotReady`` below
    100 %, ``BatchOutdated`` if the rule was changed elsewhere meanwhile, and ``BatchHurtsOtherPhases`` unless
    ``leaves_other_phases``.
    """
    with transaction.atomic():
        apply.lock_all_teams(batch)
        held = batches.lock_open(batch)
        if order is not None:
            orders.require_waiting(order)
        apply.require_applicable(held)
        config = scoring_config_of(held.phase, held)
        apply.refuse_outdated(held, config)
        if not leaves_other_phases:
            apply.refuse_other_phases(held)
        if check is not None:
            check(held)
        kept = past_boards.keep(phase=held.phase, change=past_boards.RESCORED, actor=actor)
        switched = apply.switch_pointers(held)
        corrected = apply.switch_rule(held, config, actor, now)
        apply.requeue_by(held, config)
        apply.settle_quota(held, actor, resets_quota=resets_quota, grants_slots=grants_slots)
        held.resets_quota, held.grants_slots = resets_quota, grants_slots
        apply.announce(held, announcement, actor, corrected)
        _close(held, State.APPLIED, actor, "resets_quota", "grants_slots")
        audit.record(
            actor=actor,
            action="rescoring.apply",
            obj=held,
            before={"state": State.READY.value},
            after=_facts(held) | {"submissions": len(switched), "is_ordered": order is not None},
        )
        orders.end_with(held, actor=actor, carried_out=order)
        letters.tell_rescored(held)
        past_boards.record(held.phase, kept)  # the last lock of all
        chain.append_scores(Submission.objects.filter(pk__in=switched).order_by("pk"))
    return held


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
def _close(batch: RescoreBatch, state: str, actor: User, *also: str) -> None:
    batch.state, batch.closed_by, batch.closed_at = state, actor, timezone.now()
    batch.save(update_fields=["state", "closed_by", "closed_at", *also])


def _newest(batch: RescoreBatch) -> list[ScoringRun]:
    return list(batches.newest_runs(batch).select_related("submission"))


def _facts(batch: RescoreBatch) -> dict[str, Any]:
    """The facts of a batch for the audit log."""
    names = ("reason", "selection", "reference_version_id", "recipe", "profile", "repeats", "state")
    facts = {name: getattr(batch, name) for name in names}
    return facts | {"resets_quota": batch.resets_quota, "grants_slots": batch.grants_slots}
