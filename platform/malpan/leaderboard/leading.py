"""The best score over time among the results that stand on a public board now.

Scores that a team has surpassed itself are on no board any more and are nobody else's to see: they are not told here
either, so the line may have risen earlier than it shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from malpan.competitions.models import Phase
from malpan.leaderboard import standings


@dataclass(frozen=True, slots=True)
class Lead:
    """From ``at``, when it was submitted, on ``score`` (0-1) was the best."""

    at: datetime
    score: float


def leads_of(phase: Phase, scope: str, signature_hash: str | None) -> tuple[Lead, ...]:
    """Every rise of the best score of a team, the first first. One query."""
    rows = standings.with_signature(phase, scope, signature_hash).filter(is_baseline=False)
    found: list[Lead] = []
    for at, score in rows.order_by("submitted_at", "submission").values_list("submitted_at", "final_score"):
        if not found or score > found[-1].score:
            found.append(Lead(at, score))
    return tuple(found)
