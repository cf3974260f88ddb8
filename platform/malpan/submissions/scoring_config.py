"""What a phase is scored with, and the lock on it.

An upload holds its phase shared, from before its run is queued until it commits; starting, applying and cancelling a
rescoring batch hold it alone. So a submission is either there when a batch selects, or sees the open batch and gets a
second run; and none is queued by a rule that is just being replaced.
The order of locks is: team, phase, batch, job, run, chain.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db import connection

from malpan.competitions.models import Phase, ReferenceVersion
from malpan.competitions.selectors import current_reference
from malpan.submissions.models import RescoreBatch


@dataclass(frozen=True, slots=True)
class ScoringConfig:
    """What submissions are scored with."""

    reference_version: ReferenceVersion
    recipe: str
    profile: str


def scoring_config_of(phase: Phase, batch: RescoreBatch | None = None) -> ScoringConfig:
    """What ``phase`` is scored with now, or what ``batch`` scores with. Raises ``ReferencesNotPublished``."""
    track = phase.track
    version = batch.reference_version if batch else None
    return ScoringConfig(
        version or current_reference(phase),
        (batch.recipe if batch else "") or track.recipe,
        (batch.profile if batch else "") or track.profile or settings.SCORING_PROFILE,
    )


def lock_phase_shared(phase_id: int) -> Phase:
    """Hold the phase shared until the transaction ends, and return it, with its track, as it stands now.

    Uploads do not wait for one another here; they wait for whoever changes the phase, and are waited for.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM competitions_phase WHERE id = %s FOR SHARE", [phase_id])
    return Phase.objects.select_related("track__competition").get(pk=phase_id)


def lock_phase(phase_id: int) -> Phase:
    """Hold the phase alone until the transaction ends."""
    Phase.objects.select_for_update(no_key=True).get(pk=phase_id)
    return Phase.objects.select_related("track__competition").get(pk=phase_id)
