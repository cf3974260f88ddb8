"""The rule of a board, from the settings of its track and phase; composites as the database and JSON hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, cast

from malpan.competitions.composites import components_of
from malpan.competitions.models import Phase
from malpan.competitions.references import recipe_of
from malpan.leaderboard.ranking import FINAL_SCORE, Counting, Rule
from scoring.composite import Component, Composite, Part
from scoring.recipes import Recipe

_PART: Final = ("score", "weight", "value", "rank", "normalised")


def rule_of(phase: Phase, recipe: Recipe | None = None) -> Rule:
    """How ``phase`` ranks, with ``recipe`` instead of the track's if given. Reads ``phase.track``."""
    scored_by = recipe or recipe_of(phase.track)
    components = components_of(phase.track, scored_by)
    if not components:
        return Rule(tie_breaks=scored_by.tie_breaks)
    best_by = phase.counting_score or FINAL_SCORE
    return Rule(
        tie_breaks=scored_by.tie_breaks,
        components=components,
        counting=cast("Counting", phase.counting),
        best_by=best_by,
        best_is_lowest=not scored_by.higher_is_better(best_by),
    )


def composite_json(composite: Composite | None) -> dict[str, Any] | None:
    """``{value, parts: [{score, weight, value, rank, normalised}]}``, exact to the last bit."""
    if composite is None:
        return None
    return {"value": composite.value, "parts": [_part(part) for part in composite.parts]}


def _part(part: Part) -> dict[str, Any]:
    row = {name: getattr(part, name) for name in _PART}
    return row | {"value": None if part.value is None else part.value + 0.0}  # no minus zero, which jsonb does not keep


def composite_of(body: Mapping[str, Any] | None) -> Composite | None:
    """What ``composite_json`` wrote."""
    if body is None:
        return None
    return Composite(body["value"], tuple(Part(**{name: part[name] for name in _PART}) for part in body["parts"]))


def components_json(components: Sequence[Component]) -> list[dict[str, Any]]:
    return [asdict(component) | {"weight": float(component.weight)} for component in components]


def components_from(rows: Sequence[Mapping[str, Any]]) -> tuple[Component, ...]:
    """What ``components_json`` wrote."""
    return tuple(Component(row["score"], row["weight"], row["higher_is_better"]) for row in rows)
