"""A panel that changes during a campaign: who takes over what is still open.

What was judged stays where it is. Units do not change, so pairs of systems stay as balanced as they were planned;
loads become as equal as bars and what is done allow, counting what is done; left and right are balanced anew for what
moves, given what stays.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from scoring.arena.allocating import Allocation, Seats
from scoring.arena.draws import draws
from scoring.arena.ordering import shown_orders
from scoring.arena.planned import JudgeSpec, Planned, Queue, Queues, Settings, Unit
from scoring.arena.queues import Controls, extras, queue

Position = tuple[str, int]  # a judge and a position in this judge's queue


@dataclass(frozen=True, slots=True)
class Reassigned:
    """What changes. ``void`` are open assignments that are no longer wanted, as they moved to others or have no use.

    ``added`` are new assignments: those of a judge have the positions from ``starts`` on. ``unassigned`` are open
    real ones that nobody can take, as they were.
    """

    void: tuple[Position, ...]
    added: Mapping[str, tuple[Planned, ...]]
    starts: Mapping[str, int]
    unassigned: tuple[Planned, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """What a dropped system leaves: ``void`` assignments, and others ``shortened`` to the systems that remain."""

    void: tuple[Position, ...]
    shortened: Mapping[Position, Planned]


def reassign(
    open_assignments: Queues,
    done: Queues,
    judges: Sequence[JudgeSpec],
    seed: str,
    event: int,
    settings: Settings,
    starts: Mapping[str, int] | None = None,
) -> Reassigned:
    """The open assignments distributed anew over the panel ``judges``, after one left, came or got a bar.

    Both queues are by judge and position; give what a judge is looking at as done. ``judges`` is the panel from now on;
    a holder who is not in it gives everything back. ``event`` is the number of this change in the campaign: each draws
    by itself. ``starts`` are the next free positions, by default after the last of the positions given.
    """
    panel = sorted(judges, key=lambda judge: judge.label)
    change = _Change(open_assignments, done, panel)
    allocation = Allocation(list(change.seats.values()), panel, draws(seed, "judges", str(event)))
    allocation.fill()
    allocation.level()
    real = change.added_reals(draws(seed, "orders", str(event)))
    nexts = {judge.label: change.next_position(judge.label) for judge in panel} | dict(starts or {})
    added = {}
    controls = change.controls(draws(seed, "controls", str(event)))
    for judge in panel:
        if real[judge.label]:
            kept = change.kept(judge.label)
            bad, repeats = _further(kept, len(real[judge.label]), settings)
            own = [*kept.values(), *real[judge.label]]
            rng = draws(seed, "queue", judge.label, str(event))
            bads = controls.of(judge, own, bad)
            added[judge.label] = queue(real[judge.label], bads, repeats, rng, kept, nexts[judge.label])
    begun = {judge: nexts[judge] for judge in added}
    return Reassigned(tuple(change.void()), added, begun, tuple(change.unassigned()))


def _further(kept: Queue, more: int, settings: Settings) -> tuple[int, int]:
    """How many controls and repeats come with ``more`` real assignments beside those ``kept``."""
    kinds = [planned.kind for planned in kept.values()]
    bad, repeats = extras(kinds.count("real") + more, settings)
    return max(0, bad - kinds.count("control")), max(0, repeats - kinds.count("repeat"))


class _Change:
    """What was there, with the ``seats`` of every unit, which an ``Allocation`` changes; then what has changed."""

    def __init__(self, open_assignments: Queues, done: Queues, panel: Sequence[JudgeSpec]) -> None:
        self.open, self.done, self.panel = open_assignments, done, panel
        self.number = {judge.label: number for number, judge in enumerate(panel)}
        self.seats: dict[Unit, Seats] = {}
        for judge, _position, planned in _each(done):
            if judge in self.number:
                one = self._seats_of(planned)
                (one.fixed if planned.kind == "real" else one.closed).add(self.number[judge])
        for judge, position, planned in _each(open_assignments):
            self._sit(judge, planned, _is_repeated(open_assignments[judge], position))

    def _sit(self, judge: str, planned: Planned, is_repeated: bool) -> None:
        """Seat the holder of an open assignment. What an open repeat shows again stays, so that it can be one."""
        one, may_keep = self._seats_of(planned), self._may_keep(judge, planned)
        if planned.kind != "real":
            one.closed |= {self.number[judge]} if may_keep else set()
        elif may_keep and is_repeated:
            one.fixed.add(self.number[judge])
        else:
            one.wanted += 1
            one.movable |= {self.number[judge]} if may_keep else set()

    def _seats_of(self, planned: Planned) -> Seats:
        return self.seats.setdefault(planned.unit, Seats(planned.unit, 0))

    def _may_keep(self, judge: str, planned: Planned) -> bool:
        """Whether ``judge`` is in the panel and may see ``planned``."""
        return judge in self.number and self.panel[self.number[judge]].barred.isdisjoint(planned.systems)

    def _stands(self, judge: str, planned: Planned) -> bool:
        """Whether an open assignment is still wanted."""
        if not self._may_keep(judge, planned):
            return False
        if planned.kind == "real":
            one = self.seats[planned.unit]
            return self.number[judge] in one.movable | one.fixed
        return True

    def kept(self, judge: str) -> dict[int, Planned]:
        """What ``judge`` has done or still has, by position."""
        still = {place: each for place, each in self.open.get(judge, {}).items() if self._stands(judge, each)}
        return {**self.done.get(judge, {}), **still}

    def void(self) -> Iterator[Position]:
        """The open assignments that are no longer wanted. A repeat is as long as its first is: both show one unit."""
        return ((judge, place) for judge, place, each in _each(self.open) if not self._stands(judge, each))

    def unassigned(self) -> Iterator[Planned]:
        """Of the open real assignments that were given back, those of units for which too few judges are found."""
        lacking = {unit: one.wanted - len(one.movable) for unit, one in self.seats.items()}
        for judge, _position, planned in _each(self.open):
            if planned.kind == "real" and not self._may_keep(judge, planned) and lacking[planned.unit] > 0:
                lacking[planned.unit] -= 1
                yield planned

    def added_reals(self, rng: random.Random) -> dict[str, list[Planned]]:
        """The real assignments that each judge of the panel gets, with their orders."""
        holders = {(each.unit, judge) for judge, _place, each in _each(self.open) if each.kind == "real"}
        slots = [
            (self.panel[number].label, unit)
            for unit, one in self.seats.items()
            for number in sorted(one.movable)
            if (unit, self.panel[number].label) not in holders
        ]
        stay = [(judge, each.systems) for judge, _place, each in _each(self.done) if each.kind == "real"]
        stay += [
            (judge, each.systems)
            for judge, _place, each in _each(self.open)
            if each.kind == "real" and self._stands(judge, each)
        ]
        orders = shown_orders([(judge, unit.group) for judge, unit in slots], rng, stay)
        found: dict[str, list[Planned]] = {judge.label: [] for judge in self.panel}
        for (judge, unit), order in zip(slots, orders, strict=True):
            found[judge].append(Planned(judge, unit.item, order))
        return found

    def controls(self, rng: random.Random) -> Controls:
        """A source of controls from the items and systems that are still open."""
        real = [each for _judge, _place, each in _each(self.open) if each.kind == "real"]
        items = sorted({each.item for each in real})
        systems = sorted({system for each in real for system in each.systems})
        return Controls(items, systems, max((len(each.systems) for each in real), default=1), rng)

    def next_position(self, judge: str) -> int:
        return max([*self.open.get(judge, {}), *self.done.get(judge, {})], default=-1) + 1


def without(assignments: Queues, system: str) -> Dropped:
    """What becomes of open ``assignments`` when ``system`` is dropped.

    A group of three or more is shortened, as the others can still be compared; every other assignment that shows the
    system is void, and so is a control that made it bad. Repeats go the way of the assignment that they repeat.
    """
    void: list[Position] = []
    shortened: dict[Position, Planned] = {}
    for judge, position, planned in _each(assignments):
        if system in planned.systems:
            made_bad = planned.bad is not None and planned.systems[planned.bad] == system
            if len(planned.systems) <= 2 or made_bad:
                void.append((judge, position))
            else:
                shortened[judge, position] = _shortened(planned, system)
    return Dropped(tuple(void), shortened)


def _shortened(planned: Planned, system: str) -> Planned:
    left = tuple(each for each in planned.systems if each != system)
    bad = None if planned.bad is None else left.index(planned.systems[planned.bad])
    return replace(planned, systems=left, bad=bad)


def _each(queues: Queues) -> Iterator[tuple[str, int, Planned]]:
    """Every assignment with its judge and position, in their order."""
    for judge in sorted(queues):
        for position in sorted(queues[judge]):
            yield judge, position, queues[judge][position]


def _is_repeated(own: Queue, position: int) -> bool:
    return any(planned.repeats == position for planned in own.values())
