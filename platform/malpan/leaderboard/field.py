"""What all teams of a board scored, for the place of one result among them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from malpan.competitions.models import Phase
from malpan.leaderboard import standings
from malpan.leaderboard.boards import COMPOSITE
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.published import published_rows
from scoring.recipes.targets import FINAL_SCORE

SNAPSHOTS: Final = 4

Row = tuple[bool, str, Mapping[str, float]]  # whether it is a baseline, its team's name, its scores


@dataclass(frozen=True, slots=True)
class Field:
    """The scores (0-1) of a board. ``ranked`` is what its teams rank by, from the first rank on; ``values`` has the
    teams' values of every score, ascending; ``baselines`` are names with what they would rank by.
    """

    ranked: tuple[float, ...] = ()
    values: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    baselines: tuple[tuple[str, float], ...] = ()

    def above(self, rank: int) -> float | None:
        """What the team right above ``rank`` ranks by; ``None`` for the first."""
        return self.ranked[rank - 2] if 2 <= rank <= len(self.ranked) else None

    def below(self, rank: int) -> float | None:
        """What the team right below ``rank`` ranks by; ``None`` for the last."""
        return self.ranked[rank] if 0 < rank < len(self.ranked) else None

    def beaten(self, score: str, value: float, *, higher_is_better: bool = True) -> int:
        """How many teams have a worse value of ``score`` than ``value``."""
        known = self.values.get(score, ())
        return bisect_left(known, value) if higher_is_better else len(known) - bisect_right(known, value)


NOBODY: Final = Field()


def field_of(phase: Phase, scope: str, signature_hash: str | None) -> Field:
    """The field of a public board. One query."""
    rows = standings.with_signature(phase, scope, signature_hash).order_by(*standings.ORDER)
    columns = rows.values_list("is_baseline", "team__name", "final_score", "scores", "composite")
    return _field(
        (is_baseline, name, _ranked_by(final, scores, composite))
        for is_baseline, name, final, scores, composite in columns.iterator(1000)
    )


def field_of_snapshot(snapshot: BoardSnapshot) -> Field:
    """The field of a board as it was published."""
    return _of_snapshot(snapshot.pk, snapshot.sha256, snapshot)


@lru_cache(SNAPSHOTS)
def _of_snapshot(_pk: int, _sha256: str, snapshot: BoardSnapshot) -> Field:
    return _field(
        (row["is_baseline"], row["team"], _ranked_by(row["final_score"], row["scores"], row.get("composite")))
        for row in published_rows(snapshot)
    )


def _ranked_by(final: float, scores: Mapping[str, float], composite: Mapping[str, float] | None) -> dict[str, float]:
    composed = {} if composite is None else {COMPOSITE: composite["value"]}
    return {**scores, FINAL_SCORE: final, **composed}


def _field(rows: Iterable[Row]) -> Field:
    """Of ``rows`` in the order of the board."""
    ranked: list[float] = []
    baselines: list[tuple[str, float]] = []
    values: dict[str, list[float]] = defaultdict(list)
    for is_baseline, name, scores in rows:
        counted = scores.get(COMPOSITE, scores[FINAL_SCORE])
        if is_baseline:
            baselines.append((name, counted))
            continue
        ranked.append(counted)
        for score, value in scores.items():
            values[score].append(value)
    return Field(tuple(ranked), {name: tuple(sorted(found)) for name, found in values.items()}, tuple(baselines))
