"""Closing a campaign: no judgement is taken any more, judges get their published labels, the seed is revealed."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from malpan.arena.models import Campaign

if TYPE_CHECKING:
    from malpan.accounts.models import User


def close_campaign(
    *, campaign: Campaign, actor: User, accepts_open: bool = False, now: datetime | None = None
) -> Campaign:
    """Close an open campaign; open assignments become void. Closing a closed one changes nothing.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignNotBegun``, and
    ``OpenAssignmentsLeft`` unless ``accepts_open``.
    """
    raise NotImplementedError
