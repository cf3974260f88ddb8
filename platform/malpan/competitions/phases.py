"""The settings of a phase, and the split of its references into public and private items."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from malpan.competitions import splitting
from malpan.competitions.composites import require_sound_counting
from malpan.competitions.errors import PhaseAlreadyPublished, PhaseNotRunning, PhaseSettingsInvalid, SplitInvalid
from malpan.competitions.locks import lock_phase
from malpan.competitions.models import Phase
from malpan.core import audit
from scoring.records import Items

if TYPE_CHECKING:
    from malpan.accounts.models import User

SETTINGS: Final = (
    "title_ko",
    "title_en",
    "starts_at",
    "ends_at",
    "daily_limit",
    "total_limit",
    "min_interval",
    "board",
    "frozen_at",
    "shows_own_score",
    "public_percent",
    "private_covers_all",
    "finals_limit",
    "counting",
    "counting_score",
    "score_step",
    "is_ladder",
    "ties",
    "item_scores",
    "position",
)
SPLIT_SETTINGS: Final = frozenset({"public_percent", "private_covers_all"})
COUNTING_SETTINGS: Final = frozenset({"finals_limit", "counting", "counting_score"})
SEED_BYTES: Final = 16


def update_phase(
    *, phase: Phase, actor: User | None, now: datetime | None = None, action: str = "phase.update", **settings: Any
) -> Phase:
    """Change any of ``SETTINGS``. A board frozen without a moment is frozen now; other boards have no such moment.

    Pages must call ``submissions.scoring_changes``, which keeps the board before what ranks is changed. The split of
    scored submissions does not change until a new reference version is published.
    Raises ``PhaseSettingsInvalid`` with the invalid fields, ``CountingInvalid``, ``PhaseAlreadyPublished`` if the final
    board is published and the split, what counts or the end would change, and ``TypeError`` for an unknown setting.
    """
    if foreign := settings.keys() - set(SETTINGS):
        raise TypeError(f"not settings of a phase: {sorted(foreign)}")
    with transaction.atomic():
        locked = lock_phase(phase.pk)
        before = audit.snapshot(locked)
        for name, value in settings.items():
            setattr(locked, name, value)
        _set_moment_of_freezing(locked, now or timezone.now())
        was, then = audit.changed(before, audit.snapshot(locked))
        if locked.final_published_at and then.keys() & {*SPLIT_SETTINGS, *COUNTING_SETTINGS, "ends_at"}:
            raise PhaseAlreadyPublished
        _check(locked)
        if then.keys() & {*COUNTING_SETTINGS, "is_ladder"}:
            require_sound_counting(locked)
        if then:
            locked.save(update_fields=list(then))
            audit.record(actor=actor, action=action, obj=locked, before=was, after=then)
    return locked


def set_board(*, phase: Phase, board: str, actor: User | None, now: datetime | None = None) -> Phase:
    """Show, freeze or hide the board of ``phase``. Freezing twice keeps the first moment."""
    return update_phase(phase=phase, actor=actor, now=now, action="phase.set_board", board=board)


def close_phase(*, phase: Phase, actor: User | None, now: datetime | None = None) -> Phase:
    """End a running phase at this moment, to the second. What is queued is still scored.

    Raises ``PhaseNotRunning``, and what ``update_phase`` raises.
    """
    moment = now or timezone.now()
    with transaction.atomic():
        locked = lock_phase(phase.pk)
        if not locked.is_open(moment):
            raise PhaseNotRunning
        return update_phase(phase=locked, actor=actor, now=moment, ends_at=moment.replace(microsecond=0))


def _set_moment_of_freezing(phase: Phase, now: datetime) -> None:
    if phase.board != Phase.Board.FROZEN:
        phase.frozen_at = None
    elif phase.frozen_at is None:
        phase.frozen_at = now


def _check(phase: Phase) -> None:
    try:
        phase.full_clean(validate_unique=False)
    except ValidationError as error:
        raise PhaseSettingsInvalid(fields=sorted(error.message_dict), reasons=error.messages) from None


def public_ids_for(
    *, phase: Phase, references: Items, public_ids: Collection[str] | None = None, actor: User | None = None
) -> list[str] | None:
    """The ids of the public split of new ``references`` of ``phase``, or ``None`` if every item is public.

    ``public_ids`` sets it and replaces the phase's share; an empty collection means no split. Without it the phase's
    share is drawn by its seed, stratified by question type; a phase without a share keeps the split of its current
    version, so that uploading a corrected file never makes private items public. Call it under the phase's lock: it may
    write the seed and clear the share. Raises ``SplitInvalid`` if an id is unknown, or a split would be empty.
    """
    ids = [answer.id for answer in references.items]
    if public_ids is not None:
        split = _checked(list(dict.fromkeys(public_ids)), ids) if public_ids else None
        if phase.public_percent is not None:
            update_phase(phase=phase, actor=actor, public_percent=None)
        return split
    if phase.public_percent:
        strata = {answer.id: answer.question_type or "" for answer in references.items}
        return _checked(splitting.split_ids(ids, phase.public_percent, _seed_of(phase), strata), ids)
    current = phase.reference_versions.filter(is_current=True).first()
    if current is None or current.public_ids is None:
        return None
    known = set(ids)
    return _checked([item for item in current.public_ids if item in known], ids)


def _checked(public: list[str], ids: list[str]) -> list[str]:
    """``public`` in the order of ``ids``."""
    unknown = splitting.unknown_ids(public, ids)
    if unknown:
        raise SplitInvalid(reason="unknown", count=len(unknown), first=unknown[0][:60])
    wanted = set(public)
    if not wanted or len(wanted) == len(ids):
        raise SplitInvalid(reason="empty", count=len(wanted), first="")
    return [item for item in ids if item in wanted]


def _seed_of(phase: Phase) -> str:
    """The phase's secret seed, drawn if it has none: with a known one everybody could compute the public split."""
    if not phase.split_seed:
        phase.split_seed = secrets.token_hex(SEED_BYTES)
        Phase.objects.filter(pk=phase.pk).update(split_seed=phase.split_seed)
    return phase.split_seed
