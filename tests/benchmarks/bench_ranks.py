"""How sure ranks are (``scoring.significance.board``): false and true separations on simulated boards, and the time.

null         boards of equally good teams: how often any two are in different bands
skilled      boards whose teams differ: how often the first of a band is in truth no better than that of the next
speed        50 teams, 1,000 items, 10,000 resamples, by the contest's rule and by captions with BLEU and chrF; and the
             largest board of which all pairs are tested, with more teams below

Items are drawn from a population: an item is hard or easy for all teams (a deviation of 1.0 logits), and a team answers
it by its skill. A team is as good as its mean over the population.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Final

import numpy as np

from scoring.recipes import get_recipe
from scoring.records import ItemScores, ScoreReport
from scoring.significance.board import Entrant, board_sureness
from tests.benchmarks.tables import markdown_table
from tests.scoring.significance.test_comparison import captions, contest

LEVEL: Final = 0.05
REASONS: Final = ("bleurt", "bertscore", "rouge_1")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of board: teams whose skills are ``spread`` logits apart from the first to the last, and items."""

    name: str
    teams: int
    items: int
    spread: float = 0.0


NULL: Final = (Kind("10 equal teams, 100 items", 10, 100), Kind("20 equal teams, 300 items", 20, 300))
SKILLED: Final = (Kind("10 teams, 300 items, 1 logit", 10, 300, 1.0), Kind("20 teams, 1,000 items, 1", 20, 1000, 1.0))


def show(arguments: Sequence[str]) -> None:
    """Run all parts and print their tables."""
    options = _options(arguments)
    with ProcessPoolExecutor(options.processes) as pool:
        for kinds in (NULL, SKILLED):
            print(_table(kinds, options.boards, options.trials, pool), flush=True)
            print(flush=True)
    print(_speed_table(options.teams, options.items), flush=True)


def entrants_of(kind: Kind, seed: int) -> tuple[list[Entrant], dict[str, float]]:
    """The teams of one simulated board in its order, and the true final score of each."""
    rng = np.random.default_rng(seed)
    skills = np.linspace(kind.spread / 2, -kind.spread / 2, kind.teams)
    hardness = rng.normal(0, 1, kind.items)
    reports, truth = [], {}
    for number, skill in enumerate(skills):
        chances = 1 / (1 + np.exp(hardness - skill))
        right = rng.random(kind.items) < chances
        partial_scores = np.clip(chances[:, None] + rng.normal(0, 0.2, (kind.items, len(REASONS))), 0, 1)
        values = np.column_stack([right, partial_scores]).tolist()
        rows = [
            ItemScores(f"q-{at:05}", dict(zip(("exact_match", *REASONS), row, strict=True)))
            for at, row in enumerate(values)
        ]
        reports.append((f"team-{number}", report(rows)))
        truth[f"team-{number}"] = float(skill)
    reports.sort(key=lambda pair: -pair[1].final_score)
    return [Entrant(name, each) for name, each in reports], truth


def report(rows: Sequence[ItemScores]) -> ScoreReport:
    """A result of the contest's rule with these items."""
    recipe = get_recipe("rag-qa@1")
    means = {name: float(np.mean([row.scores[name] for row in rows])) for name in ("exact_match", *REASONS)}
    scores = recipe.final_scores(means)
    signature = {"references": {"sha256": ""}, "metrics": {}, "about": {}}
    return ScoreReport(recipe.id, scores["final_score"], scores, {}, (), tuple(rows), signature, "", {})


def judged(kind: Kind, trials: int, seed: int) -> dict[str, Any]:
    """What one board says: whether bands separate wrongly, how many there are, how many true ranks are in intervals."""
    given, truth = entrants_of(kind, seed)
    found = board_sureness(given, trials=trials, seed=seed)
    firsts = [each.name for each, before in zip(found.entrants, (None, *found.entrants), strict=False)
              if before is None or each.band != before.band]  # fmt: skip
    ordered = sorted(truth, key=lambda name: -truth[name])
    held = [
        each.places is not None and each.places.best <= ordered.index(each.name) + 1 <= each.places.worst
        for each in found.entrants
    ]
    return {
        "wrong": any(truth[better] <= truth[worse] for better, worse in pairwise(firsts)),
        "bands": len(firsts),
        "held": float(np.mean(held)),
    }


def _table(kinds: Sequence[Kind], boards: int, trials: int, pool: ProcessPoolExecutor) -> str:
    columns = ("boards", "number", "wrongly separated", "bands, mean", "true rank in its interval")
    rows: list[tuple[str, ...]] = []
    for kind in kinds:
        found = list(pool.map(partial(judged, kind, trials), range(boards), chunksize=4))
        wrong = float(np.mean([each["wrong"] for each in found]))
        held = "-" if not kind.spread else f"{np.mean([each['held'] for each in found]):.1%}"
        rows.append((kind.name, str(boards), f"{wrong:.1%}", f"{np.mean([each['bands'] for each in found]):.2f}", held))
    note = f"{trials:,} trials a board; level {LEVEL}; of equal teams any separation is wrong."
    return f"{note}\n\n{markdown_table(columns, rows)}"


def _speed_table(teams: int, items: int) -> str:
    rows: list[tuple[str, ...]] = []
    kinds = {"contest": contest, "captions": captions}
    for name, make, count in [(name, make, teams) for name, make in kinds.items()] + [("contest", contest, 6 * teams)]:
        reports = [make(seed, items, 0.5 - 0.002 * seed) for seed in range(count)]
        given = [Entrant(str(at), each) for at, each in enumerate(sorted(reports, key=lambda each: -each.final_score))]
        before, cpu = time.perf_counter(), time.process_time()
        found = board_sureness(given)
        seconds = time.perf_counter() - before, time.process_time() - cpu
        label = f"{name}: {count} teams, {items:,} items, {found.trials:,} resamples"
        rows.append((label, f"{found.pairs:,}", *(f"{each:.1f}" for each in seconds)))
    return markdown_table(("board", "pairs", "s", "processor, s"), rows)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks ranks")
    for name, default in (("boards", 1000), ("trials", 10_000), ("teams", 50), ("items", 1000), ("processes", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser.parse_args(arguments)
