"""Leaving out a judge or a judgement, with a reason and a preview of what it changes; and taking that back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from malpan.arena.models import Campaign, CampaignJudge, Exclusion, Judgement

if TYPE_CHECKING:
    from malpan.accounts.models import User


@dataclass(frozen=True, slots=True)
class Effect:
    """What an exclusion would change. ``moved``: the label of each system whose rank changes, with both ranks; empty
    without the scores opened.
    """

    votes_before: int
    votes_after: int
    ranks_changed: int
    largest_score_change: float
    moved: tuple[tuple[str, int, int], ...]


def preview_exclusion(
    *, campaign: Campaign, actor: User, judge: CampaignJudge | None = None, judgement: Judgement | None = None
) -> Effect:
    """What leaving out ``judge`` or ``judgement`` changes in the result; nothing is written.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignNotBegun``, ``NoVotes``.
    """
    raise NotImplementedError


def exclude(
    *,
    campaign: Campaign,
    actor: User,
    reason: str,
    judge: CampaignJudge | None = None,
    judgement: Judgement | None = None,
    now: datetime | None = None,
) -> Exclusion:
    """Leave out a judge or a judgement, also after the publication (then the result is published again).

    Raises as ``preview_exclusion``, ``CampaignReasonMissing``, ``ExclusionInForce``, ``JudgeNotFound``.
    """
    raise NotImplementedError


def lift_exclusion(*, exclusion: Exclusion, actor: User, reason: str, now: datetime | None = None) -> Exclusion:
    """Take an exclusion back. Raises as ``exclude``, and ``ExclusionLifted``."""
    raise NotImplementedError
