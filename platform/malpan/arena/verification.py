"""Whether campaigns in the database are still those that the hash chain recorded."""

from __future__ import annotations

from malpan.competitions.models import Competition
from malpan.leaderboard.verification import Finding


def verify_campaigns(competition: Competition) -> list[Finding]:
    """Every difference between the chain of ``competition`` and its campaigns: seed, design, published files."""
    raise NotImplementedError
