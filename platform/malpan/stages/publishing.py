"""Publishing a stage and the combined standing: snapshots that later changes do not affect, each with an entry in the
public chain. Publishing again, after an erratum, makes another snapshot; the reason is its note.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.utils import timezone

from malpan.competitions.locks import lock_track
from malpan.competitions.models import Track
from malpan.competitions.permissions import Permission, require
from malpan.core import audit
from malpan.core.text import one_line
from malpan.stages.contents import Content, final_content, stage_content
from malpan.stages.errors import NothingChanged, ReasonMissing, TableChanged
from malpan.stages.models import Stage, StageSnapshot
from malpan.stages.selectors import newest_final, newest_snapshot, stage_of
from malpan.submissions.integrity import chain
from malpan.submissions.models import ChainEntry

if TYPE_CHECKING:
    from malpan.accounts.models import User

NOTE_MAX: Final = 300


def publish_stage(
    *, stage: Stage, actor: User, sha256: str, note_ko: str = "", note_en: str = "", now: datetime | None = None
) -> StageSnapshot:
    """Publish the result of ``stage`` as ``stages.contents`` has it; who goes on is fixed by it.

    ``sha256`` is that of the content that the person saw. Raises ``ManageNotFound`` and ``NotAllowed`` without the
    permission to manage, ``TableChanged`` if it is another one now, ``ReasonMissing`` for a correction without a note,
    ``NothingChanged``, and as ``stage_content``.
    """
    require(actor, stage.track.competition, Permission.MANAGE)
    moment = now or timezone.now()
    with transaction.atomic():
        lock_track(stage.track_id)
        fresh = stage_of(stage.track.competition, stage.pk)
        content, last = stage_content(fresh, moment), newest_snapshot(fresh)
        _require_news(content, last, sha256, note_ko)
        snapshot = _take(fresh.track, fresh, content, last, actor, (note_ko, note_en), moment)
        audit.record(actor=actor, action="stage.publish", obj=fresh, after=_facts(snapshot))
        _append(snapshot, moment)
    return snapshot


def publish_final(
    *, track: Track, actor: User, sha256: str, note_ko: str = "", note_en: str = "", now: datetime | None = None
) -> StageSnapshot:
    """Publish the combined standing of ``track``. Raises as ``publish_stage``, and as ``final_content``."""
    require(actor, track.competition, Permission.MANAGE)
    moment = now or timezone.now()
    with transaction.atomic():
        locked = lock_track(track.pk)
        content, last = final_content(locked, moment), newest_final(locked)
        _require_news(content, last, sha256, note_ko)
        snapshot = _take(locked, None, content, last, actor, (note_ko, note_en), moment)
        audit.record(actor=actor, action="track.publish_stages", obj=locked, after=_facts(snapshot))
        _append(snapshot, moment)
    return snapshot


def chain_payload(snapshot: StageSnapshot) -> dict[str, Any]:
    """The payload of a snapshot in the public chain; ``stage`` is ``None`` for the combined standing."""
    return {
        "track": snapshot.track.slug,
        "stage": None if snapshot.stage is None else snapshot.stage.position,
        "snapshot": snapshot.number,
        "rows": len(snapshot.rows),
        "stage_sha256": snapshot.sha256,
    }


def _require_news(content: Content, last: StageSnapshot | None, seen_sha256: str, note: str) -> None:
    if content.sha256 != seen_sha256:
        raise TableChanged
    if last is not None and last.sha256 == content.sha256:
        raise NothingChanged
    if len(note) > NOTE_MAX or (last is not None and not one_line(note)):
        raise ReasonMissing(limit=NOTE_MAX)


def _take(
    track: Track,
    stage: Stage | None,
    content: Content,
    last: StageSnapshot | None,
    actor: User,
    notes: tuple[str, str],
    now: datetime,
) -> StageSnapshot:
    note_ko, note_en = (one_line(note)[:NOTE_MAX] for note in notes)
    return StageSnapshot.objects.create(
        track=track,
        stage=stage,
        number=last.number + 1 if last else 1,
        rule=content.rule,
        rows=content.rows,
        sha256=content.sha256,
        note_ko=note_ko,
        note_en=note_en,
        published_by=actor,
        published_at=now,
    )


def _facts(snapshot: StageSnapshot) -> dict[str, Any]:
    return {
        "number": snapshot.number,
        "sha256": snapshot.sha256,
        "rows": len(snapshot.rows),
        "note": snapshot.note_ko,
    }


def _append(snapshot: StageSnapshot, now: datetime) -> None:
    competition, payload = snapshot.track.competition, chain_payload(snapshot)
    chain.append(competition=competition, kind=ChainEntry.Kind.STAGE, payload=payload, now=now)
