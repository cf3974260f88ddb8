"""The seed of a campaign, which a site may lack: see ``Campaign``."""

from __future__ import annotations

from malpan.arena.errors import SeedMissing
from malpan.arena.models import Campaign


def require_seed(campaign: Campaign) -> None:
    """Raise ``SeedMissing`` where nothing can be drawn, or revealed."""
    if not campaign.seed:
        raise SeedMissing
