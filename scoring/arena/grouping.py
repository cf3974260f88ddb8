"""Which systems are shown together: groups for every item, so that all pairs of systems meet about equally often.

Each group starts from the pair (of one system: from the system) that met least often so far, of such pairs from one
that is rare in this item and in all, and grows by the system that met the members least often. For groups of one or two
systems this keeps the counts of all groups within 1 of each other at every moment: a pair is passed over only if the
item has it, and then it was just counted. A group must have enough judges who may see all of it.
"""

from __future__ import annotations

import random
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import Final

from scoring.arena.draws import below, shuffled
from scoring.arena.planned import (
    Group,
    JudgeSpec,
    NobodyMaySee,
    Settings,
    TooFewMaySee,
    TooManyUnits,
    Unit,
)

_Members = tuple[int, ...]  # numbers of systems, ascending
_WEIGHED: Final = 64  # pairs of the rarest that are weighed against each other at a time
_STEPS: Final = 20_000  # of the search for one group, before it counts as not there
_NAMED: Final = 3  # pairs of systems that an error names


def units_of(
    items: Iterable[str], systems: Sequence[str], judges: Sequence[JudgeSpec], settings: Settings, rng: random.Random
) -> list[Unit]:
    """The units of every item, the items in random order; the units of one item are next to each other.

    Raises ``TooFewMaySee``, ``NobodyMaySee`` and ``TooManyUnits``.
    """
    grouping = _Grouping(systems, judges, settings, rng)
    grouping.require_cover()
    return [Unit(item, group) for item in shuffled(rng, items) for group in grouping.of_item()]


class _Grouping:
    """The groups made so far: ``together`` counts the pairs in them, ``shown`` the systems."""

    def __init__(
        self, systems: Sequence[str], judges: Sequence[JudgeSpec], settings: Settings, rng: random.Random
    ) -> None:
        self.systems, self.settings, self.rng = systems, settings, rng
        self.width = min(settings.group, 2)
        self.everyone = (1 << len(judges)) - 1
        self.may_see = [
            sum(1 << place for place, judge in enumerate(judges) if system not in judge.barred) for system in systems
        ]
        starts = combinations(range(len(systems)), self.width)
        self.together: dict[_Members, int] = dict.fromkeys(shuffled(rng, starts), 0)
        self.shown = [0] * len(systems)
        self.steps, self.panel = 0, settings.judges_per_unit  # of the search that is going on

    def require_cover(self) -> None:
        """Raise an error unless every pair of systems is in some group that enough judges may see."""
        if all(seen == self.everyone for seen in self.may_see):
            return
        found = {start: self._most_judges(start) for start in sorted(self.together)}
        most = min(found.values())
        if most >= self.settings.judges_per_unit:
            return
        worst = [start for start, judges in found.items() if judges == most]
        names = ", ".join("·".join(self.systems[each] for each in start) for start in worst[:_NAMED])
        names += " …" if len(worst) > _NAMED else ""
        numbers = {"systems": names, "panel": self.settings.judges_per_unit, "group": self.settings.group}
        raise TooFewMaySee(most=most, **numbers) if most else NobodyMaySee(**numbers)

    def _most_judges(self, start: _Members) -> int:
        """How many judges, at most the number wanted, may see one group with ``start``."""
        numbers = range(self.settings.judges_per_unit, 0, -1)
        return next((panel for panel in numbers if self._grown(start, (), panel) is not None), 0)

    def of_item(self) -> list[Group]:
        """The groups of one more item, all different. Raises ``TooManyUnits``."""
        taken: dict[_Members, None] = {}
        here = [0] * len(self.systems)
        for _ in range(self.settings.units_per_item):
            group = self._next(taken, here)
            taken[group] = None
            for each in group:
                here[each] += 1
                self.shown[each] += 1
            for pair in combinations(group, self.width):
                self.together[pair] += 1
        return [tuple(self.systems[each] for each in group) for group in taken]

    def _next(self, taken: dict[_Members, None], here: list[int]) -> _Members:
        for count in sorted(set(self.together.values())):
            level = [start for start, times in self.together.items() if times == count and start not in taken]
            for start in self._preferred(level, here):
                group = self._grown(start, taken, self.settings.judges_per_unit)
                if group is not None:
                    return group
        raise TooManyUnits(units=self.settings.units_per_item, most=len(taken))

    def _preferred(self, level: list[_Members], here: list[int]) -> Iterator[_Members]:
        """``level`` in an order that starts with what is rare in the item, then with what is rare in all."""
        turn = below(self.rng, len(level)) if level else 0
        turned = level[turn:] + level[:turn]
        near = sorted(
            turned[:_WEIGHED],
            key=lambda start: (sum(here[each] for each in start), sum(self.shown[each] for each in start)),
        )
        return chain(near, turned[_WEIGHED:])

    def _grown(self, start: _Members, taken: Container[_Members], panel: int) -> _Members | None:
        """A group with ``start`` that is not ``taken`` and that ``panel`` judges may see, with the rarest systems;
        ``None`` if there is none.
        """
        judges = self.everyone
        for each in start:
            judges &= self.may_see[each]
        self.steps, self.panel = _STEPS, panel
        return self._search(start, judges, frozenset(), taken)

    def _search(
        self, group: _Members, judges: int, passed: frozenset[int], taken: Container[_Members]
    ) -> _Members | None:
        """Depth first; ``passed`` are systems whose groups with these members have all been looked at."""
        if judges.bit_count() < self.panel:
            return None
        if len(group) == self.settings.group:
            found = tuple(sorted(group))
            return None if found in taken else found
        for each in self._additions(group, passed):
            self.steps -= 1
            if self.steps < 0:
                return None
            found_deeper = self._search((*group, each), judges & self.may_see[each], passed, taken)
            if found_deeper is not None:
                return found_deeper
            passed |= {each}
        return None

    def _additions(self, group: _Members, passed: frozenset[int]) -> list[int]:
        """The systems that may join ``group``, those first that met its members least often."""

        def met(each: int) -> tuple[int, int, float]:
            pairs = sum(self.together[min(each, member), max(each, member)] for member in group)
            return pairs, self.shown[each], self.rng.random()

        others = (each for each in range(len(self.systems)) if each not in group and each not in passed)
        return sorted(others, key=met)
