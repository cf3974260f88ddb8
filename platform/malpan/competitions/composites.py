"""How a track ranks: by the final score, or by a composite of ranks (``scoring.composite``), and which submission of a
team counts in that case.

The components are those of the track's recipe, or the track's own; what is better, more or less, the recipe says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from malpan.competitions.errors import CompositeInvalid, CountingInvalid
from malpan.competitions.models import Phase, Track
from malpan.competitions.references import recipe_of
from scoring.composite import Component
from scoring.errors import quoted
from scoring.recipes import Recipe

COMPONENTS_MAX: Final = 10
WEIGHT_MAX: Final = 1000
Rows = Sequence[Any]  # what ``Track.composite`` holds: objects of ``score`` and ``weight``


def components_of(track: Track, recipe: Recipe | None = None) -> tuple[Component, ...]:
    """What ``track`` ranks by; empty where it is the final score. ``recipe``: another one than the track's."""
    rule = recipe or recipe_of(track)
    if not track.composite:
        return rule.composite
    return tuple(
        Component(row["score"], float(row["weight"]), rule.higher_is_better(row["score"])) for row in track.composite
    )


def require_sound(rows: Rows, recipe: Recipe) -> None:
    """Raises ``CompositeInvalid`` unless ``rows`` are components of scores of ``recipe`` that have a direction."""
    if len(rows) > COMPONENTS_MAX:
        raise CompositeInvalid(reason="count", limit=COMPONENTS_MAX)
    known = {column.key for column in recipe.columns}
    names, may_rank = set[str](), ", ".join(recipe.directed_scores)
    for row in rows:
        if not isinstance(row, dict) or row.keys() != {"score", "weight"}:
            raise CompositeInvalid(reason="form", limit=COMPONENTS_MAX)
        name, weight = row["score"], row["weight"]
        if not isinstance(name, str) or name not in known:
            raise CompositeInvalid(reason="score", score=quoted(str(name)), limit=COMPONENTS_MAX, known=may_rank)
        if name not in recipe.directed_scores:
            raise CompositeInvalid(reason="direction", score=name, limit=COMPONENTS_MAX, known=may_rank)
        if name in names:
            raise CompositeInvalid(reason="twice", score=name, limit=COMPONENTS_MAX)
        if not _is_weight(weight):
            raise CompositeInvalid(reason="weight", score=name, limit=WEIGHT_MAX)
        names.add(name)


def _is_weight(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and 0 < value <= WEIGHT_MAX


def require_sound_counting(phase: Phase, recipe: Recipe | None = None) -> None:
    """Raises ``CountingInvalid`` where a composite ranks and what counts contradicts the choice of finals, names a
    score that the recipe does not have or that has no direction, or climbs a ladder of final scores. Reads
    ``phase.track``; ``recipe``: another one than the track's.
    """
    recipe = recipe or recipe_of(phase.track)
    if not components_of(phase.track, recipe):
        return
    if phase.is_ladder:
        raise CountingInvalid(reason="ladder")
    if phase.counting == Phase.Counting.LATEST and phase.finals_limit is not None:
        raise CountingInvalid(reason="latest")
    if phase.counting == Phase.Counting.CHOSEN and phase.finals_limit != 1:
        raise CountingInvalid(reason="chosen")
    if phase.counting != Phase.Counting.BEST or not phase.counting_score:
        return
    if phase.counting_score not in {column.key for column in recipe.columns}:
        raise CountingInvalid(reason="score", score=quoted(phase.counting_score))
    if phase.counting_score not in recipe.directed_scores:
        raise CountingInvalid(reason="direction", score=phase.counting_score)
