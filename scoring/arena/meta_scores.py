"""The scores of a campaign's systems as metrics to be evaluated: those of a recipe that have a direction. No numpy:
the web process gathers them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scoring.recipes import Recipe


@dataclass(frozen=True, slots=True)
class MetricScores:
    """What a metric gave: ``systems`` by label, ``items`` by the labels of system and item (empty for a metric that has
    no values of items).
    """

    name: str
    systems: Mapping[str, float]
    items: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    higher_is_better: bool = True

    @property
    def sign(self) -> int:
        return 1 if self.higher_is_better else -1


@dataclass(frozen=True, slots=True)
class ScoredSystem:
    """``scores`` of the whole set by name; ``items``: by the label of the item in the campaign, values by name."""

    scores: Mapping[str, float]
    items: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def metrics_of(recipe: Recipe, systems: Mapping[str, ScoredSystem]) -> list[MetricScores]:
    """The directed scores of ``recipe`` that some of ``systems`` (by label) has, in the order of its columns."""
    return [
        MetricScores(
            name,
            {label: system.scores[name] for label, system in systems.items() if name in system.scores},
            {label: of for label, system in systems.items() if (of := _of_items(system, name))},
            recipe.higher_is_better(name),
        )
        for name in recipe.directed_scores
        if any(name in system.scores for system in systems.values())
    ]


def _of_items(system: ScoredSystem, name: str) -> dict[str, float]:
    return {item: values[name] for item, values in system.items.items() if name in values}
