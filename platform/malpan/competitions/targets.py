"""The baseline and the milestones of a track: read, set by its organiser, filled with published figures on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from django.db import transaction

from malpan.competitions.errors import TargetsInvalid
from malpan.competitions.models import Track, TrackTarget
from malpan.competitions.references import recipe_of
from malpan.core import audit
from malpan.core.database.prepared import Prepared
from malpan.core.locks import Level, lock_rows
from scoring.recipes.targets import FINAL_SCORE, LARGEST, Target, TargetKind, published_targets

if TYPE_CHECKING:
    from malpan.accounts.models import User

TARGETS_MAX: Final = 10
_TARGETS: Final = Prepared(lambda track: TrackTarget.objects.filter(track=track), int)


def targets_of(track: Track) -> list[Target]:
    """The baseline and the milestones of ``track``, the lowest first. One query."""
    return [_target(row) for row in _TARGETS(track.pk)]


def board_targets_of(track: Track) -> list[Target]:
    """Those of the final score: the lines on the board. One query."""
    return [target for target in targets_of(track) if target.score == FINAL_SCORE]


def set_targets(*, track: Track, targets: Sequence[Target], actor: User | None) -> None:
    """Replace the targets of ``track``, also while submissions are scored: they change no score.

    Raises ``TargetsInvalid``, and ``ValidationError`` for a text that is too long.
    """
    _check(track, targets)
    with transaction.atomic():
        locked = lock_rows(Track.objects.filter(pk=track.pk), Level.TRACK).get()
        before = targets_of(locked)
        after = sorted(targets, key=lambda target: target.value)
        if before == after:
            return
        rows = [TrackTarget(track=locked, **asdict(target)) for target in after]
        for row in rows:
            row.clean_fields()
        TrackTarget.objects.filter(track=locked).delete()
        TrackTarget.objects.bulk_create(rows)
        facts = [{"targets": [asdict(target) for target in listed]} for listed in (before, after)]
        audit.record(actor=actor, action="track.set_targets", obj=locked, before=facts[0], after=facts[1])


def add_published_targets(*, track: Track, actor: User | None, score: str = FINAL_SCORE) -> None:
    """Add the figures known for ``score`` in a task like that of ``track``, without those that it has.

    Raises ``TargetsInvalid`` if another baseline is set.
    """
    with transaction.atomic():
        locked = lock_rows(Track.objects.filter(pk=track.pk), Level.TRACK).get()
        own = targets_of(locked)
        known = {(target.score, target.kind, target.value) for target in own}
        published = published_targets(recipe_of(locked), score)
        new = [target for target in published if (target.score, target.kind, target.value) not in known]
        set_targets(track=locked, targets=[*own, *new], actor=actor)


def _check(track: Track, targets: Sequence[Target]) -> None:
    known = {column.key for column in recipe_of(track).columns}
    baselines = [target for target in targets if target.kind == TrackTarget.Kind.BASELINE]
    if len(targets) > TARGETS_MAX:
        raise TargetsInvalid(reason="count", limit=TARGETS_MAX)
    if not all(0 <= target.value <= (1 if target.score == FINAL_SCORE else LARGEST) for target in targets):  # nor NaN
        raise TargetsInvalid(reason="value", limit=TARGETS_MAX)
    if any(target.score not in known for target in targets) or any(b.score != FINAL_SCORE for b in baselines):
        raise TargetsInvalid(reason="score", limit=TARGETS_MAX)
    if not all(target.label_ko.strip() for target in targets):
        raise TargetsInvalid(reason="label", limit=TARGETS_MAX)
    if len(baselines) > 1:
        raise TargetsInvalid(reason="baselines", limit=TARGETS_MAX)
    if any(target.value == 0 for target in baselines):
        raise TargetsInvalid(reason="zero", limit=TARGETS_MAX)


def _target(row: TrackTarget) -> Target:
    kind: TargetKind = "baseline" if row.kind == TrackTarget.Kind.BASELINE else "milestone"
    return Target(
        kind=kind,
        value=row.value,
        label_ko=row.label_ko,
        label_en=row.label_en,
        is_comparable=row.is_comparable,
        note_ko=row.note_ko,
        note_en=row.note_en,
        score=row.score,
    )
