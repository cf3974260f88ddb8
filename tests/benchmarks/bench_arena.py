"""The statistics of ``scoring.arena`` on simulated panels, whose truth is known, and their speed.

coverage     intervals of the strengths, of the differences of all pairs and of the order effect: how often they hold
             the truth (``simulation.true_parameters``), on panels of good judges
judges       who is flagged, on panels that also have fast, tired, position-biased and random judges, with the share of
             controls that a campaign has unless its organisers change it, and with twice as many
ratings      coverage of rankings, rubrics and errors; their truth is the mean over all panels
agreement    the largest difference of alpha from the package krippendorff, over pairs, rubrics and marked errors
speed        one fit of 20,000 votes, its bootstrap, and the whole result; beside choix without ties and order

Panels have ten teams and, where a row says no other, 200 items and 20 judges; strengths are evenly spaced with a
deviation of 0.8 logits, 20 % ties between equals, systems that vary by 0.3 on items and by 0.2 to judges, an order
effect of 0.3.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache, partial
from typing import Any, Final

import choix
import krippendorff
import numpy as np

from scoring.arena.agreement import alpha_interval
from scoring.arena.bradley_terry import FIRST, SECOND, fit
from scoring.arena.comparisons import Comparisons, comparisons
from scoring.arena.quality import judge_qualities
from scoring.arena.ranks import pairs, standings
from scoring.arena.result import compute
from scoring.arena.scores import score_systems
from scoring.arena.simulation import Behaviour, Panel, simulate, spread_strengths, true_parameters
from scoring.arena.verdicts import tables
from tests.benchmarks.tables import interleaved, markdown_table, say

LEVEL: Final = 0.05
ORDER: Final = 0.3
AGREEMENT_PANELS: Final = 50  # at most: the package takes a second for a large table
GOOD: Final = Panel(spread_strengths(10, 0.8), ("good",) * 20, items=200, votes_per_judge=100, order_effect=ORDER)
COVERAGE: Final[dict[str, dict[str, Any]]] = {
    "100 votes a judge": {},
    "likewise, more variation (0.6 and 0.5)": {"item_spread": 0.6, "judge_spread": 0.5},
    "8 judges, 40 items, 60 votes a judge": {"judges": ("good",) * 8, "items": 40, "votes_per_judge": 60},
    "5 judges, 20 items, 60 votes a judge": {"judges": ("good",) * 5, "items": 20, "votes_per_judge": 60},
    "likewise, one team far ahead": {
        "judges": ("good",) * 5,
        "items": 20,
        "votes_per_judge": 60,
        "strengths": (3.0, *spread_strengths(9, 0.5)),
    },
}
KINDS: Final[tuple[Behaviour, ...]] = (
    *("good",) * 12, *("fast",) * 2, *("tired",) * 2, *("position",) * 2, *("random",) * 2,
)  # fmt: skip
MIXED: Final = tuple(replace(GOOD, judges=KINDS, control_share=share, repeat_share=share) for share in (0.05, 0.1))
PARTS: Final = ("coverage", "judges", "ratings", "agreement", "speed")
SPEED: Final = replace(GOOD, items=1000, judges=("good",) * 40, votes_per_judge=556)  # 20,000 of them real


def show(arguments: Sequence[str]) -> None:
    """Run the parts asked for and print their tables."""
    options = _options(arguments)
    panels = options.panels
    with ProcessPoolExecutor(options.processes) as pool:
        tables_of: dict[str, Callable[[], str]] = {
            "coverage": lambda: _coverage_table(panels, options.resamples, pool),
            "judges": lambda: "\n\n".join(_judges_table(each, panels, pool) for each in MIXED),
            "ratings": lambda: _ratings_table(panels, pool),
            "agreement": lambda: _agreement_table(min(panels, AGREEMENT_PANELS), pool),
            "speed": lambda: _speed_table(options.votes, options.rounds),
        }
        for number, part in enumerate(options.parts):
            print(("\n" if number else "") + tables_of[part](), flush=True)


truth_of = cache(true_parameters)


def covered(panel: Panel, seed: int) -> dict[str, Any]:
    """Of one panel: which intervals hold the truth, their width, the order effect, and whether all true ranks are in
    their ranges.
    """
    votes = simulate(panel, seed)
    scored = score_systems(votes, votes.real())
    strengths, order, _tie = truth_of(panel)
    count = len(strengths)
    figures = [scored.found.figure(at, LEVEL) for at in range(count)]
    tested = pairs(scored.found, count, LEVEL)
    placed = standings(scored.scores.tolist(), tested, LEVEL)
    effect = scored.found.figure(count, LEVEL)
    return {
        "votes": len(votes.real()),
        "strengths": [each.low <= truth <= each.high for each, truth in zip(figures, strengths, strict=True)],
        "widths": [each.high - each.low for each in figures],
        "pairs": [
            each.difference.low <= strengths[each.one] - strengths[each.other] <= each.difference.high
            for each in tested
        ],
        "told apart": [each.adjusted <= LEVEL for each in tested],
        "order": effect.value,
        "order held": effect.low <= order <= effect.high,
        "ranks held": all(each.best <= rank <= each.worst for rank, each in enumerate(placed, start=1)),
    }


def flagged(panel: Panel, seed: int) -> list[tuple[str, tuple[str, ...]]]:
    """Of every judge of one panel the kind and the flags."""
    found = judge_qualities(simulate(panel, seed))
    return [(kind, each.flags) for kind, each in zip(panel.judges, found, strict=True)]


def rated(panel: Panel, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores and the ends of their intervals."""
    votes = simulate(panel, seed)
    scored = score_systems(votes, votes.real())
    figures = [scored.found.figure(at, LEVEL) for at in range(len(panel.strengths))]
    return scored.scores, np.asarray([each.low for each in figures]), np.asarray([each.high for each in figures])


def _over(work: Callable[..., Any], panel: Panel, panels: int, pool: ProcessPoolExecutor) -> list[Any]:
    return list(pool.map(partial(work, panel), range(panels), chunksize=1))


def _coverage_table(panels: int, resamples: int, pool: ProcessPoolExecutor) -> str:
    rows = []
    for name, changes in COVERAGE.items():
        panel = replace(GOOD, resamples=resamples, **changes)
        found = _over(covered, panel, panels, pool)
        say(f"  coverage, {name}: done")
        order = np.asarray([each["order"] for each in found])
        rows.append(
            [
                f"{name}, {found[0]['votes']} real",
                _percent([hit for each in found for hit in each["strengths"]]),
                _percent([hit for each in found for hit in each["pairs"]]),
                _percent([each["order held"] for each in found]),
                _percent([each["ranks held"] for each in found]),
                f"{np.median([width for each in found for width in each['widths']]):.2f}",
                _percent([hit for each in found for hit in each["told apart"]]),
                f"{order.mean():.3f} (each {order.std():.3f})",
                f"{np.sqrt(np.mean((order - truth_of(panel)[1]) ** 2)):.3f}",
            ]
        )
    truth = truth_of(GOOD)[1]
    columns = ("panels", "strengths", "differences", "order effect", "all ranks", "width", "told apart")
    head = (
        f"95 % intervals that hold the truth, {panels} panels of 10 teams, 200 items and 20 judges if not said "
        f"otherwise, {resamples} resamples; an order effect of {ORDER} tends to {truth:.3f} in the first, as judges "
        "and items vary\n\n"
    )
    return head + markdown_table((*columns, f"order effect of {ORDER}", "its RMSE of one panel"), rows)


def _judges_table(panel: Panel, panels: int, pool: ProcessPoolExecutor) -> str:
    found = [one for judges in _over(flagged, panel, panels, pool) for one in judges]
    say("  judges: done")
    every, any_flag = Counter(kind for kind, _ in found), Counter(kind for kind, flags in found if flags)
    by_flag = Counter((kind, flag) for kind, flags in found for flag in flags)
    rows = [
        [
            kind,
            str(every[kind]),
            _share(any_flag[kind], every[kind]),
            *(_share(by_flag[kind, flag], every[kind]) for flag in ("controls", "random", "position")),
        ]
        for kind in dict.fromkeys(KINDS)
    ]
    extra = round(panel.control_share * panel.votes_per_judge)
    real = panel.votes_per_judge - 2 * extra
    head = (
        f"Judges flagged, {panels} panels of these kinds, {panel.votes_per_judge} votes a judge: {real} real, {extra} "
        f"controls, {extra} repeats\n\n"
    )
    return head + markdown_table(("judges", "number", "flagged", "controls", "random", "position"), rows)


def _ratings_table(panels: int, pool: ProcessPoolExecutor) -> str:
    rows = []
    for protocol in ("ranking", "rubric", "errors"):
        panel = replace(GOOD, protocol=protocol)  # type: ignore[arg-type]
        values, lows, highs = map(np.asarray, zip(*_over(rated, panel, panels, pool), strict=True))
        truth = values.mean(axis=0)
        held = (lows <= truth) & (truth <= highs)
        rows.append([protocol, f"{100 * held.mean():.1f} %", f"{np.median(highs - lows):.2f}"])
        say(f"  {protocol}: done")
    head = f"95 % intervals of scores, of ratings standardised ones, that hold the mean over the {panels} panels\n\n"
    return head + markdown_table(("protocol", "scores", "width"), rows)


def alphas(panel: Panel, seed: int) -> list[float]:
    """Of every table of one panel how far alpha is from that of the package."""
    found = []
    for table, metric in tables(simulate(panel, seed)).values():
        own = alpha_interval(table, metric, resamples=1, seed="", level=0.05).value
        if own is not None:
            given = table.counts[:, table.counts.sum(axis=0) > 0]
            theirs = krippendorff.alpha(value_counts=given, level_of_measurement=metric)
            found.append(abs(own - theirs))
    return found


def _agreement_table(panels: int, pool: ProcessPoolExecutor) -> str:
    rows = []
    for protocol in ("pairwise", "rubric", "errors"):
        panel = replace(GOOD, protocol=protocol)  # type: ignore[arg-type]
        found = [each for one in _over(alphas, panel, panels, pool) for each in one]
        rows.append([protocol, str(len(found)), f"{max(found):.1e}"])
    head = "Krippendorff's alpha beside the package krippendorff\n\n"
    return head + markdown_table(("protocol", "tables", "largest difference"), rows)


def _speed_table(votes_wanted: int, rounds: int) -> str:
    per_judge = round(votes_wanted / len(SPEED.judges) / (1 - SPEED.control_share - SPEED.repeat_share))
    votes = simulate(replace(SPEED, votes_per_judge=per_judge), 1)
    real = votes.real()
    compared = comparisons(real, votes.counting)
    plain = _decided(compared)
    ways: dict[str, Callable[[], Any]] = {
        "fit of counted votes": lambda: fit(compared.counts()),
        "the same without ties and order": lambda: fit(compared.counts(), has_order=False, has_ties=False),
        "choix.ilsr_pairwise, likewise": lambda: choix.ilsr_pairwise(10, plain, max_iter=1000, tol=1e-12),
        "fit and 3 x 2,000 resamples": lambda: score_systems(votes, real),
        "whole result": lambda: compute(votes),
    }
    measured = interleaved(ways, rounds)
    rows = [[name, f"{each.median_s:.3f}"] for name, each in measured.items()]
    theirs = measured["choix.ilsr_pairwise, likewise"].result
    ours = measured["the same without ties and order"].result.strengths[0]
    difference = np.abs(ours - (theirs - theirs.mean())).max()
    order = measured["fit of counted votes"].result.order[0]
    head = (
        f"{len(real)} votes, {len(plain)} of them decided, 10 teams, 1,000 items, 40 judges; the largest difference of "
        f"a strength from choix: {difference:.1e}; order effect of {ORDER} found as {order:.3f}\n\n"
    )
    return head + markdown_table(("what", "s"), rows)


def _decided(compared: Comparisons) -> list[tuple[int, int]]:
    """(winner, loser) of every comparison that is decided."""
    sides = zip(compared.first.tolist(), compared.second.tolist(), compared.outcome.tolist(), strict=True)
    return [(a, b) if outcome == FIRST else (b, a) for a, b, outcome in sides if outcome in (FIRST, SECOND)]


def _percent(hits: Sequence[bool]) -> str:
    return f"{100 * np.mean(hits):.1f} %"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks arena")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--panels", type=int, default=500)
    parser.add_argument("--resamples", type=int, default=500)
    parser.add_argument("--votes", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=2)
    return parser.parse_args(arguments)
