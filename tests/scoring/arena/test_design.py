"""Designs of campaigns, counted by plain loops: nothing here asks ``balance`` whether a design is balanced."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from itertools import combinations
from typing import Any

import pytest

from scoring.arena.design import JudgeSpec, Planned, Settings, balance, plan, reassign, without
from scoring.arena.planned import (
    NAMES,
    DesignImpossible,
    NobodyMaySee,
    NothingToJudge,
    NumberOutOfRange,
    SharesTooHigh,
    TooFewJudges,
    TooFewMaySee,
    TooFewSystems,
    TooManyUnits,
)
from scoring.arena.queues import GAP

Design = dict[str, tuple[Planned, ...]]


def labels(letter: str, count: int) -> list[str]:
    return [f"{letter}{number:03}" for number in range(1, count + 1)]


def panel(count: int, bars: dict[int, set[str]] | None = None) -> list[JudgeSpec]:
    barred = bars or {}
    return [JudgeSpec(label, frozenset(barred.get(at, ()))) for at, label in enumerate(labels("D", count))]


def design(items: int, systems: int, judges: Any, seed: str = "seed", **settings: Any) -> Design:
    given = {"group": 2, "units_per_item": 1, "judges_per_unit": 2} | settings
    people = panel(judges) if isinstance(judges, int) else judges
    return plan(labels("I", items), labels("S", systems), people, Settings(**given), seed)


def reals(found: Design) -> list[Planned]:
    return [each for queue in found.values() for each in queue if each.kind == "real"]


def units(found: Design) -> dict[tuple[str, tuple[str, ...]], list[str]]:
    """The judges of every unit."""
    held: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for each in reals(found):
        held.setdefault((each.item, tuple(sorted(each.systems))), []).append(each.judge)
    return held


def spread(counts: Any) -> int:
    known = list(counts)
    return max(known) - min(known)


def check(found: Design, items: int, systems: int, judges: list[JudgeSpec], settings: Settings) -> None:
    """What every design keeps, with bars or without."""
    held = units(found)
    assert len(held) == items * settings.units_per_item
    assert Counter(item for item, _group in held) == dict.fromkeys(labels("I", items), settings.units_per_item)
    barred = {judge.label: judge.barred for judge in judges}
    for (_item, group), holders in held.items():
        assert len(set(group)) == settings.group
        assert len(holders) == len(set(holders)) == settings.judges_per_unit
    for judge, queue in found.items():
        for place, each in enumerate(queue):
            assert each.judge == judge
            assert not barred[judge] & set(each.systems)
            if each.kind == "repeat":
                first = queue[each.repeats]
                assert each.repeats <= place - GAP
                assert (first.kind, first.item) == ("real", each.item)
                assert each.systems == first.systems[::-1]
            assert (each.bad is not None) == (each.kind == "control")
    met = Counter(pair for _item, group in held for pair in combinations(group, 2))
    pairs = list(combinations(labels("S", systems), 2))
    if settings.group == 2:
        assert spread(met[pair] for pair in pairs) <= 1


@pytest.mark.parametrize(
    ("items", "systems", "judges", "numbers"),
    [
        (60, 6, 8, Settings(2, 1, 2)),
        (45, 10, 7, Settings(2, 3, 2)),
        (12, 3, 2, Settings(2, 3, 2)),
        (40, 5, 6, Settings(1, 5, 3)),
        (30, 7, 5, Settings(4, 2, 2)),
        (9, 4, 4, Settings(4, 1, 4)),
        (1, 2, 1, Settings(2, 1, 1)),
        (100, 50, 12, Settings(2, 13, 1)),
        (31, 6, 9, Settings(2, 1, 1, 0.0, 0.0)),
        (31, 6, 9, Settings(2, 1, 1, 0.25, 0.25)),
    ],
)
def test_a_design_without_bars_is_even(items: int, systems: int, judges: int, numbers: Settings) -> None:
    people = panel(judges)
    for seed in ("a", "b", "c"):
        found = plan(labels("I", items), labels("S", systems), people, numbers, seed)
        check(found, items, systems, people, numbers)
        assert spread(Counter(each.judge for each in reals(found))[judge.label] for judge in people) <= 1
        assert spread(Counter(system for each in reals(found) for system in each.systems).values()) <= max(
            2, numbers.judges_per_unit
        )


def test_left_and_right_are_even_for_every_pair_and_every_judge() -> None:
    found = design(180, 6, 6, units_per_item=1, judges_per_unit=2)
    turned = Counter(each.systems for each in reals(found))
    for one, other in combinations(labels("S", 6), 2):
        assert abs(turned[one, other] - turned[other, one]) <= 1
    first, shown = Counter(), Counter()
    for each in reals(found):
        first[each.judge, each.systems[0]] += 1
        for system in each.systems:
            shown[each.judge, system] += 1
    assert all(abs(first[key] - count / 2) <= 1.5 for key, count in shown.items())


@pytest.mark.parametrize(
    ("items", "systems", "judges", "group"), [(100, 10, 10, 4), (100, 8, 10, 3), (30, 6, 8, 5), (45, 12, 8, 4)]
)
def test_rankings_are_even_too(items: int, systems: int, judges: int, group: int) -> None:
    """Pairs within two units; every system is shown first as often as any other, within one of its share."""
    found = design(items, systems, judges, group=group)
    met = Counter(pair for _item, shown in units(found) for pair in combinations(shown, 2))
    assert spread(met[pair] for pair in combinations(labels("S", systems), 2)) <= 2
    first = Counter(each.systems[0] for each in reals(found))
    shown = Counter(system for each in reals(found) for system in each.systems)
    assert all(abs(first[system] - shown[system] / group) <= 1 for system in labels("S", systems))


@pytest.mark.parametrize("share", [0.0, 0.05, 0.1, 0.2])
def test_controls_and_repeats_are_as_many_as_asked_for_and_spread(share: float) -> None:
    found = design(200, 5, 5, units_per_item=1, judges_per_unit=2, control_share=share, repeat_share=share)
    for queue in found.values():
        kinds = Counter(each.kind for each in queue)
        for kind in ("control", "repeat"):
            assert abs(kinds[kind] - share * len(queue)) <= 1
        controls = [place for place, each in enumerate(queue) if each.kind == "control"]
        halves = Counter(place < len(queue) / 2 for place in controls)
        assert abs(halves[True] - halves[False]) <= 2
        sides = Counter(each.bad for each in queue if each.kind == "control")
        assert abs(sides[0] - sides[1]) <= 1


def test_bars_hold_and_the_pairs_stay_even() -> None:
    systems = labels("S", 8)
    people = panel(8, {at: {systems[at]} for at in range(8)})  # everybody is from the institution of one team
    settings = Settings(2, 2, 2)
    found = plan(labels("I", 84), systems, people, settings, "bars")
    check(found, 84, 8, people, settings)
    loads = Counter(each.judge for each in reals(found))
    assert spread(loads[judge.label] for judge in people) <= 1


def test_a_judge_who_may_see_nothing_has_an_empty_queue() -> None:
    systems = labels("S", 3)
    people = panel(4, {0: set(systems[:2])})
    found = plan(labels("I", 30), systems, people, Settings(2, 1, 2), "one out")
    check(found, 30, 3, people, Settings(2, 1, 2))
    assert found["D001"] == ()


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (NothingToJudge, {"items": 0}),
        (NothingToJudge, {"judges": 0}),
        (TooFewSystems, {"group": 9}),
        (TooManyUnits, {"units_per_item": 16}),
        (TooFewJudges, {"judges_per_unit": 6}),
        (SharesTooHigh, {"control_share": 0.3, "repeat_share": 0.3}),
        (NumberOutOfRange, {"units_per_item": 0}),
        (NumberOutOfRange, {"control_share": -0.1}),
        (NobodyMaySee, {"judges": panel(5, {at: {"S001"} for at in range(5)})}),
        (TooFewMaySee, {"judges": panel(5, {at: {"S001"} for at in range(4)})}),
    ],
)
def test_what_cannot_be_designed_says_which_number_to_change(
    error: type[DesignImpossible], arguments: dict[str, Any]
) -> None:
    given = {"items": 20, "systems": 6, "judges": 5} | arguments
    with pytest.raises(error) as caught:
        design(given.pop("items"), given.pop("systems"), given.pop("judges"), **given)
    korean, english = caught.value.message("ko"), caught.value.message("en")
    assert korean != english
    assert not set("{_") & set(korean + english), "numbers are called as in the form"


@pytest.mark.parametrize(
    ("arguments", "field", "low", "high"),
    [
        ({"units_per_item": 1_000_001}, "units_per_item", 1, 1_000_000),
        ({"group": 0}, "group", 1, 1_000_000),
        ({"control_share": 0.51}, "control_share", 0, 0.5),
        ({"repeat_share": -0.01}, "repeat_share", 0, 0.5),
    ],
)
def test_a_number_out_of_range_is_told_with_its_range(
    arguments: dict[str, Any], field: str, low: float, high: float
) -> None:
    with pytest.raises(NumberOutOfRange) as caught:
        design(20, 6, 5, **arguments)
    assert (caught.value.params["setting"], caught.value.params["low"], caught.value.params["high"]) == (
        field, low, high,
    )  # fmt: skip


def test_every_number_has_its_name_in_both_languages() -> None:
    assert set(NAMES) == {field.name for field in fields(Settings)}
    for name in NAMES:
        error = NumberOutOfRange(setting=name, value=0, low=1, high=2)
        assert NAMES[name].text("ko") in error.message("ko")
        assert NAMES[name].text("en") in error.message("en")


def test_the_ends_of_the_ranges_are_within_them() -> None:
    with pytest.raises(TooManyUnits):
        design(20, 6, 5, units_per_item=1_000_000)
    found = design(20, 6, 5, control_share=0.5, repeat_share=0.0)
    kinds = Counter(each.kind for queue in found.values() for each in queue)
    assert kinds["control"] == kinds["real"]


def test_who_has_one_assignment_more_has_no_control_more() -> None:
    found = design(25, 4, 4, judges_per_unit=1, control_share=0.16, repeat_share=0.16)
    counted = [Counter(each.kind for each in queue) for queue in found.values()]
    assert sorted(kinds["real"] for kinds in counted) == [6, 6, 6, 7]
    assert {kinds["control"] for kinds in counted} == {1}


@pytest.mark.parametrize("given", ["items", "systems", "judges"])
def test_a_label_given_twice_is_refused(given: str) -> None:
    labelled: dict[str, list[Any]] = {"items": labels("I", 20), "systems": labels("S", 5), "judges": panel(4)}
    labelled[given] = [*labelled[given], labelled[given][0]]
    with pytest.raises(ValueError, match="stands twice"):
        plan(**labelled, settings=Settings(2, 1, 2), seed="seed")


def test_a_design_is_decided_by_its_seed_alone() -> None:
    people = panel(6)
    one = plan(labels("I", 40), labels("S", 5), people, Settings(2, 2, 2), "seed")
    again = plan(labels("I", 40)[::-1], labels("S", 5)[::-1], people[::-1], Settings(2, 2, 2), "seed")
    assert one == again
    assert one != plan(labels("I", 40), labels("S", 5), people, Settings(2, 2, 2), "seed 2")


def test_the_same_seed_gives_the_same_design_in_every_release() -> None:
    """Frozen: a published seed must give its design for as long as anybody may check it."""
    found = plan(labels("I", 4), labels("S", 3), panel(2), Settings(2, 1, 1, 0.0, 0.0), "frozen")
    assert [(each.judge, each.item, each.systems) for each in reals(found)] == FROZEN


FROZEN = [
    ("D001", "I002", ("S002", "S003")),
    ("D001", "I003", ("S003", "S001")),
    ("D002", "I004", ("S002", "S001")),
    ("D002", "I001", ("S001", "S002")),
]


def test_the_figures_are_those_of_plain_loops() -> None:
    found = design(50, 6, 7, units_per_item=2, judges_per_unit=2)
    figures = balance(found)
    real, held = reals(found), units(found)
    met = Counter(pair for _item, group in held for pair in combinations(group, 2))
    pairs = list(combinations(labels("S", 6), 2))
    assert (figures.units, figures.assignments) == (len(held), len(real))
    assert figures.pairs == (min(met[pair] for pair in pairs), max(met[pair] for pair in pairs))
    loads = Counter(each.judge for each in real)
    assert figures.loads == (min(loads.values()), max(loads.values()))
    assert figures.controls == sum(each.kind == "control" for queue in found.values() for each in queue)
    turned = Counter(each.systems for each in real)
    assert figures.first_by_pair == max(abs(turned[pair] - turned[pair[::-1]]) for pair in pairs)
    assert figures.idle == ()


def after(found: Design, progress: float) -> tuple[dict[str, dict[int, Planned]], dict[str, dict[int, Planned]]]:
    """What is open and what is done when every judge has worked off this part of the queue."""
    still: dict[str, dict[int, Planned]] = {}
    done: dict[str, dict[int, Planned]] = {}
    for judge, queue in found.items():
        line = round(progress * len(queue))
        done[judge] = {place: each for place, each in enumerate(queue) if place < line}
        still[judge] = {place: each for place, each in enumerate(queue) if place >= line}
    return still, done


def changed(still: Any, done: Any, judges: list[JudgeSpec], settings: Settings) -> dict[str, dict[int, Planned]]:
    """Every judge's queue, done and open, after the panel became ``judges``."""
    moved = reassign(still, done, judges, "seed", 1, settings)
    assert moved.unassigned == ()
    queues = {judge: {**done.get(judge, {}), **still.get(judge, {})} for judge in {*still, *done}}
    for judge, place in moved.void:
        del queues[judge][place]
    for judge, added in moved.added.items():
        own = queues.setdefault(judge, {})
        for place, each in enumerate(added, start=moved.starts[judge]):
            assert place not in own
            own[place] = each
    return queues


@pytest.mark.parametrize("progress", [0.0, 0.4, 0.9])
def test_a_judge_who_leaves_is_replaced_unit_by_unit(progress: float) -> None:
    settings, people = Settings(2, 2, 2), panel(8)
    found = plan(labels("I", 60), labels("S", 6), people, settings, "seed")
    still, done = after(found, progress)
    queues = changed(still, done, people[1:], settings)
    held: dict[Any, list[str]] = {}
    for judge, own in queues.items():
        for each in own.values():
            if each.kind == "real":
                held.setdefault(each.unit, []).append(judge)
                assert judge != "D001" or each in done["D001"].values()
    assert len(held) == 120
    assert all(len(holders) == len(set(holders)) == 2 for holders in held.values())
    loads = Counter(judge for holders in held.values() for judge in holders)
    assert spread(loads[judge.label] for judge in people[1:]) <= 1
    for own in queues.values():
        for place, each in own.items():
            if each.kind == "repeat":
                assert own[each.repeats].unit == each.unit
                assert own[each.repeats].kind == "real"
                assert each.repeats < place


def test_a_judge_who_comes_late_takes_a_fair_share_of_what_is_open() -> None:
    settings, people = Settings(2, 2, 2), panel(5)
    found = plan(labels("I", 60), labels("S", 6), people, settings, "seed")
    still, done = after(found, 0.3)
    queues = changed(still, done, [*people, JudgeSpec("D006")], settings)
    loads = {judge: sum(each.kind == "real" for each in own.values()) for judge, own in queues.items()}
    assert sum(loads.values()) == 240
    assert spread(loads.values()) <= 1
    fresh = queues["D006"].values()
    assert 0 < sum(each.kind == "control" for each in fresh) <= 3
    again = changed(still, done, [*people, JudgeSpec("D006")], settings)
    assert again == queues


def test_what_nobody_can_take_over_is_named() -> None:
    systems = labels("S", 3)
    people = [JudgeSpec("D001"), JudgeSpec("D002", frozenset(systems[:1])), JudgeSpec("D003", frozenset(systems[1:2]))]
    settings = Settings(2, 1, 1, 0.0, 0.0)
    found = plan(labels("I", 30), systems, people, settings, "seed")
    still, done = after(found, 0.0)
    lost = reassign(still, done, people[1:], "seed", 1, settings).unassigned
    expected = [each for each in found["D001"] if {"S001", "S002"} == set(each.systems)]
    assert sorted(each.item for each in lost) == sorted(each.item for each in expected) != []


def test_a_dropped_system_takes_its_pairs_along_and_leaves_the_others_even() -> None:
    found = design(90, 6, 6, units_per_item=1, judges_per_unit=2)
    dropped = without({judge: dict(enumerate(queue)) for judge, queue in found.items()}, "S004")
    gone = set(dropped.void)
    assert dropped.shortened == {}
    left = []
    for judge, queue in found.items():
        for place, each in enumerate(queue):
            assert ((judge, place) in gone) == ("S004" in each.systems)
            if each.kind == "real" and (judge, place) not in gone:
                left.append(each)
    turned = Counter(tuple(sorted(each.systems)) for each in left)
    assert len(turned) == 10
    assert spread(turned.values()) <= 2  # judges_per_unit times the difference of units


def test_a_group_of_more_is_shortened_by_a_dropped_system() -> None:
    found = design(20, 5, 4, group=4, units_per_item=1, judges_per_unit=2, control_share=0.2, repeat_share=0.1)
    queues = {judge: dict(enumerate(queue)) for judge, queue in found.items()}
    dropped = without(queues, "S002")
    for judge, queue in queues.items():
        for place, each in queue.items():
            if "S002" not in each.systems:
                assert (judge, place) not in dropped.shortened
                assert (judge, place) not in dropped.void
            elif each.bad is not None and each.systems[each.bad] == "S002":
                assert (judge, place) in dropped.void
            else:
                left = dropped.shortened[judge, place]
                assert left.systems == tuple(system for system in each.systems if system != "S002")
                if each.bad is not None:
                    assert left.systems[left.bad] == each.systems[each.bad]


def test_a_large_campaign_is_designed() -> None:
    people = panel(40, {at: {f"S{at % 10 + 1:03}"} for at in range(0, 40, 3)})
    settings = Settings(2, 3, 2)
    found = plan(labels("I", 1000), labels("S", 10), people, settings, "large")
    check(found, 1000, 10, people, settings)
    assert spread(Counter(each.judge for each in reals(found)).values()) <= 1
