"""What a phase is scored with.

An upload has a shared lock on its phase, from before its run is queued until it commits; starting, applying and
cancelling a rescoring batch lock it exclusively. So a submission either exists when a batch selects, or sees the open
batch and gets a second run; and none is queued with a rule that is just being replaced. The order of all locks:
``core.locks``.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from malpan.competitions.models import Phase, ReferenceVersion
from malpan.competitions.selectors import current_reference
from malpan.submissions.models import RescoreBatch


@dataclass(frozen=True, slots=True)
class ScoringConfig:
    """The references, recipe and models that submissions are scored with."""

    reference_version: ReferenceVersion
    recipe: str
    profile: str


def scoring_config_of(phase: Phase, batch: RescoreBatch | None = None) -> ScoringConfig:
    """The current configuration of ``phase``, or that of ``batch``. Raises ``ReferencesNotPublished``."""
    track = phase.track
    version = batch.reference_version if batch else None
    return ScoringConfig(
        version or current_reference(phase),
        (batch.recipe if batch else "") or track.recipe,
        (batch.profile if batch else "") or track.profile or settings.SCORING_PROFILE,
    )
