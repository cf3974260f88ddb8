"""Composite scores: a weighted sum of ranks instead of values, as AI 말평 2026 ranks (RMSE 45, Spearman 45, judge 10).

Each score becomes an average rank r among the n ranked entries (1 is best; equal values share the mean of their
places), the rank a number from 0 to 1, (n - r) / (n - 1), 1 for a single entry, and the composite is the mean of those
numbers by weight. So it says how an entry compares with the others, and every entry's composite may move when one of
them changes. Values are compared to 8 decimals, as everywhere (``COMPARED_DECIMALS``).

The organisers published the weights and that each metric becomes a rank normalised to 0-1; the formula of the
normalisation is ours and is written wherever a composite is shown.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

Key = TypeVar("Key", bound=Hashable)
COMPARED_DECIMALS: Final = 8  # of scores 0-1; batch neighbours move a pair's value by up to 6e-8, a mean by far less


@dataclass(frozen=True, slots=True)
class Component:
    """One of the scores that a composite is made of. ``weight`` is above 0; the weights need not add up to 100."""

    score: str
    weight: float
    higher_is_better: bool = True


@dataclass(frozen=True, slots=True)
class Part:
    """What one component gives an entry: its ``value``, the average ``rank`` of it, and the rank as 0-1.

    ``value`` is ``None`` where the entry has no such score; it then ranks behind all that have one.
    """

    score: str
    weight: float
    value: float | None
    rank: float
    normalised: float


@dataclass(frozen=True, slots=True)
class Composite:
    """``value`` is 0-1, the mean of the parts by weight; the parts are in the order of the components."""

    value: float
    parts: tuple[Part, ...]


def composites(
    entries: Mapping[Key, Mapping[str, float]],
    components: Sequence[Component],
    unranked: Collection[Key] = frozenset(),
) -> dict[Key, Composite]:
    """The composite of every entry from its scores by name.

    ``unranked`` entries (baselines) change nobody's composite; each has the one that it would have as the only entry
    beside the ranked ones. A component that no ranked entry has a value of is left out, and the others count by their
    weights. Raises ``ValueError`` without components, for one named twice, and for a weight that is not above 0.
    """
    _require_sound(components)
    ranked = [key for key in entries if key not in unranked]
    parts: dict[Key, list[Part]] = {key: [] for key in entries}
    for component in components:
        levels = {key: _level(scores.get(component.score), component) for key, scores in entries.items()}
        field = sorted(levels[key] for key in ranked)
        if field and field[0] == math.inf:
            continue
        for key, level in levels.items():
            rank, count = _place(field, level, is_ranked=key not in unranked)
            value = entries[key].get(component.score)
            parts[key].append(Part(component.score, component.weight, value, rank, _normalised(rank, count)))
    return {key: Composite(_mean(each), tuple(each)) for key, each in parts.items()}


def _require_sound(components: Sequence[Component]) -> None:
    if not components:
        raise ValueError("a composite needs components")
    if len({component.score for component in components}) != len(components):
        raise ValueError("a composite names a score twice")
    if any(not 0 < component.weight < math.inf for component in components):
        raise ValueError("the weights of a composite are above 0")


def _level(value: float | None, component: Component) -> float:
    """A number that is lower for a better value; without a value it is infinite."""
    if value is None or math.isnan(value):
        return math.inf
    return round(-value if component.higher_is_better else value, COMPARED_DECIMALS)


def _place(field: Sequence[float], level: float, *, is_ranked: bool) -> tuple[float, int]:
    """The average rank of ``level`` among the sorted levels of ``field``, and the number of entries ranked.

    A level that is not ranked itself is ranked as if it were added.
    """
    better, equal = bisect_left(field, level), bisect_right(field, level)
    if is_ranked:
        return (better + 1 + equal) / 2, len(field)
    return (better + 1 + equal + 1) / 2, len(field) + 1


def _normalised(rank: float, count: int) -> float:
    return 1.0 if count == 1 else (count - rank) / (count - 1)


def _mean(parts: Sequence[Part]) -> float:
    weight = math.fsum(part.weight for part in parts)
    return math.fsum(part.weight * part.normalised for part in parts) / weight if parts else 0.0
