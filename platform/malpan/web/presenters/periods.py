"""From when to when a competition takes submissions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from malpan.competitions.models import Track


@dataclass(frozen=True, slots=True)
class Period:
    """From the first start to the last end of all phases, and whether that is now, past or to come."""

    starts_at: datetime | None
    ends_at: datetime | None
    state: str  # running | upcoming | past


def period_of(tracks: Sequence[Track], now: datetime) -> Period:
    """The period over all phases of ``tracks``; upcoming if there is none."""
    phases = [phase for track in tracks for phase in track.phases.all()]
    if not phases:
        return Period(None, None, "upcoming")
    starts_at, ends_at = min(phase.starts_at for phase in phases), max(phase.ends_at for phase in phases)
    state = "upcoming" if now < starts_at else "running" if now < ends_at else "past"
    return Period(starts_at, ends_at, state)
