"""How many judgements a campaign needs: panels like the planned one, simulated by a worker."""

from __future__ import annotations

import json
from typing import Any, Final

from malpan.arena.computations import Kind, Question, answer_to
from malpan.competitions.models import Competition
from scoring.signature import canonical_json

REPETITIONS: Final = 3
STEPS: Final = (0.5, 1, 2)  # times the number of judgements that was asked for
VOTES_LEAST: Final = 20  # of a judge


def plan_panel(
    *, competition: Competition, votes: int, judges: int, tie_percent: int, **values: Any
) -> list[dict[str, Any]]:
    """A row (``scoring.arena.planner.Width``) for half of, for all of and for twice ``votes`` of each judge; none for
    half where that would be fewer than anybody plans with.

    ``values``: further arguments of ``plan_widths``. Raises ``StillComputing``, ``ComputationFailed``.
    """
    numbers = sorted({max(VOTES_LEAST, round(votes * step)) for step in STEPS})
    asked = values | {"judges": judges, "tie_rate": tie_percent / 100, "votes_per_judge": numbers}
    given = canonical_json(asked | {"repetitions": REPETITIONS})
    cost = judges * sum(numbers) * REPETITIONS
    rows: list[dict[str, Any]] = json.loads(answer_to(Question(competition, Kind.PLAN, given, cost=cost)))["rows"]
    return rows
