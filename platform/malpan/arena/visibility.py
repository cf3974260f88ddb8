"""Who may know what of a campaign: the public knows of it from its opening, and its result from the publication."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import AnonymousUser

from malpan.arena.models import Campaign, CampaignJudge

if TYPE_CHECKING:
    from malpan.accounts.models import User


def is_announced(campaign: Campaign) -> bool:
    """Whether the public may know that there is this campaign: from its opening."""
    return campaign.opened_at is not None


def is_published(campaign: Campaign) -> bool:
    """Whether the result is public."""
    return campaign.published_at is not None


def may_judge(user: User | AnonymousUser, campaign: Campaign) -> bool:
    """Whether ``user`` is a judge of ``campaign`` who was not removed."""
    if not user.is_authenticated or not user.is_active:
        return False
    rows = CampaignJudge.objects.filter(campaign=campaign, user=user, accepted_at__isnull=False, removed_at=None)
    return rows.exists()
