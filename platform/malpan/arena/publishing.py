"""Publishing the result of a closed campaign: votes file, result and standing in a snapshot, with an entry in the
chain. Publishing again, after an erratum or an exclusion, makes another snapshot; the reason is its note.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from malpan.arena.models import Campaign, CampaignResult

if TYPE_CHECKING:
    from malpan.accounts.models import User


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


def compute_result(*, campaign: Campaign) -> Computed:
    """The result of a closed campaign as it would be published now; nothing is written.

    Raises ``CampaignNotClosed``, ``NoVotes``, ``ResultNotComputable``.
    """
    raise NotImplementedError


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
    ``ResultUnchanged``, ``CampaignReasonMissing`` for a correction without a note, and as ``compute_result``.
    """
    raise NotImplementedError


def chain_payload(result: CampaignResult) -> dict[str, Any]:
    """The payload of a published result in the public chain."""
    raise NotImplementedError
