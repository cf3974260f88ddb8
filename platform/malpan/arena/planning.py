"""How many judgements a campaign needs: panels like the planned one, simulated by a worker."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
RANGES: Final = {"spread": (0.05, 3.0), "order_effect": (-2.0, 2.0), "half_width": (0.01, 5.0)}


def require_plannable(*, protocol: str, systems: int, group: int, judges: int, votes: int, **_others: Any) -> None:
    """Raises ``PlanInvalid`` where an answer would take too long, or more outputs are shown than there are."""
    if judges * votes * max(STEPS) > VOTES_MOST:
        raise PlanInvalid("many", "votes", limit=int(VOTES_MOST / max(STEPS)))
    if protocol == Campaign.Protocol.RANKING and group > systems:
        raise PlanInvalid("group", "group")


@dataclass(frozen=True, slots=True)
class Need:
    """So many judgements in all, ``votes_per_judge`` of each, have intervals as narrow as was wished for; ``is_bound``:
    fewer may be enough, as these are the fewest that were computed.
    """

    judgements: int
    votes_per_judge: int
    is_bound: bool


def least_judgements(rows: Sequence[Mapping[str, Any]], half_width: float) -> Need | None:
    """The fewest judgements within ``rows`` (of ``plan_panel``) with intervals of ± ``half_width``: between two rows as
    1/√n goes. ``None`` if the widest plan does not reach it; the first row where that is narrow enough already.
    """
    known = [row for row in rows if row["width"] is not None]
    before: Mapping[str, Any] | None = None
    for row in known:
        if row["width"] / 2 > half_width:
            before = row
        elif before is None:
            return Need(row["judgements"], row["votes_per_judge"], is_bound=True)
        else:
            judgements = _between(before, row, half_width)
            share = row["votes_per_judge"] / row["judgements"]  # with what controls and repeats take
            return Need(judgements, min(math.ceil(judgements * share), row["votes_per_judge"]), is_bound=False)
    return None


def _between(wide: Mapping[str, Any], narrow: Mapping[str, Any], half_width: float) -> int:
    """Where a width of twice ``half_width`` is between those of two rows, which are linear in 1/√n."""
    ends = [1 / math.sqrt(row["judgements"]) for row in (wide, narrow)]
    share = (wide["width"] - 2 * half_width) / (wide["width"] - narrow["width"])
    return math.ceil(round((ends[0] + share * (ends[1] - ends[0])) ** -2, 6))


def plan_panel(
    *, competition: Competition, votes: int, judges: int, tie_percent: int, **values: Any
) -> list[dict[str, Any]]:
    """A row (``scoring.arena.planner.Width``) for half of, for all of and for twice ``votes`` of each judge; half are
    ``VOTES_LEAST`` at least.

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
