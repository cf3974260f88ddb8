"""Live quality of a running campaign: speed, agreement, controls, suspicious judges. Who leads is not shown, unless
somebody opens the scores, which is logged.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from malpan.arena.models import Campaign, CampaignJudge

if TYPE_CHECKING:
    from malpan.accounts.models import User


@dataclass(frozen=True, slots=True)
class JudgeQuality:
    """Figures of a judge. ``too_fast``: judgements in less than the campaign's minimum; ``figures``: what
    ``scoring.arena.quality`` says of them, ``None`` before there are enough votes.
    """

    judge: CampaignJudge
    done: int
    total: int
    median_seconds: float | None
    too_fast: int
    figures: Any


@dataclass(frozen=True, slots=True)
class LiveQuality:
    """Of a campaign. ``agreement``: as ``scoring.arena.agreement`` gives it, ``None`` before there are enough votes."""

    done: int
    total: int
    judges: tuple[JudgeQuality, ...]
    agreement: Any


def live_quality(campaign: Campaign) -> LiveQuality:
    """The figures as they are now, without scores of systems. Raises ``CampaignNotBegun``."""
    raise NotImplementedError


def open_scores(*, campaign: Campaign, actor: User, reason: str, now: datetime | None = None) -> None:
    """Record that ``actor`` looks at the scores before the closing. Raises ``ManageNotFound`` and ``NotAllowed``
    without the permission to manage, ``CampaignReasonMissing``, ``CampaignNotBegun``.
    """
    raise NotImplementedError


def has_opened_scores(campaign: Campaign, user: User) -> bool:
    """Whether ``user`` opened the scores, or the campaign is closed."""
    raise NotImplementedError


def current_result(*, campaign: Campaign, actor: User) -> Any:
    """The result of the judgements so far (``scoring.arena.result.ArenaResult``).

    Raises ``ScoresNotOpened``, ``NoVotes``, ``ResultNotComputable``.
    """
    raise NotImplementedError
