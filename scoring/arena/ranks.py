"""Ranks that say how sure they are.

Every pair of systems is tested for a difference of 0, with Holm's correction over all pairs. The rank range of a system
is from 1 + the number of systems significantly better to the number of systems minus those significantly worse: with
the corrected tests all true ranks lie in their ranges at once with the probability 1 - level (Mogstad, Romano, Shaikh &
Wilhelm 2024). A cluster ends where every system above is significantly better than every one below, as at WMT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.arena.intervals import Clustered, Estimate
from scoring.composite import COMPARED_DECIMALS
from scoring.significance.resampling import holm


@dataclass(frozen=True, slots=True)
class Pair:
    """The difference of system ``one`` minus ``other`` (indices) and its p-value after Holm's correction."""

    one: int
    other: int
    difference: Estimate
    adjusted: float


@dataclass(frozen=True, slots=True)
class Standing:
    """``rank`` counts the systems with a higher score, plus 1; the true rank is in ``best`` to ``worst``; ``cluster``
    numbers the groups without a significant difference between neighbours, from 1.
    """

    rank: int
    best: int
    worst: int
    cluster: int


def pairs(found: Clustered, systems: int, level: float) -> tuple[Pair, ...]:
    """Every pair of the first ``systems`` figures."""
    places = [(one, other) for one in range(systems) for other in range(one + 1, systems)]
    differences = [found.difference(one, other, level) for one, other in places]
    adjusted = holm([each.p for each in differences])
    return tuple(Pair(*place, each, p) for place, each, p in zip(places, differences, adjusted, strict=True))


def standings(scores: Sequence[float], tested: Sequence[Pair], level: float) -> tuple[Standing, ...]:
    """The standing of each system, in the order of ``scores``; higher is better."""
    rounded = [round(score, COMPARED_DECIMALS) for score in scores]
    better = {(pair.one, pair.other) if pair.difference.value > 0 else (pair.other, pair.one)
              for pair in tested if pair.adjusted <= level}  # fmt: skip
    clusters = _clusters(rounded, better)
    count = len(rounded)
    return tuple(
        Standing(
            1 + sum(other > score for other in rounded),
            1 + sum((other, at) in better for other in range(count)),
            count - sum((at, other) in better for other in range(count)),
            clusters[at],
        )
        for at, score in enumerate(rounded)
    )


def _clusters(scores: Sequence[float], better: set[tuple[int, int]]) -> dict[int, int]:
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    found: dict[int, int] = {}
    number = 1
    for place, at in enumerate(order):
        above, below = order[:place], order[place:]
        if above and all((one, other) in better for one in above for other in below):
            number += 1
        found[at] = number
    return found
