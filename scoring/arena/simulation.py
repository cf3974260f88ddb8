"""Simulated campaigns: judges of known kinds vote on systems of known strengths.

A vote is drawn from the model of ``scoring.arena.bradley_terry`` with strengths that vary: each system is better or
worse by a normal amount on each item (``item_spread``) and to each judge (``judge_spread``), in logits. The kinds of
judges are those of ``BEHAVIOURS``:

* good: votes by the model;
* tired: pays attention ever less, down to ``_LEAST_ATTENTION`` of the strengths at the end of the queue;
* position: prefers the output shown first by ``_POSITION_BIAS`` logits more than the others do;
* random: clicks without reading.

In a rubric or with errors marked, strength, item, judge and noise add up to a score; a ranking orders such scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Literal

import numpy as np

from scoring.arena.bradley_terry import FIRST, SECOND, TIE, FloatArray, fit, outcome_probabilities
from scoring.arena.vote_records import (
    HIGHEST_SCORE,
    SEVERITIES,
    ArenaItem,
    Criterion,
    Judge,
    Kind,
    Protocol,
    System,
    Vote,
    Votes,
    VoteSettings,
)

Behaviour = Literal["good", "tired", "position", "random"]

BEHAVIOURS: Final[tuple[Behaviour, ...]] = ("good", "tired", "position", "random")
STRATA: Final = ("서술형", "단답형", "요약", "대화")

_LEAST_ATTENTION: Final = 0.3
_POSITION_BIAS: Final = 2.0
_BAD_LOSS: Final = 4.0  # logits by which a bad output of a control is worse
_BOTH_BAD: Final = 0.2  # of the ties
_CLICKS: Final = (0.44, 0.12, 0.44)  # first, tie, second
_SECONDS: Final = {"good": 40.0, "tired": 30.0, "position": 30.0, "random": 6.0}
_SCALE: Final = (1, 5)
_STEPS_PER_LOGIT: Final = 0.6
_HARSHNESS: Final = 0.4  # standard deviation of what judges add to every score, in steps
_HARDNESS: Final = 0.4  # likewise of items
_NOISE: Final = 0.6
_NEAR: Final = 0.15  # logits within which ranks are equal
_CRITERIA: Final = (("accuracy", 2), ("fluency", 1))
_NODES: Final = 40  # of the quadrature over item and judge


@dataclass(frozen=True, slots=True)
class Panel:
    """What is simulated. ``strengths`` are logits. ``tie_rate`` is the share of ties of two equal systems.

    ``votes_per_judge`` counts all votes of a judge, of which ``control_share`` and ``repeat_share`` are controls and
    repeats. ``judges_per_unit``: how many judges get the same outputs of an item. ``group``: outputs in a unit of a
    ranking.
    """

    strengths: tuple[float, ...]
    judges: tuple[Behaviour, ...] = ("good",) * 20
    items: int = 200
    votes_per_judge: int = 100
    tie_rate: float = 0.2
    order_effect: float = 0.0
    item_spread: float = 0.3
    judge_spread: float = 0.2
    control_share: float = 0.05
    repeat_share: float = 0.05
    judges_per_unit: int = 2
    protocol: Protocol = "pairwise"
    group: int = 4
    resamples: int = 2000

    @property
    def tie(self) -> float:
        """The log of Davidson's tie parameter."""
        return float(np.log(2 * self.tie_rate / (1 - self.tie_rate))) if self.tie_rate else -np.inf

    @property
    def shown(self) -> int:
        """How many outputs a unit has."""
        return {"pairwise": 2, "ranking": self.group}.get(self.protocol, 1)


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
    made = _Campaign(panel, np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, len(panel.strengths))))))
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
        criteria=tuple(Criterion(key, *_SCALE, weight) for key, weight in _CRITERIA) if is_rubric else (),
        settings=VoteSettings(panel.resamples, f"{seed:x}"),
    )


def outcome_counts(panel: Panel, seed: int) -> FloatArray:
    """Counts (first shown, second shown, outcome) of a pairwise panel's real votes, without making the votes."""
    made = _Campaign(panel, np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, len(panel.strengths))))))
    counts = np.zeros((len(panel.strengths), len(panel.strengths), 3))
    for judge, queue in enumerate(made.queues()):
        for place, (item, shown) in enumerate(queue):
            drawn = made.outcome(judge, item, shown, place / len(queue), None)
            counts[shown[0], shown[1], drawn] += 1
    return counts


class _Campaign:
    """The draws of one campaign, in a fixed order."""

    def __init__(self, panel: Panel, random: np.random.Generator) -> None:
        self.panel, self.random = panel, random
        systems, judges = len(panel.strengths), len(panel.judges)
        self.systems = _labels("S", systems)
        self.items, self.judges = _labels("I", panel.items), _labels("J", judges)
        self.strengths = np.asarray(panel.strengths)
        self.by_item = panel.item_spread * random.standard_normal((panel.items, systems))
        self.by_judge = panel.judge_spread * random.standard_normal((judges, systems))
        self.harshness = _HARSHNESS * random.standard_normal(judges)
        self.hardness = _HARDNESS * random.standard_normal(panel.items)
        self.controls = round(panel.control_share * panel.votes_per_judge)
        self.repeats = round(panel.repeat_share * panel.votes_per_judge)

    def queues(self) -> list[list[tuple[int, tuple[int, ...]]]]:
        """The real units of each judge: an item and its systems as shown."""
        length = self.panel.votes_per_judge - self.controls - self.repeats
        queues: list[list[tuple[int, tuple[int, ...]]]] = [[] for _ in self.panel.judges]
        units, takers = self._units(), self._takers()
        while len(queues[0]) < length or min(map(len, queues)) < length:
            item, group = next(units)
            for judge in next(takers):
                if len(queues[judge]) < length:
                    queues[judge].append((item, tuple(self.random.permutation(group).tolist())))
        return queues

    def _units(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Items in turn, each with the next of all groups in a random order."""
        groups = list(combinations(range(len(self.strengths)), self.panel.shown))
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

    def _judge(self, judge: int, queue: Sequence[tuple[int, tuple[int, ...]]], found: list[Vote]) -> None:
        """All votes of one judge: controls spread among the real ones, repeats of early units at the end."""
        total = len(queue) + self.controls + self.repeats
        made: list[Vote] = []
        every = len(queue) // (self.controls + 1) if self.controls else len(queue) + 1
        for place, (item, shown) in enumerate(queue):
            made.append(self._vote(judge, item, shown, len(made) / total, len(found) + len(made) + 1))
            if (place + 1) % max(every, 1) == 0 and sum(each.kind == "control" for each in made) < self.controls:
                other, group = queue[self.random.integers(len(queue))]
                bad = int(self.random.integers(len(group)))
                number = len(found) + len(made) + 1
                made.append(self._vote(judge, other, group, len(made) / total, number, "control", bad))
        first = [each for each in made if each.kind == "real"]
        for at in self.random.permutation(len(first))[: self.repeats].tolist():
            again = first[at]
            item, shown = self.items.index(again.item), [self.systems.index(label) for label in again.systems]
            number = len(found) + len(made) + 1
            made.append(
                self._vote(judge, item, tuple(shown[::-1]), len(made) / total, number, "repeat", repeats=again.number)
            )
        found.extend(made)

    def _vote(
        self,
        judge: int,
        item: int,
        shown: tuple[int, ...],
        progress: float,
        number: int,
        kind: Kind = "real",
        bad: int | None = None,
        repeats: int | None = None,
    ) -> Vote:
        value = _VALUES[self.panel.protocol](self, judge, item, shown, progress, bad)
        seconds = round(_SECONDS[self.panel.judges[judge]] * float(np.exp(0.4 * self.random.standard_normal())), 1)
        labels = tuple(self.systems[each] for each in shown)
        return Vote(number, self.judges[judge], self.items[item], labels, value, kind, bad, repeats, seconds)

    def merits(self, judge: int, item: int, shown: tuple[int, ...], progress: float, bad: int | None) -> FloatArray:
        """How good each output is to this judge, in logits."""
        merit = self.strengths[list(shown)] + self.by_item[item, list(shown)] + self.by_judge[judge, list(shown)]
        if bad is not None:
            merit[bad] = self.strengths.min() - _BAD_LOSS
        behaviour = self.panel.judges[judge]
        if behaviour == "random":
            return np.zeros(len(shown))
        attention = 1 - (1 - _LEAST_ATTENTION) * progress if behaviour == "tired" else 1.0
        return np.asarray(merit * attention, dtype=np.float64)

    def outcome(self, judge: int, item: int, shown: tuple[int, ...], progress: float, bad: int | None) -> int:
        behaviour = self.panel.judges[judge]
        if behaviour == "random":
            shares = np.asarray(_CLICKS)
        else:
            merit = self.merits(judge, item, shown, progress, bad)
            order = self.panel.order_effect + (_POSITION_BIAS if behaviour == "position" else 0.0)
            shares = outcome_probabilities(np.asarray(merit[0] - merit[1]), order, self.panel.tie)
        return int(np.searchsorted(np.cumsum(shares)[:2], self.random.random(), side="right"))

    def pairwise(
        self, judge: int, item: int, shown: tuple[int, ...], progress: float, bad: int | None
    ) -> dict[str, Any]:
        drawn = self.outcome(judge, item, shown, progress, bad)
        if drawn == TIE and self.random.random() < _BOTH_BAD:
            return {"choice": "both_bad"}
        return {"choice": {FIRST: "first", TIE: "tie", SECOND: "second"}[drawn]}

    def steps(self, judge: int, item: int, shown: tuple[int, ...], progress: float, bad: int | None) -> FloatArray:
        """A score of each output in steps of the rubric, around 0."""
        if self.panel.judges[judge] == "random":
            return np.asarray(self.random.random(len(shown)) * 4 - 2)
        merit = _STEPS_PER_LOGIT * self.merits(judge, item, shown, progress, bad)
        noise = _NOISE * self.random.standard_normal(len(shown))
        return np.asarray(merit + self.harshness[judge] + self.hardness[item] + noise)

    def rubric(
        self, judge: int, item: int, shown: tuple[int, ...], progress: float, bad: int | None
    ) -> dict[str, Any]:
        base = self.steps(judge, item, shown, progress, bad)[0]
        low, high = _SCALE
        drawn = {key: base + 0.3 * self.random.standard_normal() for key, _weight in _CRITERIA}
        return {"scores": {key: int(np.clip(round(3 + each), low, high)) for key, each in drawn.items()}}

    def ranking(
        self, judge: int, item: int, shown: tuple[int, ...], progress: float, bad: int | None
    ) -> dict[str, Any]:
        merit = self.merits(judge, item, shown, progress, bad) + self.random.gumbel(size=len(shown))
        order = np.argsort(-merit, kind="stable")
        ranks = np.empty(len(shown), dtype=int)
        for place, at in enumerate(order):
            tied = place > 0 and merit[order[place - 1]] - merit[at] < _NEAR
            ranks[at] = ranks[order[place - 1]] if tied else place + 1
        return {"ranks": ranks.tolist()}

    def errors(
        self, judge: int, item: int, shown: tuple[int, ...], progress: float, bad: int | None
    ) -> dict[str, Any]:
        step = float(self.steps(judge, item, shown, progress, bad)[0])
        score = int(np.clip(round(70 + 12 * step), 0, HIGHEST_SCORE))
        spans = [
            {"output": 0, "start": 5 * at, "end": 5 * at + 3, "severity": severity, "category": "accuracy"}
            for at, severity in enumerate(self._severities((HIGHEST_SCORE - score) / 20))
        ]
        return {"score": score, "spans": spans}

    def _severities(self, expected: float) -> list[str]:
        kinds = self.random.choice(len(SEVERITIES), size=int(self.random.poisson(expected)), p=(0.6, 0.3, 0.1))
        return [SEVERITIES[kind] for kind in kinds]


_VALUES: Final = {
    "pairwise": _Campaign.pairwise,
    "rubric": _Campaign.rubric,
    "ranking": _Campaign.ranking,
    "errors": _Campaign.errors,
}


def _labels(letter: str, count: int) -> list[str]:
    width = max(2, len(str(count)))
    return [f"{letter}{number:0{width}d}" for number in range(1, count + 1)]
