"""What the page of a result says beyond its scores: how sure they are, and how they are by kinds of items."""

from __future__ import annotations

from typing import Any

from ninja import Schema

from malpan.core.language import reader_language
from malpan.leaderboard.sureness.results import Ends, shown_intervals
from malpan.submissions import breakdown
from malpan.submissions.models import ScoringRun
from malpan.submissions.visibility import ShownRun
from scoring.recipes import get_recipe
from scoring.recipes.targets import FINAL_SCORE

Intervals = dict[str, tuple[float, float]]  # by score: the ends of its 95 % interval


class BrokenMetric(Schema):
    key: str
    label: str


class KindOfItems(Schema):
    """``means`` (0-1) by metric, of those that some item has a value of."""

    name: str  # empty: the kinds with few items, taken together
    count: int
    means: dict[str, float]


class Breakdown(Schema):
    dimension: str  # type, category, domain or length (of the question, in characters)
    metrics: list[BrokenMetric]
    groups: list[KindOfItems]


def intervals(run: ShownRun) -> tuple[Intervals, Intervals]:
    """Those of the public and of the private scores that ``run`` has; empty where they are not known."""
    found = shown_intervals(run)
    public = _of_these(found.get(False, {}), {*run.scores, FINAL_SCORE})
    return public, _of_these(found.get(True, {}), {*run.hidden.scores, FINAL_SCORE} if run.hidden else set())


def _of_these(ends: Ends, names: set[str]) -> Intervals:
    return {name: each for name, each in ends.items() if name in names}


def breakdowns(run: ScoringRun | None, shown: ShownRun) -> list[dict[str, Any]]:
    """The public scores that ``shown`` has of ``run``, by kinds of items."""
    return [_breakdown(each, shown.recipe) for each in breakdown.shown_breakdowns(run, shown)]


def _breakdown(found: breakdown.Breakdown, recipe_id: str) -> dict[str, Any]:
    recipe, language = get_recipe(recipe_id), reader_language()
    return {
        "dimension": found.dimension,
        "metrics": [{"key": name, "label": recipe.metric_label(name, language)} for name in found.metrics],
        "groups": [
            {
                "name": group.name,
                "count": group.count,
                "means": {
                    name: mean for name, mean in zip(found.metrics, group.means, strict=True) if mean is not None
                },
            }
            for group in found.groups
        ],
    }
