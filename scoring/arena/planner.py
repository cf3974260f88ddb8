"""How many judgements make intervals how narrow: panels like the planned one are simulated and evaluated as a campaign
is, by any protocol. The judges are good; the strengths are spread evenly with a given standard deviation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from scoring.arena.ranks import pairs
from scoring.arena.scores import score_systems
from scoring.arena.simulation import Behaviour, Panel, simulate, spread_strengths
from scoring.arena.vote_records import Protocol

LEVEL: Final = 0.05
ITEMS: Final = 200
RESAMPLES: Final = 60  # of one panel; the median of several panels is what is planned with


@dataclass(frozen=True, slots=True)
class Width:
    """What to expect of so many judgements. ``judgements``: real ones of all judges, without controls and repeats;
    ``width``: the median width of the 95 % intervals of the scores, in logits or, of ratings, in standard deviations of
    a judge, and ``None`` where so few judgements show no error; ``separated``: the share of the pairs of systems that
    are told apart (Holm over all pairs).
    """

    votes_per_judge: int
    judgements: int
    width: float | None
    separated: float


def plan_widths(
    systems: int,
    spread: float,
    tie_rate: float,
    order_effect: float,
    judges: int,
    votes_per_judge: Sequence[int],
    *,
    protocol: Protocol = "pairwise",
    group: int = 4,
    items: int = ITEMS,
    repetitions: int = 5,
    seed: int = 1,
) -> tuple[Width, ...]:
    """A row for each number of ``votes_per_judge`` (controls and repeats included), of ``repetitions`` panels each.

    ``spread``: standard deviation of the strengths in logits. ``tie_rate``, and ``order_effect`` in logits, are of
    pairs; ``group`` outputs are ranked together. The same arguments give the same rows. Raises ``ValueError`` for
    fewer than two systems.
    """
    if systems < 2:
        raise ValueError(f"{systems} systems cannot be compared")
    strengths = spread_strengths(systems, spread)
    kind: Behaviour = "good"
    rows = []
    for votes in votes_per_judge:
        panel = Panel(
            strengths,
            (kind,) * judges,
            items=items,
            votes_per_judge=votes,
            tie_rate=tie_rate,
            order_effect=order_effect,
            judges_per_unit=min(2, judges),
            protocol=protocol,
            group=min(group, systems),
            resamples=RESAMPLES,
        )
        found = [_panel(panel, seed + number) for number in range(repetitions)]
        widths = [width for widths, _shares, _count in found for width in widths]
        share = sum(share for _widths, share, _count in found) / len(found)
        width = median(widths)
        rows.append(Width(votes, found[0][2], width if math.isfinite(width) else None, share))
    return tuple(rows)


def _panel(panel: Panel, seed: int) -> tuple[list[float], float, int]:
    """Widths of the systems' intervals, the share of the pairs that differ, and the number of real votes."""
    votes = simulate(panel, seed)
    real = votes.real()
    scored = score_systems(votes, real)
    count = len(scored.systems)
    estimates = [scored.found.figure(index, LEVEL) for index in range(count)]
    tested = pairs(scored.found, count, LEVEL)
    apart = sum(pair.adjusted <= LEVEL for pair in tested)
    return [each.high - each.low for each in estimates], apart / len(tested), len(real)
