"""Simulated campaigns: judges of known kinds (``simulated_judges``) vote on systems of known strengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np

from scoring.arena.bradley_terry import FloatArray, fit, outcome_probabilities
from scoring.arena.simulated_judges import BEHAVIOURS, CRITERIA, SCALE, Behaviour, Judges, Panel, Seen
from scoring.arena.vote_records import ArenaItem, Criterion, Judge, Kind, System, Vote, Votes, VoteSettings

__all__ = [
    "BEHAVIOURS",
    "Behaviour",
    "Panel",
    "outcome_counts",
    "simulate",
    "spread_strengths",
    "true_parameters",
]

STRATA: Final = ("서술형", "단답형", "요약", "대화")

_NODES: Final = 40  # of the quadrature over items and judges
_Unit = tuple[int, tuple[int, ...]]  # an item and its systems as shown, as indices


def spread_strengths(systems: int, deviation: float) -> tuple[float, ...]:
    """Evenly spaced strengths, highest first, with mean 0 and the standard deviation ``deviation`` in logits."""
    places = np.linspace(1.0, -1.0, systems)
    return tuple(float(each) for each in places * deviation / places.std())


def true_parameters(panel: Panel) -> tuple[FloatArray, float, float]:
    """What a fit tends to with ever more items and good judges: centred strengths, order effect, log tie parameter.

    The strengths differ from the panel's by what averaging over items and judges takes away: the probabilities are
    integrated over the spreads, and the model is fitted to them.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    deviation = np.sqrt(2 * (panel.item_spread**2 + panel.judge_spread**2))
    strengths = np.asarray(panel.strengths)
    differences = strengths[:, None] - strengths[None, :]
    drawn = outcome_probabilities(differences[..., None] + deviation * nodes, panel.order_effect, panel.tie)
    counts = np.einsum("ijkc,k->ijc", drawn, weights / weights.sum())
    counts[np.arange(len(strengths)), np.arange(len(strengths))] = 0.0
    found = fit(counts[None] * 1e6)
    return found.strengths[0], float(found.order[0]), float(found.tie[0])


def simulate(panel: Panel, seed: int) -> Votes:
    """The votes of ``panel``, the same for the same ``seed``."""
    made = _Campaign(panel, seed)
    votes = made.votes()
    systems = len(panel.strengths)
    is_rubric = panel.protocol == "rubric"
    return Votes(
        campaign={"competition": "simulated", "track": "simulated", "number": 1, "title": f"seed {seed}"},
        protocol=panel.protocol,
        systems=tuple(System(made.systems[index], f"System {index + 1}", index + 1) for index in range(systems)),
        items=tuple(ArenaItem(label, STRATA[at % len(STRATA)]) for at, label in enumerate(made.items)),
        judges=tuple(Judge(label, f"G{at % 5 + 1}") for at, label in enumerate(made.judges)),
        votes=votes,
        criteria=tuple(Criterion(key, *SCALE, weight) for key, weight in CRITERIA) if is_rubric else (),
        settings=VoteSettings(panel.resamples, f"{seed:x}"),
    )


def outcome_counts(panel: Panel, seed: int) -> FloatArray:
    """Counts (first shown, second shown, outcome) of a pairwise panel's real votes, without making the votes."""
    made = _Campaign(panel, seed)
    counts = np.zeros((len(panel.strengths), len(panel.strengths), 3))
    for judge, queue in enumerate(made.queues()):
        for place, (item, shown) in enumerate(queue):
            drawn = made.people.outcome(Seen(judge, item, shown, place / len(queue)))
            counts[shown[0], shown[1], drawn] += 1
    return counts


class _Campaign:
    """The units of one campaign, and the votes on them."""

    def __init__(self, panel: Panel, seed: int) -> None:
        self.panel = panel
        self.random = np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, len(panel.strengths)))))
        self.systems = _labels("S", len(panel.strengths))
        self.items, self.judges = _labels("I", panel.items), _labels("J", len(panel.judges))
        self.people = Judges(panel, self.random)
        self.controls = round(panel.control_share * panel.votes_per_judge)
        self.repeats = round(panel.repeat_share * panel.votes_per_judge)

    def queues(self) -> list[list[_Unit]]:
        """The real units of each judge."""
        length = self.panel.votes_per_judge - self.controls - self.repeats
        queues: list[list[_Unit]] = [[] for _ in self.panel.judges]
        units, takers = self._units(), self._takers()
        while min(map(len, queues)) < length:
            item, group = next(units)
            for judge in next(takers):
                if len(queues[judge]) < length:
                    queues[judge].append((item, tuple(self.random.permutation(group).tolist())))
        return queues

    def _units(self) -> Iterator[_Unit]:
        """Items in turn, each with the next of all groups in a random order."""
        groups = list(combinations(range(len(self.systems)), self.panel.shown))
        order: list[int] = []
        items: list[int] = []
        while True:
            order = order or self.random.permutation(len(groups)).tolist()
            items = items or self.random.permutation(self.panel.items).tolist()
            yield items.pop(), groups[order.pop()]

    def _takers(self) -> Iterator[list[int]]:
        """The judges of the next unit: everyone's turn comes once a round."""
        wanted = min(self.panel.judges_per_unit, len(self.panel.judges))
        order: list[int] = []
        while True:
            taken = [order.pop() for _ in range(min(wanted, len(order)))]
            if len(taken) < wanted:
                rest = [each for each in self.random.permutation(len(self.judges)).tolist() if each not in taken]
                order = [*taken, *rest]
                taken += [order.pop() for _ in range(wanted - len(taken))]
            yield taken

    def votes(self) -> tuple[Vote, ...]:
        found: list[Vote] = []
        for judge, queue in enumerate(self.queues()):
            self._judge(judge, queue, found)
        return tuple(found)

    def _judge(self, judge: int, queue: Sequence[_Unit], found: list[Vote]) -> None:
        """Add the votes of one judge to ``found``: controls among the real ones, repeats of any of these at the end."""
        start, total = len(found), len(queue) + self.controls + self.repeats
        every, controls = max(1, len(queue) // (self.controls + 1)), 0
        first: list[tuple[int, _Unit]] = []

        def vote(unit: _Unit, kind: Kind = "real", bad: int | None = None, repeats: int | None = None) -> None:
            seen = Seen(judge, *unit, (len(found) - start) / total, bad)
            found.append(self._vote(seen, len(found) + 1, kind, repeats))

        for place, unit in enumerate(queue):
            first.append((len(found) + 1, unit))
            vote(unit)
            if (place + 1) % every == 0 and controls < self.controls:
                other = queue[int(self.random.integers(len(queue)))]
                vote(other, "control", bad=int(self.random.integers(len(other[1]))))
                controls += 1
        for at in self.random.permutation(len(first))[: self.repeats].tolist():
            number, (item, shown) = first[at]
            vote((item, shown[::-1]), "repeat", repeats=number)

    def _vote(self, seen: Seen, number: int, kind: Kind, repeats: int | None) -> Vote:
        value = self.people.value(seen)
        seconds = self.people.seconds(seen.judge)
        labels = tuple(self.systems[each] for each in seen.shown)
        return Vote(
            number, self.judges[seen.judge], self.items[seen.item], labels, value, kind, seen.bad, repeats, seconds
        )


def _labels(letter: str, count: int) -> list[str]:
    width = max(2, len(str(count)))
    return [f"{letter}{number:0{width}d}" for number in range(1, count + 1)]
