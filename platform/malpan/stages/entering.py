"""Entering the scores of a stage: append-only versions of a table, each confirmed or rejected by a second person."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.utils import timezone

from malpan.competitions.locks import lock_track
from malpan.competitions.permissions import Permission, require
from malpan.core import audit
from malpan.core.text import one_line
from malpan.stages.errors import (
    NobodyTakesPart,
    NoTableForBoard,
    ReasonMissing,
    SamePerson,
    TableChanged,
    TableDecided,
    TableUnchanged,
)
from malpan.stages.models import Stage, StageDecision, StageTable
from malpan.stages.selectors import (
    newest_table,
    participants_of,
    scores_of,
    stage_of,
    state_of,
    table_of,
    table_sha256,
    team_names,
)
from malpan.stages.tables import Difference, Participant, differences, read_table

if TYPE_CHECKING:
    from malpan.accounts.models import User

REASON_MAX: Final = 300


def teams_to_score(stage: Stage) -> list[Participant]:
    """The teams whose scores are entered. Raises ``NoTableForBoard``, ``StageNotOpen`` and ``NobodyTakesPart``."""
    if stage.source != Stage.Source.TABLE:
        raise NoTableForBoard
    participants = participants_of(stage)
    if not participants:
        raise NobodyTakesPart
    return participants


def read_for(stage: Stage, text: str) -> dict[int, float]:
    """The scores in ``text`` for ``stage``, by number of the team; nothing is stored.

    Raises as ``teams_to_score``, and ``TableInvalid`` with every located error.
    """
    return read_table(text, teams_to_score(stage), (stage.scale_min, stage.scale_max))


def preview_table(stage: Stage, text: str) -> list[Difference]:
    """What ``text`` would change in the scores of ``stage``, by number of the team; nothing is stored. Raises as
    ``read_for``.
    """
    before, after = scores_of(newest_table(stage)), read_for(stage, text)
    return differences(before, after, team_names(stage.track.competition, {*before, *after}))


def enter_table(
    *, stage: Stage, text: str, actor: User, based_on: int, reason: str = "", now: datetime | None = None
) -> StageTable:
    """Store a new version of the scores of ``stage``, which waits for a second person.

    ``based_on`` is the number of the version that the person saw, 0 without one. A correction of earlier scores needs a
    ``reason``. Also after the stage was published: then the new version shows when it is published again.
    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``TableChanged``, ``ReasonMissing``,
    ``TableUnchanged``, and as ``read_for``.
    """
    require(actor, stage.track.competition, Permission.MANAGE)
    with transaction.atomic():
        lock_track(stage.track_id)
        fresh = stage_of(stage.track.competition, stage.pk)
        scores, last = read_for(fresh, text), newest_table(fresh)
        if based_on != (last.number if last else 0):
            raise TableChanged
        why = _reason(reason, is_needed=last is not None)
        rows = [{"team_number": number, "score": scores[number]} for number in sorted(scores)]
        sha256 = table_sha256(fresh, rows)
        if last is not None and last.sha256 == sha256 and state_of(last) != "rejected":
            raise TableUnchanged
        table = StageTable.objects.create(
            stage=fresh,
            number=last.number + 1 if last else 1,
            rows=rows,
            sha256=sha256,
            reason=why,
            entered_by=actor,
            created_at=now or timezone.now(),
        )
        changed = sum(each.is_changed for each in differences(scores_of(last), scores, {}))
        facts = {"number": table.number, "rows": len(rows), "changed_rows": changed, "sha256": sha256, "reason": why}
        audit.record(actor=actor, action="stage.enter_table", obj=fresh, after=facts)
    return table


def confirm_table(*, stage: Stage, number: int, sha256: str, actor: User, now: datetime | None = None) -> StageDecision:
    """Confirm version ``number`` of the scores as a second person; the stage can then be published.

    ``sha256`` is that of the table that the person saw, with the rule of the stage. Raises ``ManageNotFound`` and
    ``NotAllowed`` without the permission to manage, ``TableMissing``, ``TableChanged`` if a newer version is there or
    the rule is another one, ``SamePerson`` for who entered it, ``TableDecided``.
    """
    return _decide(stage, number, sha256, actor, StageDecision.Verdict.CONFIRMED, "", now)


def reject_table(
    *, stage: Stage, number: int, sha256: str, reason: str, actor: User, now: datetime | None = None
) -> StageDecision:
    """Reject version ``number`` with a ``reason``, as a second person. Raises ``ReasonMissing``, and as
    ``confirm_table``; but the rule may be another one by now.
    """
    return _decide(stage, number, sha256, actor, StageDecision.Verdict.REJECTED, _reason(reason), now)


def _decide(
    stage: Stage, number: int, sha256: str, actor: User, verdict: str, reason: str, now: datetime | None
) -> StageDecision:
    require(actor, stage.track.competition, Permission.MANAGE)
    with transaction.atomic():
        lock_track(stage.track_id)
        fresh = stage_of(stage.track.competition, stage.pk)
        table = table_of(fresh, number)
        if table.entered_by_id == actor.pk:
            raise SamePerson
        if state_of(table) != "pending":
            raise TableDecided
        is_confirmed = verdict == StageDecision.Verdict.CONFIRMED
        if table.sha256 != sha256 or (is_confirmed and table_sha256(fresh, table.rows) != sha256):
            raise TableChanged
        decision = StageDecision.objects.create(
            table=table, verdict=verdict, reason=reason, decided_by=actor, created_at=now or timezone.now()
        )
        action = "stage.confirm_table" if is_confirmed else "stage.reject_table"
        facts = {"number": number, "sha256": sha256, "reason": reason}
        audit.record(actor=actor, action=action, obj=fresh, after=facts)
    return decision


def _reason(text: str, *, is_needed: bool = True) -> str:
    reason = one_line(text)
    if len(reason) > REASON_MAX or (is_needed and not reason):
        raise ReasonMissing(limit=REASON_MAX)
    return reason
