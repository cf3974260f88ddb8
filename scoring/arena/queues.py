"""The queue of one judge: the real assignments in random order, controls and repeats spread between them.

Controls are spread over the whole queue and repeats over what follows the first ``GAP`` places: each kind has one place
drawn from each of as many equal stretches. A repeat shows an own real assignment, at least ``GAP`` places earlier, with
the order turned. A queue too short for that has fewer repeats.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from scoring.arena.draws import below, one_of, shuffled
from scoring.arena.planned import JudgeSpec, Planned, Queue, Settings, Unit

GAP: Final = 10  # places from a real assignment to its repeat, at least
_TRIES: Final = 50


def extras(real: int, settings: Settings) -> tuple[int, int]:
    """How many controls and repeats go with ``real`` assignments, so that they have their shares of all."""
    total = real / (1 - settings.control_share - settings.repeat_share)
    return round(settings.control_share * total), round(settings.repeat_share * total)


class Controls:
    """The controls of a design: every system about equally often made bad, and about equally often beside one.

    ``units`` are those of the campaign.
    """

    def __init__(self, items: Sequence[str], systems: Sequence[str], group: int, rng: random.Random) -> None:
        self.items, self.systems, self.group, self.rng = items, systems, group, rng
        self.shown: Counter[str] = Counter()
        self.made_bad: Counter[str] = Counter()

    def of(self, judge: JudgeSpec, own: Sequence[Planned], count: int) -> list[Planned]:
        """``count`` controls of items that are not among the judge's ``own`` assignments, as long as there are such;
        then of other groups of systems, as long as there are.
        """
        systems = [system for system in self.systems if system not in judge.barred]
        if len(systems) < self.group:
            return []
        seen, units = {planned.item for planned in own}, {planned.unit for planned in own}
        fresh = shuffled(self.rng, [item for item in self.items if item not in seen])
        pool = fresh + shuffled(self.rng, [item for item in self.items if item in seen])
        turn = below(self.rng, self.group)
        found = []
        for number in range(count):
            planned = self._one(judge.label, pool[number % len(pool)], systems, units, (turn + number) % self.group)
            units.add(planned.unit)
            found.append(planned)
        return found

    def _one(self, judge: str, item: str, systems: Sequence[str], seen: set[Unit], place: int) -> Planned:
        group = self._rarest(systems)
        for _ in range(_TRIES):
            if Unit(item, tuple(sorted(group))) not in seen:
                break
            group = shuffled(self.rng, systems)[: self.group]
        bad = min(group, key=lambda system: (self.made_bad[system], self.rng.random()))
        others = shuffled(self.rng, [system for system in group if system != bad])
        self.shown.update(group)
        self.made_bad[bad] += 1
        return Planned(judge, item, (*others[:place], bad, *others[place:]), "control", bad=place)

    def _rarest(self, systems: Sequence[str]) -> list[str]:
        return sorted(systems, key=lambda system: (self.shown[system], self.rng.random()))[: self.group]


def queue(
    reals: Sequence[Planned],
    controls: Sequence[Planned],
    repeats: int,
    rng: random.Random,
    past: Queue | None = None,
    start: int = 0,
) -> tuple[Planned, ...]:
    """The queue from position ``start``, after what the judge has already (``past``), with at most ``repeats``
    repeats.
    """
    before = past or {}
    mixed = shuffled(rng, reals)
    for count in range(repeats, 0, -1):
        for _ in range(_TRIES):
            found = _laid_out(mixed, controls, count, rng, before, start)
            if found is not None:
                return found
    return _laid_out(mixed, controls, 0, rng, before, start) or ()


def _laid_out(
    reals: Sequence[Planned], controls: Sequence[Planned], repeats: int, rng: random.Random, past: Queue, start: int
) -> tuple[Planned, ...] | None:
    """One random layout; ``None`` where a repeat has no first far enough before it."""
    total = len(reals) + len(controls) + repeats
    earliest = max(0, min([GAP, *(position + GAP - start for position in past)]))
    places = _spread(len(controls), 0, total, set(), rng)
    repeated = None if places is None else _spread(repeats, earliest, total, set(places), rng)
    if places is None or repeated is None:
        return None
    waiting, bad = iter(reals), iter(controls)
    laid = {
        start + place: next(bad) if place in places else next(waiting)
        for place in range(total)
        if place not in repeated
    }
    firsts = _firsts({**past, **laid}, [start + place for place in repeated], rng)
    if firsts is None:
        return None
    for position, first in firsts.items():
        known = past.get(first) or laid[first]
        laid[position] = Planned(known.judge, known.item, known.systems[::-1], "repeat", repeats=first)
    return tuple(laid[position] for position in sorted(laid))


def _spread(count: int, low: int, high: int, taken: set[int], rng: random.Random) -> list[int] | None:
    """``count`` places from ``low`` to below ``high`` that are not ``taken``, one of each equal stretch if it has one;
    ``None`` where there are too few.
    """
    free = [place for place in range(low, high) if place not in taken]
    if len(free) < count:
        return None
    bounds = [len(free) * number // max(1, count) for number in range(count + 1)]
    return [free[low + below(rng, high - low)] for low, high in pairwise(bounds)]


def _firsts(laid: Mapping[int, Planned], repeated: Sequence[int], rng: random.Random) -> dict[int, int] | None:
    """For each position of a repeat the position of what it repeats, none twice; ``None`` where one has none."""
    used = {planned.repeats for planned in laid.values() if planned.kind == "repeat"}
    found: dict[int, int] = {}
    for position in repeated:
        free = [
            place
            for place in sorted(laid)
            if place <= position - GAP and laid[place].kind == "real" and place not in used
        ]
        if not free:
            return None
        found[position] = one_of(rng, free)
        used.add(found[position])
    return found
