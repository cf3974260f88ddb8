"""How many judgements a campaign needs: panels like the planned one, simulated by a worker."""

from __future__ import annotations

import json
from typing import Any, Final

from malpan.arena.computations import Kind, Question, answer_to
from malpan.arena.errors import PlanInvalid
from malpan.arena.models import Campaign
from malpan.competitions.models import Competition
from scoring.signature import canonical_json

REPETITIONS: Final = 3
STEPS: Final = (0.5, 1, 2)  # times the number of judgements that was asked for
VOTES_LEAST: Final = 20  # of a judge
VOTES_MOST: Final = 12_000  # of all judges in the longest row, so that an answer takes seconds
LIMITS: Final = {
    "systems": (2, 30),
    "group": (3, 8),
    "judges": (2, 100),
    "votes": (VOTES_LEAST, 500),
    "items": (10, 2000),
    "tie_percent": (0, 80),
}
RANGES: Final = {"spread": (0.05, 3.0), "order_effect": (-2.0, 2.0)}


def require_plannable(*, protocol: str, systems: int, group: int, judges: int, votes: int, **_others: Any) -> None:
    """Raises ``PlanInvalid`` where an answer would take too long, or more outputs are shown than there are."""
    if judges * votes * max(STEPS) > VOTES_MOST:
        raise PlanInvalid("many", "votes", limit=int(VOTES_MOST / max(STEPS)))
    if protocol == Campaign.Protocol.RANKING and group > systems:
        raise PlanInvalid("group", "group")


def plan_panel(
    *, competition: Competition, votes: int, judges: int, tie_percent: int, **values: Any
) -> list[dict[str, Any]]:
    """A row (``scoring.arena.planner.Width``) for half of, for all of and for twice ``votes`` of each judge; none for
    half where that would be fewer than anybody plans with.

    ``values``: further arguments of ``plan_widths``. Raises ``PlanInvalid``, ``StillComputing``,
    ``ComputationFailed``.
    """
    require_plannable(votes=votes, judges=judges, **values)
    numbers = sorted({max(VOTES_LEAST, round(votes * step)) for step in STEPS})
    asked = values | {"judges": judges, "tie_rate": tie_percent / 100, "votes_per_judge": numbers}
    given = canonical_json(asked | {"repetitions": REPETITIONS})
    cost = judges * sum(numbers) * REPETITIONS
    rows: list[dict[str, Any]] = json.loads(answer_to(Question(competition, Kind.PLAN, given, cost=cost)))["rows"]
    return rows
