"""What the pages of a campaign share: the campaign itself, its parts, how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from malpan.arena.errors import StillComputing
from malpan.arena.models import Campaign
from malpan.arena.progress import counts_of
from malpan.arena.selectors import campaign_of, is_outdated
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.web.manage.access import ManageAccess
from malpan.web.presenters.arena_manage import next_step, parts_of

T = TypeVar("T")


def or_waiting(read: Callable[[], T]) -> tuple[T | None, dict[str, Any]]:
    """What ``read`` returns, and what the page says without it: ``waiting``, the primary key of the computation under
    way (``manage/arena_waiting.html``), or ``refusal``, a text.
    """
    try:
        return read(), {"refusal": "", "waiting": None}
    except StillComputing as error:
        return None, {"refusal": "", "waiting": error.params["computation"]}
    except DomainError as error:
        return None, {"refusal": text_of(error), "waiting": None}


def campaign_context(access: ManageAccess, campaign: Campaign, current: str) -> dict[str, Any]:
    """The context of ``manage/arena_campaign_base.html``; ``current`` is the page's name in the addresses."""
    counts = counts_of([campaign])[campaign.pk]
    return access.context("manage_arena") | {
        "campaign": campaign,
        "parts": parts_of(campaign, current),
        "counts": counts,
        "step": next_step(campaign, counts, is_outdated=campaign.published_at is not None and is_outdated(campaign)),
    }


def campaign_at(access: ManageAccess, pk: int) -> Campaign:
    """The campaign at ``pk`` of the competition. Raises ``CampaignNotFound``."""
    return campaign_of(access.competition, pk)
