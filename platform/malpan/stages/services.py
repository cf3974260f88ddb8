"""Setting up the stages of a track: add, change and remove them while nothing of them is published."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction

from malpan.competitions.locks import lock_track
from malpan.competitions.models import Phase, Track
from malpan.competitions.permissions import Permission, require
from malpan.core import audit
from malpan.core.text import one_line
from malpan.stages.errors import (
    FinalIsPublished,
    StageConfirmed,
    StageInUse,
    StagePublished,
    StageSettingsInvalid,
)
from malpan.stages.models import WEIGHT_MAX, Stage
from malpan.stages.selectors import newest_final, newest_snapshot, newest_table, stage_of, stages_of, state_of

if TYPE_CHECKING:
    from malpan.accounts.models import User

TEXTS: Final = ("title_ko", "title_en", "notice_ko", "notice_en", "is_announced")
RULE: Final = ("phase", "campaign", "normalisation", "scale_min", "scale_max", "weight", "cut", "tie_rule")
TITLE_MAX: Final = 120
OWN_SCALE: Final = {"scale_min": 0.0, "scale_max": 1.0}  # of scores that are not entered


def create_stage(*, track: Track, actor: User, **values: Any) -> Stage:
    """Add a stage behind those of ``track``: the first reads a final board, a later one the result of ``campaign`` or,
    without one, entered tables.

    ``values`` are those of ``TEXTS`` and ``RULE``. Raises ``ManageNotFound`` and ``NotAllowed`` without the permission
    to manage, ``FinalIsPublished``, ``StageSettingsInvalid``.
    """
    require(actor, track.competition, Permission.MANAGE)
    with transaction.atomic():
        locked = lock_track(track.pk)
        if newest_final(locked) is not None:
            raise FinalIsPublished
        position = len(stages_of(locked)) + 1
        stage = Stage(track=track, position=position)
        _set(stage, values)
        stage.save()
        audit.record(actor=actor, action="stage.create", obj=stage, after=audit.snapshot(stage))
    return stage


def update_stage(*, stage: Stage, actor: User, **values: Any) -> Stage:
    """Change a stage that is not published; the columns of ``RULE`` only while no table of it is confirmed.

    Raises as ``create_stage``, and ``StagePublished`` or ``StageConfirmed``.
    """
    require(actor, stage.track.competition, Permission.MANAGE)
    with transaction.atomic():
        lock_track(stage.track_id)
        fresh = stage_of(stage.track.competition, stage.pk)
        before = audit.snapshot(fresh)
        _set(fresh, values)
        before, after = audit.changed(before, audit.snapshot(fresh))
        if not after:
            return fresh
        if newest_snapshot(fresh) is not None:
            raise StagePublished
        if set(after) - set(TEXTS) and state_of(newest_table(fresh)) == "confirmed":
            raise StageConfirmed
        fresh.save()
        audit.record(actor=actor, action="stage.update", obj=fresh, before=before, after=after)
    return fresh


def remove_stage(*, stage: Stage, actor: User) -> None:
    """Delete the last stage of a track, without tables and results. Raises ``StageInUse`` and as ``create_stage``."""
    require(actor, stage.track.competition, Permission.MANAGE)
    with transaction.atomic():
        locked = lock_track(stage.track_id)
        is_last = stages_of(locked)[-1:] == [stage]
        if not is_last or newest_table(stage) is not None or newest_snapshot(stage) is not None:
            raise StageInUse
        audit.record(actor=actor, action="stage.remove", obj=stage, before=audit.snapshot(stage))
        stage.delete()


def _source(stage: Stage) -> str:
    if stage.is_first:
        return Stage.Source.BOARD
    return Stage.Source.TABLE if stage.campaign_id is None else Stage.Source.CAMPAIGN


def _set(stage: Stage, values: dict[str, Any]) -> None:
    """Write ``values`` to the row and check them. A board and a campaign have the scale of their scores, 0 to 1.

    What is given and does not fit the kind of the stage is refused, never dropped.
    """
    for name, value in values.items():
        if name not in (*TEXTS, *RULE):
            raise TypeError(f"a stage has no setting {name}")
        setattr(stage, name, one_line(value) if name.startswith("title") else value)
    if stage.is_first and stage.campaign is not None:
        raise StageSettingsInvalid("campaign_first", "campaign")
    if not stage.is_first and stage.phase is not None:
        raise StageSettingsInvalid("phase_later", "phase")
    stage.source = _source(stage)
    if stage.source != Stage.Source.TABLE:
        _set_own_scale(stage, values)
    _check(stage)


def _set_own_scale(stage: Stage, values: dict[str, Any]) -> None:
    """The scale that the scores of a board or a campaign have. Raises ``StageSettingsInvalid`` for another one."""
    for name, bound in OWN_SCALE.items():
        if values.get(name, bound) != bound:
            raise StageSettingsInvalid("scale_fixed", name)
        setattr(stage, name, bound)


def _check(stage: Stage) -> None:
    if not stage.title_ko or max(len(stage.title_ko), len(stage.title_en)) > TITLE_MAX:
        raise StageSettingsInvalid("title", "title_ko")
    if stage.is_first and not _is_phase_of(stage):
        raise StageSettingsInvalid("phase", "phase")
    if stage.campaign is not None and stage.campaign.track_id != stage.track_id:
        raise StageSettingsInvalid("campaign", "campaign")
    if stage.campaign is not None and stage.pk and newest_table(stage) is not None:
        raise StageSettingsInvalid("campaign_table", "campaign")
    scale = (stage.scale_min, stage.scale_max)
    if not scale[0] < scale[1] or not math.isfinite(scale[1] - scale[0]):
        raise StageSettingsInvalid("scale", "scale_max")
    if not 0 <= stage.weight <= WEIGHT_MAX:
        raise StageSettingsInvalid("weight", "weight")
    if stage.cut is not None and not 1 <= stage.cut <= 32767:
        raise StageSettingsInvalid("cut", "cut")
    stage.clean_fields()


def _is_phase_of(stage: Stage) -> bool:
    return stage.phase_id is not None and Phase.objects.filter(pk=stage.phase_id, track=stage.track_id).exists()
