"""In which order a judge sees the systems of a unit: each system in each place equally often, for every judge and for
every pair.

Orders are chosen one after the other, each so that the sum of squared counts grows least, then chosen again in further
passes with all others as they are. Counted are a judge's systems by place, all judges' systems by place, and for two
systems the ordered pair. Of more than two systems some random orders are tried, their turned ones too.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from scoring.arena.draws import shuffled
from scoring.arena.planned import Group

_PASSES: Final = 12
_TRIED: Final = 6  # random orders of more than two systems
_Key = tuple[str | int, ...]


def shown_orders(
    slots: Sequence[tuple[str, Group]], rng: random.Random, kept: Iterable[tuple[str, tuple[str, ...]]] = ()
) -> list[tuple[str, ...]]:
    """The order of each slot (a judge and a group), in the order of ``slots``; ``kept`` are orders that stay."""
    counts: Counter[_Key] = Counter()
    for judge, order in kept:
        counts.update(_keys(judge, order))
    chosen: list[tuple[str, ...]] = [()] * len(slots)
    for turn in range(_PASSES):
        before = list(chosen)
        for place in shuffled(rng, range(len(slots))):
            judge, group = slots[place]
            if turn:
                counts.subtract(_keys(judge, chosen[place]))
            chosen[place] = _best(judge, group, chosen[place], counts, rng)
            counts.update(_keys(judge, chosen[place]))
        if chosen == before:
            break
    return chosen


def _best(judge: str, group: Group, now: tuple[str, ...], counts: Counter[_Key], rng: random.Random) -> tuple[str, ...]:
    orders = [group, group[::-1]]
    if len(group) > 2:
        orders = [order for _ in range(_TRIED) for order in _both_ways(shuffled(rng, group))]
        orders += [now] if now else []
    return min(orders, key=lambda order: (sum(counts[key] for key in _keys(judge, order)), rng.random()))


def _both_ways(order: list[str]) -> list[tuple[str, ...]]:
    return [tuple(order), tuple(reversed(order))]


def _keys(judge: str, order: tuple[str, ...]) -> list[_Key]:
    """What the order is counted as: weight is given by listing."""
    keys: list[_Key] = [(judge, system, place) for place, system in enumerate(order)]
    keys += [order] if len(order) == 2 else [(system, place) for place, system in enumerate(order)]
    return keys
