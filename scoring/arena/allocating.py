"""Which judges take which unit: equal loads, each judge on different items and systems, nobody on a unit twice.

A unit goes to the judges of the lowest load that may see it; between equals, to those who had its item, its group and
its systems least often. Where bars make that too coarse, assignments then move along chains of judges (a to b, b to c)
as long as one from a judge to another with at least two fewer exists: after that no distribution of the same units has
a smaller sum of squared loads (the optimum of a flow with convex costs).
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from scoring.arena.planned import Group, JudgeSpec, Unit


@dataclass(slots=True)
class Seats:
    """A unit with its judges, by their numbers in the panel: ``wanted`` are to be found or may change.

    ``fixed`` judges keep their assignment of the unit and it counts in their load; ``closed`` judges may not get it,
    as they have seen it in another way.
    """

    unit: Unit
    wanted: int
    fixed: set[int] = field(default_factory=set)
    movable: set[int] = field(default_factory=set)
    closed: set[int] = field(default_factory=set)


class Allocation:
    """Judges for ``seats``, found by ``fill`` and ``level``. ``loads`` are the real assignments of each judge."""

    def __init__(self, seats: Sequence[Seats], judges: Sequence[JudgeSpec], rng: random.Random) -> None:
        self.seats, self.judges, self.rng = seats, judges, rng
        self.loads = [0] * len(judges)
        self.held: list[set[int]] = [set() for _judge in judges]  # numbers of seats that the judge may pass on
        self.items: Counter[tuple[int, str]] = Counter()
        self.groups: Counter[tuple[int, Group]] = Counter()
        self.shown: Counter[tuple[int, str]] = Counter()
        self._may_see: dict[Group, frozenset[int]] = {}
        for number, one in enumerate(seats):
            for judge in sorted(one.fixed):
                self._count(judge, one.unit, 1)
            for judge in sorted(one.movable):
                self._count(judge, one.unit, 1)
                self.held[judge].add(number)

    def may_see(self, group: Group) -> frozenset[int]:
        """The judges who may see all systems of ``group``."""
        if group not in self._may_see:
            self._may_see[group] = frozenset(
                number for number, judge in enumerate(self.judges) if judge.barred.isdisjoint(group)
            )
        return self._may_see[group]

    def fill(self) -> None:
        """Find the wanted judges of every unit, as many as there are; units that few may see come first."""
        for number in sorted(range(len(self.seats)), key=lambda each: len(self.may_see(self.seats[each].unit.group))):
            one = self.seats[number]
            lacking = one.wanted - len(one.movable)
            if lacking > 0:
                free = sorted(self.may_see(one.unit.group) - one.movable - one.fixed - one.closed)
                for judge in self._least_loaded(free, lacking, one.unit):
                    self._give(number, judge)

    def level(self) -> None:
        """Move assignments between judges until no chain of moves makes the loads more equal."""
        was_moved = True
        while was_moved:
            was_moved = False
            for giver in sorted(range(len(self.judges)), key=lambda each: -self.loads[each]):
                while self._pass_on(giver):
                    was_moved = True

    def _least_loaded(self, free: list[int], count: int, unit: Unit) -> list[int]:
        if len(free) <= count:
            return free
        bound = sorted(self.loads[each] for each in free)[count - 1]
        sure = [each for each in free if self.loads[each] < bound]
        equal = [each for each in free if self.loads[each] == bound]
        return sure + sorted(equal, key=lambda each: self._familiarity(each, unit))[: count - len(sure)]

    def _familiarity(self, judge: int, unit: Unit) -> tuple[int, int, int, float]:
        shown = sum(self.shown[judge, system] for system in unit.group)
        return self.items[judge, unit.item], self.groups[judge, unit.group], shown, self.rng.random()

    def _pass_on(self, giver: int) -> bool:
        """Move one assignment of ``giver`` along a shortest chain to a judge with two fewer; whether there is one."""
        if self.loads[giver] <= min(self.loads) + 1:
            return False
        came: dict[int, tuple[int, int]] = {}  # by which seat, from whom
        unvisited, waiting = set(range(len(self.judges))) - {giver}, deque([giver])
        while waiting and unvisited:
            holder = waiting.popleft()
            for number in sorted(self.held[holder]):
                one = self.seats[number]
                for taker in sorted((self.may_see(one.unit.group) & unvisited) - one.movable - one.fixed - one.closed):
                    came[taker] = (number, holder)
                    if self.loads[taker] <= self.loads[giver] - 2:
                        self._move_along(came, giver, taker)
                        return True
                    unvisited.discard(taker)
                    waiting.append(taker)
        return False

    def _move_along(self, came: dict[int, tuple[int, int]], giver: int, taker: int) -> None:
        while taker != giver:
            number, holder = came[taker]
            self.seats[number].movable.discard(holder)
            self.held[holder].discard(number)
            self._count(holder, self.seats[number].unit, -1)
            self._give(number, taker)
            taker = holder

    def _give(self, number: int, judge: int) -> None:
        self.seats[number].movable.add(judge)
        self.held[judge].add(number)
        self._count(judge, self.seats[number].unit, 1)

    def _count(self, judge: int, unit: Unit, step: int) -> None:
        self.loads[judge] += step
        self.items[judge, unit.item] += step
        self.groups[judge, unit.group] += step
        for system in unit.group:
            self.shown[judge, system] += step
