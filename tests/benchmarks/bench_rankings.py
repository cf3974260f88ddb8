"""Intervals of campaigns that rank outputs, with 5, 8 and 20 judges: how often those of scores and of the differences
of all pairs hold the mean over the panels. Four outputs at once; teams, ties and variation as in ``bench_arena``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from scoring.arena.scores import score_systems
from scoring.arena.simulation import Panel, simulate
from tests.benchmarks.bench_arena import GOOD, LEVEL
from tests.benchmarks.tables import markdown_table, say

RANKINGS: Final = replace(GOOD, protocol="ranking")
PANELS: Final = {
    "5 judges, 20 items, 60 rankings a judge": replace(RANKINGS, judges=("good",) * 5, items=20, votes_per_judge=60),
    "8 judges, 40 items, 60 rankings a judge": replace(RANKINGS, judges=("good",) * 8, items=40, votes_per_judge=60),
    "20 judges, 200 items, 100 rankings a judge": RANKINGS,
}


def show(arguments: Sequence[str]) -> None:
    """Print a line for each kind of panel."""
    options = _options(arguments)
    rows = []
    with ProcessPoolExecutor(options.processes) as pool:
        for name, panel in PANELS.items():
            drawn = replace(panel, resamples=options.resamples)
            rows.append([name, *row_of(list(pool.map(partial(scored, drawn), range(options.panels), chunksize=1)))])
            say(f"  {name}: done")
    table = markdown_table(("panels", "scores", "differences", "width of a score's"), rows)
    head = f"95 % intervals that hold the mean over {options.panels} panels of 10 teams, {options.resamples} resamples"
    print(f"{head}\n\n{table}", flush=True)


def scored(panel: Panel, seed: int) -> np.ndarray:
    """Value, low and high end of every score and then of every difference of one panel, (figures, 3)."""
    votes = simulate(panel, seed)
    found, count = score_systems(votes, votes.real()).found, len(panel.strengths)
    figures = [found.figure(at, LEVEL) for at in range(count)]
    figures += [found.difference(one, other, LEVEL) for one in range(count) for other in range(one)]
    return np.asarray([(each.value, each.low, each.high) for each in figures])


def row_of(panels: Sequence[np.ndarray]) -> list[str]:
    """How often the intervals of scores and of differences hold the mean, and the median width of a score's."""
    values, lows, highs = np.moveaxis(np.asarray(panels), 2, 0)
    truth, count = values.mean(axis=0), len(RANKINGS.strengths)
    held = (lows <= truth) & (truth <= highs)
    width = np.median((highs - lows)[:, :count])
    return [f"{100 * held[:, :count].mean():.1f} %", f"{100 * held[:, count:].mean():.1f} %", f"{width:.2f}"]


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks rankings")
    parser.add_argument("--panels", type=int, default=60)
    parser.add_argument("--resamples", type=int, default=300)
    parser.add_argument("--processes", type=int, default=2)
    return parser.parse_args(arguments)
