"""Awards, as everybody sees them."""

from __future__ import annotations

from datetime import date
from typing import Any

from ninja import Schema

from malpan.stages.awarded import track_of
from malpan.stages.models import Award


class GivenAward(Schema):
    number: str | None  # 2026-3; null before the first publication
    position: int
    title: str
    prize: str
    team_number: int
    team: str
    awarded_on: date
    track: str | None  # whose final result it rests on


def given_award(award: Award) -> dict[str, Any]:
    track = track_of(award)
    return {name: getattr(award, name) for name in ("position", "title", "prize", "awarded_on")} | {
        "number": award.number or None,
        "team_number": award.team.number,
        "team": award.team.name,
        "track": track and track.slug,
    }
