"""Opening a campaign: what is shown is frozen and blinded, the design is drawn from the committed seed, and every judge
has a queue; in one transaction, with an entry in the chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from malpan.arena.models import Campaign

if TYPE_CHECKING:
    from malpan.accounts.models import User


@dataclass(frozen=True, slots=True)
class DesignPreview:
    """What opening now would give. ``balance``: the figures of ``scoring.arena.design.balance``."""

    systems: int
    items: int
    judges: int
    assignments: int
    per_judge_least: int
    per_judge_most: int
    balance: Any


def preview_design(*, campaign: Campaign) -> DesignPreview:
    """The design that opening now would give; nothing is written. Raises as ``open_campaign``."""
    raise NotImplementedError


def open_campaign(*, campaign: Campaign, actor: User, now: datetime | None = None) -> Campaign:
    """Freeze items and outputs, bar judges, make every queue, and open. Opening an open campaign changes nothing.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignNotOpen`` for one that is
    closed, ``TooFewSystems``, ``SystemUnfit``, ``NoJudges``, ``DesignRefused``, ``ControlRefused``, and as
    ``sampling.sample_items``.
    """
    raise NotImplementedError
