"""The meta-evaluation of ``scoring.arena.meta`` on simulated panels, whose truth is known, and its speed.

systems      tau and pairwise accuracy of three metrics (their scores are the strengths with noise of 0.3, 0.8 and 2
             times the spread) on 6, 8, 10 and 20 systems: how often the interval over systems holds the mean of all
             panels, and the interval over votes the figure with the true strengths
items        acc_eq of three metrics on 30 and 100 items of eight systems: how often the interval holds the value of a
             campaign with thousands of items
speed        ten systems, 200 items, 4,000 votes, six metrics, beside the result itself
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from scoring.arena import meta_items, meta_systems
from scoring.arena.meta import evaluate
from scoring.arena.meta_scores import MetricScores
from scoring.arena.result import compute
from scoring.arena.scores import score_systems
from scoring.arena.simulation import Panel, simulate, spread_strengths
from scoring.arena.vote_records import Protocol, Votes
from tests.benchmarks.tables import markdown_table

LEVEL: Final = 0.05
PARTS: Final = ("systems", "items", "speed")
SYSTEMS: Final = (6, 8, 10, 20)
SPREAD: Final = 0.8
SYSTEM_NOISE: Final = (0.3, 0.8, 2.0)
ITEM_NOISE: Final = (0.3, 1.0, 3.0)
SPEED: Final = Panel(spread_strengths(10, SPREAD), ("good",) * 20, items=200, votes_per_judge=200)
PROTOCOLS: Final[tuple[Protocol, ...]] = ("pairwise", "rubric")


def show(arguments: Sequence[str]) -> None:
    """Run the parts asked for and print their tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks meta")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--panels", type=int, default=200)
    parser.add_argument("--truth", type=int, default=4000, help="items of the campaign that stands for the truth")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    with ProcessPoolExecutor(options.processes) as pool:
        tables_of: dict[str, Callable[[], str]] = {
            "systems": lambda: _systems_table(options.panels, pool),
            "items": lambda: _items_table(options.panels, options.truth, pool),
            "speed": _speed_table,
        }
        for number, part in enumerate(options.parts):
            print(("\n" if number else "") + tables_of[part](), flush=True)


def of_systems(systems: int, seed: int) -> dict[str, Any] | None:
    """Of one panel, by figure ("tau", "accuracy"): of each metric its value, its intervals ("systems", "votes"), and
    the value with the true strengths ("truth").
    """
    random = np.random.default_rng(seed)
    strengths = random.normal(size=systems) * SPREAD
    panel = Panel(tuple(strengths), ("good",) * 15, items=100, votes_per_judge=100, resamples=200)
    votes = simulate(panel, seed)
    scored = score_systems(votes, votes.real())
    if len(scored.systems) < systems:
        return None
    metrics = np.asarray([strengths + random.normal(size=systems) * SPREAD * noise for noise in SYSTEM_NOISE])
    pairs = meta_systems.system_pairs(scored.found, range(systems), (), LEVEL)
    found = meta_systems.agreements(pairs, metrics, resamples=500, seed=seed, level=LEVEL)
    true = replace(pairs, scores=strengths, side=pairs.signs(strengths))
    truth = meta_systems.agreements(true, metrics, resamples=1, seed=seed, level=LEVEL)
    return {name: _figures(found, truth, name) for name in ("tau", "accuracy")}


def _figures(found: Sequence[Any], truth: Sequence[Any], name: str) -> dict[str, list[Any]]:
    figures = [getattr(each, name) for each in found]
    return {
        "value": [each.value for each in figures],
        "systems": [(each.systems.low, each.systems.high) for each in figures if each.systems],
        "votes": [(each.votes.low, each.votes.high) for each in figures if each.votes],
        "truth": [getattr(each, name).value for each in truth],
    }


def of_items(items: int, protocol: Protocol, resamples: int, seed: int) -> list[tuple[float, float, float]]:
    """Of one panel acc_eq of each metric with the ends of its interval."""
    panel = Panel(spread_strengths(8, SPREAD), ("good",) * 15, items=items, votes_per_judge=items, protocol=protocol)
    votes, found = simulate(panel, seed), []
    pairs = meta_items.item_pairs(votes, [system.label for system in votes.systems])
    for number, noise in enumerate(ITEM_NOISE):
        values = _item_values(votes, panel.strengths, noise, np.random.default_rng((seed, number)))
        given = meta_items.differences(pairs, values)
        each = meta_items.accuracy(pairs, given, resamples=resamples, seed=seed, level=LEVEL)
        assert each is not None
        found.append((each.value, each.low, each.high))
    return found


def _item_values(
    votes: Votes, strengths: Sequence[float], noise: float, random: np.random.Generator
) -> dict[str, dict[str, float]]:
    return {
        system.label: {item.label: strength + random.normal() * noise for item in votes.items}
        for system, strength in zip(votes.systems, strengths, strict=True)
    }


def metrics_of(votes: Votes, strengths: Sequence[float], count: int) -> list[MetricScores]:
    """``count`` metrics, each noisier than the one before."""
    found = []
    for number in range(count):
        items = _item_values(votes, strengths, 0.2 * 2**number, np.random.default_rng(number))
        means = {label: float(np.mean(list(of.values()))) for label, of in items.items()}
        found.append(MetricScores(f"metric_{number + 1}", means, items))
    return found


def _systems_table(panels: int, pool: ProcessPoolExecutor) -> str:
    rows = []
    for systems in SYSTEMS:
        found = [each for each in pool.map(partial(of_systems, systems), range(panels)) if each]
        for number, noise in enumerate(SYSTEM_NOISE):
            told = [_told([each[name] for each in found], number) for name in ("tau", "accuracy")]
            rows.append([f"{systems} systems, noise {noise}", *told[0], *told[1]])
    head = f"Figures of {panels} panels (with true strengths: in brackets), and 95 % intervals that hold them\n\n"
    held = ("over systems", "width", "over votes", "width")
    columns = [name for figure in ("tau", "pairs right") for name in (figure, *held)]
    return head + markdown_table(("systems", *columns), rows)


def _told(found: Sequence[dict[str, list[Any]]], number: int) -> list[str]:
    """Of the metric ``number``: the mean, and how often its intervals hold it."""
    values, truth = (np.asarray([each[name][number] for each in found]) for name in ("value", "truth"))
    over_systems, over_votes = (np.asarray([each[name][number] for each in found]) for name in ("systems", "votes"))
    target = values.mean()
    return [f"{target:.2f} ({truth.mean():.2f})", *_held(over_systems, target), *_held(over_votes, truth)]


def _items_table(panels: int, truth: int, pool: ProcessPoolExecutor) -> str:
    rows = []
    for protocol in PROTOCOLS:
        targets = np.asarray(of_items(truth, protocol, 2, 1))[:, 0]
        for items in (30, 100):
            found = np.asarray(list(pool.map(partial(of_items, items, protocol, 500), range(100, 100 + panels))))
            for number, noise in enumerate(ITEM_NOISE):
                held = _held(found[:, number, 1:], targets[number])
                mean = f"{100 * found[:, number, 0].mean():.1f}"
                rows.append([f"{protocol}, {items} items, noise {noise}", f"{100 * targets[number]:.1f}", mean, *held])
    head = f"acc_eq of {panels} panels in percent, and 95 % intervals that hold that of {truth:,} items\n\n"
    return head + markdown_table(("items", "truth", "mean", "held", "width"), rows)


def _held(intervals: np.ndarray, truth: Any) -> list[str]:
    low, high = intervals[:, 0], intervals[:, 1]
    return [f"{100 * ((low <= truth + 1e-9) & (truth <= high + 1e-9)).mean():.1f} %", f"{(high - low).mean():.2f}"]


def _speed_table() -> str:
    rows = []
    for protocol in PROTOCOLS:
        votes = simulate(replace(SPEED, protocol=protocol), 1)
        metrics = metrics_of(votes, SPEED.strengths, 6)
        started = time.perf_counter()
        result = compute(votes)
        computed = time.perf_counter()
        evaluate(result, metrics)
        rows.append(
            [
                f"{protocol}, {len(votes.votes):,} votes, 6 metrics",
                f"{computed - started:.2f}",
                f"{time.perf_counter() - computed:.2f}",
            ]
        )
    return markdown_table(("seconds", "result", "meta-evaluation"), rows)
