"""How even a design is, in figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from scoring.arena.planned import Planned

Range = tuple[int, int]  # fewest, most


@dataclass(frozen=True, slots=True)
class Balance:
    """The figures of a design. Only real assignments count, except where controls and repeats are named.

    ``pairs``: in how many units a pair of systems meets; ``pair_assignments``: in how many assignments.
    ``systems``, ``items``, ``loads``: assignments of a system, an item, a judge; ``queues``: with controls and repeats.
    ``first_by_judge``, ``first_by_system``: by how many assignments, at most, the number of times that a system was
    shown first is off its share (half of them with two systems), for one judge and for all.
    ``first_by_pair``: the largest difference between "a before b" and "b before a" of a pair of systems.
    ``same_item``: the most assignments of one item that one judge has. ``idle`` are judges without any assignment.
    """

    units: int
    assignments: int
    controls: int
    repeats: int
    pairs: Range
    pair_assignments: Range
    systems: Range
    items: Range
    loads: Range
    queues: Range
    first_by_judge: float
    first_by_system: float
    first_by_pair: int
    same_item: int
    idle: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def balance(planned: Mapping[str, Iterable[Planned]]) -> Balance:
    """The figures of the assignments of each judge. A pair of systems that never meets counts as 0."""
    queues = {judge: list(assignments) for judge, assignments in planned.items()}
    everything = [each for assignments in queues.values() for each in assignments]
    real = [each for each in everything if each.kind == "real"]
    units = {each.unit for each in real}
    pairs = list(combinations(sorted({system for each in real for system in each.systems}), 2))
    met = Counter(pair for unit in units for pair in combinations(unit.group, 2))
    together = Counter(pair for each in real for pair in combinations(each.unit.group, 2))
    return Balance(
        units=len(units),
        assignments=len(real),
        controls=sum(each.kind == "control" for each in everything),
        repeats=sum(each.kind == "repeat" for each in everything),
        pairs=_range([met[pair] for pair in pairs]),
        pair_assignments=_range([together[pair] for pair in pairs]),
        systems=_range(Counter(system for each in real for system in each.systems).values()),
        items=_range(Counter(each.item for each in real).values()),
        loads=_range([sum(each.kind == "real" for each in assignments) for assignments in queues.values()]),
        queues=_range([len(assignments) for assignments in queues.values()]),
        first_by_judge=_off_share(real, by_judge=True),
        first_by_system=_off_share(real, by_judge=False),
        first_by_pair=_turned(real),
        same_item=max(Counter((each.judge, each.item) for each in real).values(), default=0),
        idle=tuple(judge for judge, assignments in queues.items() if not assignments),
    )


def _range(counts: Iterable[int]) -> Range:
    known = list(counts)
    return min(known, default=0), max(known, default=0)


def _off_share(real: Sequence[Planned], *, by_judge: bool) -> float:
    """The largest distance of the times shown first from the times expected (a group of k: one in k), rounded."""
    off: dict[Hashable, float] = {}
    for each in real:
        for place, system in enumerate(each.systems):
            key = (each.judge, system) if by_judge else system
            off[key] = off.get(key, 0.0) + (place == 0) - 1 / len(each.systems)
    return round(max(map(abs, off.values()), default=0.0), 6)


def _turned(real: Sequence[Planned]) -> int:
    before = Counter(pair for each in real for pair in combinations(each.systems, 2))
    return max((abs(count - before[pair[::-1]]) for pair, count in before.items()), default=0)
