"""How even a design of pairs stays when its campaign gets into trouble: a team is disqualified, a judge leaves, another
comes late, each when some part of every queue is judged; what counts afterwards is looked at.

Ten teams, 200 items, nine pairs of each, two judges a pair, 20 judges: 3,600 judgements. ``pairs``: in how many units,
and ``judgements``: in how many assignments two teams meet (fewest to most); ``left by pair``: the largest difference
between "a left of b" and "b left of a"; ``left by judge`` and ``by team``: by how many, at most, a team was shown first
more or less often than half of the times; ``loads``: assignments of a judge that count. The worst of all seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scoring.arena.design import Balance, JudgeSpec, Planned, Settings, balance, plan, reassign, without
from tests.benchmarks.tables import markdown_table

TEAMS: Final = tuple(f"S{number:02d}" for number in range(1, 11))
JUDGES: Final = tuple(f"D{number:02d}" for number in range(1, 21))
SETTINGS: Final = Settings(2, 9, 2)
OUT: Final = "S04"
LEAVES, LATE = "D07", "D21"
PROGRESS: Final = (0.0, 0.25, 0.5, 0.75)

Queues = dict[str, dict[int, Planned]]


def show(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks balance")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--items", type=int, default=200)
    options = parser.parse_args(arguments)
    rows = []
    for progress in PROGRESS:
        found = [figures(progress, seed, options.items) for seed in range(options.seeds)]
        for step in found[0]:
            rows.append([f"{100 * progress:.0f} % judged: {step}", *_worst([each[step] for each in found])])
    columns = ("when", "count", "pairs", "judgements", "left by pair", "left by judge", "left by team", "loads")
    head = f"Ten teams, {options.items} items, 20 judges, pairs; the worst of {options.seeds} seeds\n\n"
    print(head + markdown_table(columns, rows), flush=True)


def figures(progress: float, seed: int, items: int = 200) -> dict[str, Balance]:
    """The figures of what counts, after each step of one campaign."""
    campaign = _Campaign(progress, seed, items)
    found = {"as designed": campaign.balance()}
    campaign.drop(OUT)
    found["a team is out"] = campaign.balance()
    campaign.panel.remove(LEAVES)
    campaign.change(1)
    found["then a judge leaves"] = campaign.balance()
    campaign.panel.append(LATE)
    campaign.change(2)
    found["then one comes late"] = campaign.balance()
    return found


@dataclass
class _Campaign:
    """``done`` and ``open``: what counts of the judges' queues, as ``malpan.arena.panel`` keeps it."""

    progress: float
    seed: int
    items: int

    def __post_init__(self) -> None:
        labels = [f"I{number:04d}" for number in range(1, self.items + 1)]
        self.panel = list(JUDGES)
        queues = plan(labels, TEAMS, map(JudgeSpec, JUDGES), SETTINGS, f"seed {self.seed}")
        self.done: Queues = {}
        self.open: Queues = {}
        for judge, queue in queues.items():
            ended = round(self.progress * len(queue))
            self.done[judge] = dict(enumerate(queue[:ended]))
            self.open[judge] = dict(enumerate(queue[ended:], start=ended))

    def drop(self, team: str) -> None:
        """A team is disqualified: what is open of it is void, what was judged does not count."""
        for queues in (self.done, self.open):
            for judge, position in without(queues, team).void:
                del queues[judge][position]

    def change(self, event: int) -> None:
        """Distribute what is open anew over the panel."""
        specs = [JudgeSpec(label) for label in self.panel]
        change = reassign(self.open, self.done, specs, f"seed {self.seed}", event, SETTINGS)
        for judge, position in change.void:
            del self.open[judge][position]
        for judge, added in change.added.items():
            self.open.setdefault(judge, {}).update(enumerate(added, start=change.starts[judge]))

    def balance(self) -> Balance:
        everyone = sorted({*self.done, *self.open})
        queues: Mapping[str, Iterable[Planned]] = {
            judge: [*self.done.get(judge, {}).values(), *self.open.get(judge, {}).values()] for judge in everyone
        }
        return balance({judge: queue for judge, queue in queues.items() if judge in self.panel or queue})


def _worst(found: Sequence[Balance]) -> list[str]:
    def ends(name: str) -> str:
        low, high = (pick(getattr(each, name)[at] for each in found) for at, pick in ((0, min), (1, max)))
        return f"{low}-{high}"

    return [
        f"{min(each.assignments for each in found):,}",
        ends("pairs"),
        ends("pair_assignments"),
        str(max(each.first_by_pair for each in found)),
        f"{max(each.first_by_judge for each in found):g}",
        f"{max(each.first_by_system for each in found):g}",
        ends("loads"),
    ]
