"""Teams that were disqualified while a campaign runs: what is shown of them ends, what was judged stays and does not
count. It is computed where it is read, as ``teams`` knows no campaign.
"""

from __future__ import annotations

from malpan.arena.models import Campaign


def disqualified_labels(campaign: Campaign) -> frozenset[str]:
    """The labels of the systems whose team is disqualified, or whose submission was withdrawn or refunded, now."""
    raise NotImplementedError


def void_disqualified(*, campaign: Campaign) -> int:
    """Make open assignments with such a system void, in the caller's transaction; returns how many."""
    raise NotImplementedError
