"""Who may know what of a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import AnonymousUser

from malpan.arena.models import Campaign

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
    raise NotImplementedError
