"""Changes of references, recipe or models outside of a rescoring batch: only while no submission counts.

These belong to ``competitions``, which does not import submissions, so every change must go through this module. If
submissions count, their scores would leave the board, so a batch is needed (``rescoring``), or the organiser's consent
(``replace_in_use``).
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import IO, Any, Final

from django.db import transaction

from malpan.accounts.models import User
from malpan.competitions import phases, services, versions
from malpan.competitions.drafts import lock_draft
from malpan.competitions.errors import CompositeInUse, PhaseAlreadyPublished, ReferencesInUse, RuleInUse
from malpan.competitions.locks import lock_phase, lock_track
from malpan.competitions.models import Phase, ReferenceVersion, Track
from malpan.competitions.room import require_room_at_last
from malpan.competitions.selectors import current_reference
from malpan.submissions import past_boards
from malpan.submissions.models import Submission

RANKING_SETTINGS: Final = frozenset({"counting", "counting_score", "score_step"})


def publish_reference_version(
    *,
    phase: Phase,
    data: bytes,
    actor: User | None,
    note: str = "",
    replace_in_use: bool = False,
    media: IO[bytes] | None = None,
    synonyms: bytes | None = None,
    public_ids: Collection[str] | None = None,
) -> ReferenceVersion:
    """Check new reference answers of ``phase``, store them privately and make them current.

    ``media`` and ``synonyms`` as for ``versions.store_file``, ``public_ids`` as for ``phases.public_ids_for``. Raises
    what these raise, and ``ReferencesInUse`` unless ``replace_in_use``: scores by the current version leave the board
    until the submissions are scored again.
    """
    file = versions.store_file(phase=phase, data=data, media=media, synonyms=synonyms)
    with transaction.atomic():
        held = lock_phase(phase.pk)
        _require_unused(held, replace_in_use)
        kept = past_boards.keep(phase=held, change=past_boards.REFERENCES, actor=actor)
        version = versions.add_version(phase=held, file=file, actor=actor, public_ids=public_ids, note=note)
        versions.make_current(version=version, actor=actor)
        past_boards.record(held, kept)
        require_room_at_last(phase.track.competition)
    return version


def split_again(
    *, phase: Phase, actor: User | None, public_ids: Collection[str] | None = None, replace_in_use: bool = False
) -> ReferenceVersion:
    """Publish the current reference file of ``phase`` as a new version with a new split.

    ``public_ids`` as for ``phases.public_ids_for``. Raises ``ReferencesNotPublished``, ``SplitInvalid``,
    ``PhaseAlreadyPublished``, and ``ReferencesInUse`` unless ``replace_in_use``.
    """
    with transaction.atomic():
        held = lock_phase(phase.pk)
        if held.final_published_at:
            raise PhaseAlreadyPublished
        current = current_reference(held)
        _require_unused(held, replace_in_use)
        kept = past_boards.keep(phase=held, change=past_boards.REFERENCES, actor=actor)
        file = versions.stored_file_of(current)
        version = versions.add_version(phase=held, file=file, actor=actor, public_ids=public_ids)
        versions.make_current(version=version, actor=actor, action="reference_version.split")
        past_boards.record(held, kept)
    return version


def publish_draft(*, version: ReferenceVersion, actor: User, now: datetime | None = None) -> ReferenceVersion:
    """Make a draft the current version of a phase in which nothing counts, and post its erratum as a notice.

    Raises ``ReferenceNotDraft``, and ``ReferencesInUse`` if submissions count: then a rescoring batch must publish it.
    """
    with transaction.atomic():
        draft = lock_draft(version)
        _require_unused(draft.phase)
        versions.make_current(version=draft, actor=actor, now=now)
    return draft


def update_track(*, track: Track, actor: User | None, **fields: Any) -> Track:
    """Change columns of ``track``. Raises what ``competitions.services.update_track`` raises.

    Also raises, if scores count, ``RuleInUse`` where another ``recipe`` or ``profile`` would remove them from the board
    (then rescoring must change it), and ``CompositeInUse`` where another ``composite`` would rank them otherwise.
    """
    with transaction.atomic():
        held = lock_track(track.pk)
        deciding = {"recipe", "profile", "composite"} & fields.keys()
        changed = {name for name in deciding if fields[name] != getattr(held, name)}
        if changed and (count := scores_that_count(track)):
            raise CompositeInUse(count=count) if changed == {"composite"} else RuleInUse(count=count)
        return services.update_track(track=held, actor=actor, **fields)


def update_phase(*, phase: Phase, actor: User | None, now: datetime | None = None, **settings: Any) -> Phase:
    """``competitions.phases.update_phase``; before it changes what ranks, the public board is kept as it is."""
    with transaction.atomic():
        held = lock_phase(phase.pk)
        is_deciding = any(settings[name] != getattr(held, name) for name in RANKING_SETTINGS & settings.keys())
        kept = past_boards.keep(phase=held, change=past_boards.SETTINGS, actor=actor) if is_deciding else []
        changed = phases.update_phase(phase=held, actor=actor, now=now, **settings)
        past_boards.record(held, kept)
    return changed


def scores_that_count(track: Track) -> int:
    """How many submissions of ``track`` have a score that counts."""
    return Submission.objects.counting().filter(phase__track=track, live_run__isnull=False).count()


def _require_unused(phase: Phase, replace_in_use: bool = False) -> None:
    """Raise ``ReferencesInUse`` if submissions of ``phase``, which must be locked, count."""
    count = 0 if replace_in_use else Submission.objects.counting().filter(phase=phase).count()
    if count:
        raise ReferencesInUse(count=count)
