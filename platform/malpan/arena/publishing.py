"""Publishing the result of a closed campaign: votes file, result and standing in a snapshot, with an entry in the
chain. Publishing again, after an erratum or an exclusion, makes another snapshot; the reason is its note.

The result is computed from the bytes of the votes file alone, as everybody can (``python -m scoring arena``), and by a
worker (``arena.computations``).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.utils import timezone

from malpan.arena.chain_steps import append_step
from malpan.arena.computations import answer_to
from malpan.arena.errors import (
    CampaignNotClosed,
    CampaignReasonMissing,
    ResultChanged,
    ResultUnchanged,
)
from malpan.arena.judge_names import require_nameless, require_nameless_exclusions
from malpan.arena.locks import lock_campaign
from malpan.arena.metrics import ask_metrics
from malpan.arena.models import Campaign, CampaignResult
from malpan.arena.results import question_of
from malpan.arena.selectors import newest_result
from malpan.arena.systems import systems_of
from malpan.arena.votes_file import votes_of
from malpan.competitions.permissions import Permission, require
from malpan.core import audit
from malpan.core.storage import store_private
from malpan.core.text import one_line
from scoring.signature import json_sha256

if TYPE_CHECKING:
    from malpan.accounts.models import User

NOTE_MAX: Final = 300
SHOWN: Final = ("rank", "label", "score", "low", "high", "best_rank", "worst_rank", "cluster", "votes")


@dataclass(frozen=True, slots=True)
class Computed:
    """What would be published now. ``document``: of ``result_bytes``; ``rows``: the standing, as a snapshot has it."""

    votes_bytes: bytes
    votes_sha256: str
    result_bytes: bytes
    result_sha256: str
    document: dict[str, Any]
    rows: list[dict[str, Any]]
    signature_hash: str


def computed_result(*, campaign: Campaign) -> Computed:
    """The result of a closed campaign as it would be published now. If it is not there yet, a worker is asked for it.

    Raises ``CampaignNotClosed``, ``NoVotes``, ``ResultNotComputable``, ``StillComputing``, ``ComputationFailed``.
    """
    if campaign.closed_at is None:
        raise CampaignNotClosed
    question = question_of(campaign, votes_of(campaign))
    written = answer_to(question)
    document = json.loads(written)
    return Computed(
        votes_bytes=question.given,
        votes_sha256=hashlib.sha256(question.given).hexdigest(),
        result_bytes=written,
        result_sha256=hashlib.sha256(written).hexdigest(),
        document=document,
        rows=_rows(campaign, document),
        signature_hash=document["signature_hash"],
    )


def publish_result(
    *,
    campaign: Campaign,
    actor: User,
    result_sha256: str,
    note_ko: str = "",
    note_en: str = "",
    now: datetime | None = None,
) -> CampaignResult:
    """Publish the result of a closed campaign. ``result_sha256`` is that of the result that the person saw.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``ResultChanged``,
    ``ResultUnchanged``, ``CampaignReasonMissing`` for a correction without a note, ``JudgeNamed`` for a note or the
    reason of an exclusion that says who judges, and as ``computed_result``: only the result of exactly the present
    votes is published.
    """
    require(actor, campaign.track.competition, Permission.MANAGE)
    moment = now or timezone.now()
    with transaction.atomic():
        fresh = lock_campaign(campaign.pk)
        computed = computed_result(campaign=fresh)
        last = newest_result(fresh)
        _require_news(computed, last, result_sha256, note_ko)
        require_nameless(fresh, {"note_ko": note_ko, "note_en": note_en})
        require_nameless_exclusions(fresh)
        result = _take(fresh, computed, last, actor, (note_ko, note_en), moment)
        if fresh.published_at is None:
            Campaign.objects.filter(pk=fresh.pk).update(published_at=moment)
        payload = chain_facts(result)
        audit.record(actor=actor, action="campaign.publish", obj=fresh, after={**payload, "note": result.note_ko})
        ask_metrics(result)
        append_step(fresh, "published", payload, now=moment)
    campaign.refresh_from_db(fields=["published_at"])
    return result


def chain_facts(result: CampaignResult) -> dict[str, Any]:
    """What the public chain has of a published result, besides the campaign."""
    return {
        "snapshot": result.number,
        "rows": len(result.rows),
        "rows_sha256": result.sha256,
        "votes_sha256": result.votes_sha256,
        "result_sha256": result.result_sha256,
        "signature_hash": result.signature_hash,
    }


def _rows(campaign: Campaign, document: dict[str, Any]) -> list[dict[str, Any]]:
    """The standing: the systems that count, by rank, with their submissions."""
    system_of = {row.label: row for row in systems_of(campaign)}
    return [
        {
            **{name: each[name] for name in SHOWN},
            "team": each["name"],
            "team_number": each["team_number"],
            "is_baseline": system_of[each["label"]].submission.team.is_baseline,
            "submission": str(system_of[each["label"]].submission.public_id),
        }
        for each in document["systems"]
    ]


def _require_news(computed: Computed, last: CampaignResult | None, seen_sha256: str, note: str) -> None:
    if computed.result_sha256 != seen_sha256:
        raise ResultChanged
    if last is not None and last.votes_sha256 == computed.votes_sha256:
        raise ResultUnchanged
    if len(note) > NOTE_MAX or (last is not None and not one_line(note)):
        raise CampaignReasonMissing(limit=NOTE_MAX)


def _take(
    campaign: Campaign,
    computed: Computed,
    last: CampaignResult | None,
    actor: User,
    notes: tuple[str, str],
    now: datetime,
) -> CampaignResult:
    note_ko, note_en = (one_line(note)[:NOTE_MAX] for note in notes)
    votes, result = store_private(computed.votes_bytes), store_private(computed.result_bytes)
    return CampaignResult.objects.create(
        campaign=campaign,
        number=last.number + 1 if last else 1,
        rows=computed.rows,
        sha256=json_sha256(computed.rows),
        votes_sha256=votes.sha256,
        votes_size=votes.size,
        result_sha256=result.sha256,
        result_size=result.size,
        signature_hash=computed.signature_hash,
        note_ko=note_ko,
        note_en=note_en,
        published_by=actor,
        published_at=now,
    )
