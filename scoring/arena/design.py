"""The design of a campaign: which judge sees which systems of which item, in which order and at which position.

A design is decided by its seed: equal items, systems, judges (their labels and bars, whatever their order), settings
and seed give equal queues in every release of Python. So whoever has all of these draws the queues again
(``redrawing``), and a seed that was committed before a campaign leaves nothing in them to choose. Which person has
which label of a judge is not of the seed, nor who is barred.

* Units (``grouping``): all pairs of systems meet about equally often; with two systems to a unit the counts differ by
  1 at most, also with bars.
* Judges (``allocating``): loads differ by 1 at most without bars, and with bars as little as any distribution of the
  units allows. Nobody gets a unit twice or a system of their bars.
* Orders (``ordering``): left and right balanced for every judge and every pair.
* Controls and repeats (``queues``): the shares asked for, spread over the queue.

A panel that changes during a campaign is the part of ``reassigning``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb
from typing import Final

from scoring.arena.allocating import Allocation, Seats
from scoring.arena.balance import Balance, balance
from scoring.arena.draws import draws
from scoring.arena.grouping import units_of
from scoring.arena.ordering import shown_orders
from scoring.arena.planned import (
    DesignImpossible,
    JudgeSpec,
    NothingToJudge,
    NumberOutOfRange,
    Planned,
    Settings,
    SharesTooHigh,
    TooFewJudges,
    TooFewSystems,
    TooManyUnits,
    Unit,
)
from scoring.arena.queues import GAP, Controls, extras, queue
from scoring.arena.reassigning import Dropped, Reassigned, reassign, without

__all__ = [
    "GAP",
    "Balance",
    "DesignImpossible",
    "Dropped",
    "JudgeSpec",
    "Planned",
    "Reassigned",
    "Settings",
    "balance",
    "plan",
    "reassign",
    "without",
]

MOST_EXTRAS: Final = 0.5  # of a queue, controls and repeats together
_HIGHEST: Final = 1_000_000


def plan(
    items: Iterable[str], systems: Iterable[str], judges: Iterable[JudgeSpec], settings: Settings, seed: str
) -> dict[str, tuple[Planned, ...]]:
    """The queue of each judge, in the order of their labels; one whose bars leave nothing has an empty one.

    Raises ``DesignImpossible``, which names the number to change, and ``ValueError`` for a label given twice.
    """
    all_items, all_systems = _distinct("item", items), _distinct("system", systems)
    panel = sorted(judges, key=lambda judge: judge.label)
    _distinct("judge", (judge.label for judge in panel))
    _require(all_items, all_systems, panel, settings)
    units = units_of(all_items, all_systems, panel, settings, draws(seed, "units"))
    slots = _allocated(units, panel, settings, seed)
    orders = shown_orders([(judge, unit.group) for judge, unit in slots], draws(seed, "orders"))
    real: dict[str, list[Planned]] = {judge.label: [] for judge in panel}
    for (judge, unit), order in zip(slots, orders, strict=True):
        real[judge].append(Planned(judge, unit.item, order))
    return _queues(
        real, panel, Controls(all_items, all_systems, settings.group, draws(seed, "controls")), settings, seed
    )


def _distinct(kind: str, labels: Iterable[str]) -> list[str]:
    found = sorted(labels)
    if len(set(found)) < len(found):
        raise ValueError(f"a label of an {kind} stands twice")
    return found


def _require(items: Sequence[str], systems: Sequence[str], judges: Sequence[JudgeSpec], settings: Settings) -> None:
    """Raise ``DesignImpossible`` for numbers that contradict each other, whatever the bars are."""
    if not (items and systems and judges):
        raise NothingToJudge(items=len(items), systems=len(systems), judges=len(judges))
    for name in ("group", "units_per_item", "judges_per_unit"):
        if not 1 <= getattr(settings, name) <= _HIGHEST:
            raise NumberOutOfRange(setting=name, value=getattr(settings, name), low=1, high=_HIGHEST)
    for name in ("control_share", "repeat_share"):
        if not 0 <= getattr(settings, name) <= MOST_EXTRAS:
            raise NumberOutOfRange(setting=name, value=getattr(settings, name), low=0, high=MOST_EXTRAS)
    share = settings.control_share + settings.repeat_share
    if share > MOST_EXTRAS:
        raise SharesTooHigh(share=share, most=MOST_EXTRAS)
    if settings.group > len(systems):
        raise TooFewSystems(group=settings.group, systems=len(systems))
    if settings.units_per_item > comb(len(systems), settings.group):
        raise TooManyUnits(units=settings.units_per_item, most=comb(len(systems), settings.group))
    if settings.judges_per_unit > len(judges):
        raise TooFewJudges(panel=settings.judges_per_unit, judges=len(judges))


def _allocated(
    units: Sequence[Unit], panel: Sequence[JudgeSpec], settings: Settings, seed: str
) -> list[tuple[str, Unit]]:
    """Every judge of every unit."""
    seats = [Seats(unit, settings.judges_per_unit) for unit in units]
    allocation = Allocation(seats, panel, draws(seed, "judges"))
    allocation.fill()
    allocation.level()
    return [(panel[judge].label, one.unit) for one in seats for judge in sorted(one.movable)]


def _queues(
    real: dict[str, list[Planned]], panel: Sequence[JudgeSpec], controls: Controls, settings: Settings, seed: str
) -> dict[str, tuple[Planned, ...]]:
    """The queues with controls and repeats: as many for judges whose loads differ by 1."""
    least = min(map(len, real.values()))
    found = {}
    for judge in panel:
        own = real[judge.label]
        bad, repeats = extras(least if len(own) == least + 1 else len(own), settings)
        rng = draws(seed, "queue", judge.label)
        found[judge.label] = queue(own, controls.of(judge, own, bad), repeats, rng)
    return found
