"""Publishing a final board: a snapshot that later changes of scores do not affect."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.locks import lock_phase
from malpan.competitions.models import Phase
from malpan.competitions.permissions import Permission, require
from malpan.core import audit
from malpan.leaderboard.boards import reader_of
from malpan.leaderboard.errors import NothingToPublish, PhaseNotOver, RunsUnfinished
from malpan.leaderboard.finals import final_board, rows_to_publish
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.rules import components_json
from malpan.submissions.integrity import chain
from malpan.submissions.models import ChainEntry, ScoringRun
from scoring.signature import json_sha256

UNFINISHED = (ScoringRun.State.QUEUED, ScoringRun.State.RUNNING)


def publish_final_board(
    *, phase: Phase, actor: User, note_ko: str = "", note_en: str = "", now: datetime | None = None
) -> BoardSnapshot:
    """Publish the current final board of ``phase``, with an entry in the public chain.

    From then on the private scores are public, and the board is neither frozen nor hidden. Publishing again, such as
    after a rescoring, makes another snapshot, which replaces the previous one on the pages; ``note_ko`` says why.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``PhaseNotOver`` before the end,
    ``RunsUnfinished`` while a run of the phase is queued or running, and ``NothingToPublish``.
    """
    moment = now or timezone.now()
    competition = phase.track.competition
    require(actor, competition, Permission.MANAGE)
    with transaction.atomic():
        locked_phase = lock_phase(phase.pk)
        _require_ready(locked_phase, moment)
        snapshot = _take_snapshot(locked_phase, actor, note_ko, note_en, moment)
        if locked_phase.final_published_at is None:
            Phase.objects.filter(pk=phase.pk).update(final_published_at=moment)
        facts = {"number": snapshot.number, "sha256": snapshot.sha256, "rows": len(snapshot.rows), "note": note_ko}
        audit.record(actor=actor, action="phase.publish_final_board", obj=locked_phase, after=facts)
        chain.append(competition=competition, kind=ChainEntry.Kind.BOARD, payload=chain_payload(snapshot), now=moment)
    phase.refresh_from_db(fields=["final_published_at"])
    return snapshot


def chain_payload(snapshot: BoardSnapshot) -> dict[str, Any]:
    """The payload of a snapshot in the public chain: enough to verify the published rows and, where a composite ranks,
    to compute it from them: what it is made of, which other boards do not have. ``board`` is only in that of a kept
    public board, ``day`` in that of the end of one.
    """
    composite = {"components": snapshot.components} if snapshot.components else {}
    kind = {} if snapshot.kind == BoardSnapshot.Kind.FINAL else {"board": str(snapshot.kind)}
    if snapshot.day is not None:
        kind["day"] = snapshot.day.isoformat()
    phase = snapshot.phase
    return {
        "track": phase.track.slug,
        "phase": phase.slug,
        "snapshot": snapshot.number,
        "recipe": snapshot.recipe,
        "signature_hash": snapshot.signature_hash,
        "rows": len(snapshot.rows),
        "rows_sha256": snapshot.sha256,
        **composite,
        **kind,
    }


def unfinished_count(phase: Phase) -> int:
    """How many runs of ``phase`` are queued or running."""
    return ScoringRun.objects.filter(submission__phase=phase, state__in=UNFINISHED).count()


def _require_ready(phase: Phase, now: datetime) -> None:
    if not phase.is_over(now):
        raise PhaseNotOver(ends_at=phase.ends_at)
    if count := unfinished_count(phase):
        raise RunsUnfinished(count=count)


def _take_snapshot(phase: Phase, actor: User, note_ko: str, note_en: str, now: datetime) -> BoardSnapshot:
    found = final_board(phase)
    if not found.rows:
        raise NothingToPublish
    rows = rows_to_publish(found.rows, reader_of(phase, None, now=now))  # blind names stay blind while a phase is open
    last = phase.snapshots.filter(kind=BoardSnapshot.Kind.FINAL).order_by("-number").first()
    return BoardSnapshot.objects.create(
        phase=phase,
        number=last.number + 1 if last else 1,
        recipe=found.recipe.id,
        signature_hash=found.signature_hash,
        rows=rows,
        sha256=json_sha256(rows),
        components=components_json(found.components),
        note_ko=note_ko.strip()[:300],
        note_en=note_en.strip()[:300],
        published_by=actor,
        published_at=now,
    )
