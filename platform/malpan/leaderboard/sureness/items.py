"""What the items of a board's teams say beyond its scores: how hard each was, which metrics agree, who beat whom on how
many. Computed with the sureness of the board; the web process reads it and loads no numpy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, Final
from uuid import UUID

from malpan.leaderboard.boards import Sureness
from malpan.leaderboard.models import BoardItems
from malpan.leaderboard.sureness.sources import Basis

FEWEST: Final = 10  # values: of fewer no correlation is told, and not who is better on how many
PAIRED: Final = 15  # teams, from the first
BOARDS: Final = 16  # kept in memory: about 200 KB each of 1,000 items
SAME: Final = 1e-9  # values nearer than that are equal

Values = Mapping[str, Mapping[str, Any]]  # by metric and item


@dataclass(frozen=True, slots=True)
class Wins:
    """On how many items the team of a row had a higher value of a metric than that of a column, and on how many the
    same; in the order of ``submissions``, which are public ids.
    """

    submissions: Sequence[str]
    wins: Mapping[str, Sequence[Sequence[int]]]
    ties: Mapping[str, Sequence[Sequence[int]]]


@dataclass(frozen=True, slots=True)
class ItemsFound:
    """Of ``teams`` teams: ``means`` by metric and item; ``correlations`` of the ``metrics``, ``None`` where nothing
    follows from the values.
    """

    teams: int
    means: Mapping[str, Mapping[str, float]]
    metrics: Sequence[str]
    correlations: Sequence[Sequence[float | None]]
    wins: Wins


def items_found(sureness: Sureness | None) -> ItemsFound | None:
    """What is known of the items of a board with this sureness; nothing where that has a reason to have no bands."""
    return None if sureness is None or sureness.reason else _stored(sureness.stamp)


@lru_cache(BOARDS)
def _stored(stamp: UUID) -> ItemsFound | None:
    row = BoardItems.objects.filter(sureness__stamp=stamp).first()
    if row is None or not row.found:
        return None
    return ItemsFound(**{**row.found, "wins": Wins(**row.found["wins"])})


def found_in(basis: Basis, values: Sequence[Values]) -> dict[str, Any]:
    """``ItemsFound`` of the ranked rows of ``basis``, whose stored values are ``values``, as JSON."""
    import numpy as np

    ranked = [
        (source.name, each) for source, each in zip(basis.sources, values, strict=True) if source.rank is not None
    ]
    metrics = [name for name in basis.recipe.metrics if any(_has_numbers(each, name) for _name, each in ranked)]
    items = sorted({item for _name, each in ranked for metric in metrics for item in each.get(metric, {})})
    tables = {
        metric: np.array([[each.get(metric, {}).get(item, np.nan) for item in items] for _name, each in ranked], float)
        for metric in metrics
    }
    means = {}
    for metric, table in tables.items():
        counts, sums = np.isfinite(table).sum(axis=0), np.nansum(table, axis=0)
        means[metric] = {item: float(sums[at] / counts[at]) for at, item in enumerate(items) if counts[at]}
    correlations: list[list[float | None]] = [[None] * len(metrics) for _ in metrics]
    for one, other in combinations(range(len(metrics)), 2):
        value = _correlation(tables[metrics[one]], tables[metrics[other]])
        correlations[one][other] = correlations[other][one] = value
    told = [metric for metric in metrics if len(means[metric]) >= FEWEST]
    compared = {metric: _compared(basis, metric, tables[metric][:PAIRED]) for metric in told}
    wins = {
        "submissions": [name for name, _each in ranked[:PAIRED]],
        "wins": {metric: won for metric, (won, _tied) in compared.items()},
        "ties": {metric: tied for metric, (_won, tied) in compared.items()},
    }
    return {
        "teams": len(ranked), "means": means, "metrics": metrics, "correlations": correlations, "wins": wins,
    }  # fmt: skip


def _has_numbers(values: Values, metric: str) -> bool:
    """Whether ``metric`` has a value for an item, and not a row of statistics."""
    return isinstance(next(iter(values.get(metric, {}).values()), None), int | float)


def _correlation(one: Any, other: Any) -> float | None:
    """Pearson's r of two metrics over all items of all teams that have both."""
    import numpy as np

    both = np.isfinite(one) & np.isfinite(other)
    left, right = one[both], other[both]
    if len(left) < FEWEST or np.ptp(left) < SAME or np.ptp(right) < SAME:
        return None
    return float(np.corrcoef(left, right)[0, 1])


def _compared(basis: Basis, metric: str, table: Any) -> tuple[list[list[int]], list[list[int]]]:
    """Wins and ties of every pair of rows of ``table``."""
    import numpy as np

    sign = 1 if basis.recipe.higher_is_better(basis.recipe.score_name(metric)) else -1
    differences = sign * (table[:, None, :] - table[None, :, :])
    known = np.isfinite(differences)
    won = known & (np.nan_to_num(differences) > SAME)
    tied = known & (np.abs(np.nan_to_num(differences)) <= SAME)
    diagonal = np.eye(len(table), dtype=bool)
    return won.sum(axis=2).tolist(), np.where(diagonal, 0, tied.sum(axis=2)).tolist()
