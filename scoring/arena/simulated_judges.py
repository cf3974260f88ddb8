"""The judges of simulated campaigns: how each kind answers a unit.

Strengths vary: each system is better or worse by a normal amount on each item (``item_spread``) and to each judge
(``judge_spread``), in logits. The kinds of judges are those of ``BEHAVIOURS``:

* good: votes by the model of ``scoring.arena.bradley_terry``;
* tired: pays attention ever less, down to ``_LEAST_ATTENTION`` of the strengths at the end of the queue;
* position: prefers the output shown first by ``_POSITION_BIAS`` logits more than the others do;
* random: clicks without reading;
* fast: votes as the good do, in the time of who clicks without reading.

In a rubric or with errors marked, strength, item, judge and noise add up to a score; a ranking orders strengths with
Gumbel noise (Plackett–Luce).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from scoring.arena.bradley_terry import FIRST, SECOND, TIE, FloatArray, outcome_probabilities
from scoring.arena.vote_records import HIGHEST_SCORE, SEVERITIES, Protocol

Behaviour = Literal["good", "tired", "position", "random", "fast"]

BEHAVIOURS: Final[tuple[Behaviour, ...]] = ("good", "tired", "position", "random", "fast")
SCALE: Final = (1, 5)
CRITERIA: Final = (("accuracy", 2), ("fluency", 1))

_LEAST_ATTENTION: Final = 0.3
_POSITION_BIAS: Final = 2.0
_BAD_LOSS: Final = 4.0  # logits by which a bad output of a control is worse than the worst system
_BOTH_BAD: Final = 0.2  # of the ties
_CLICKS: Final = (0.44, 0.12, 0.44)  # first, tie, second
_SECONDS: Final = {"good": 40.0, "tired": 30.0, "position": 30.0, "random": 6.0, "fast": 6.0}
_STEPS_PER_LOGIT: Final = 0.6
_HARSHNESS: Final = 0.4  # standard deviation of what judges add to every score, in steps
_HARDNESS: Final = 0.4  # likewise of items
_NOISE: Final = 0.6
_NOISE_OF_CRITERIA: Final = 0.3
_NEAR: Final = 0.15  # logits within which ranks are equal
_MEAN_SCORE, _SCORE_PER_STEP, _SCORE_PER_ERROR = 70, 12, 20  # of outputs whose errors are marked


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


@dataclass(frozen=True, slots=True)
class Seen:
    """What a judge sees: indices of judge, item and the systems as shown; ``progress`` 0-1 in the judge's queue;
    ``bad`` is the place of a control's bad output.
    """

    judge: int
    item: int
    shown: tuple[int, ...]
    progress: float
    bad: int | None = None


class Judges:
    """The judges of one campaign. Draws come from ``random``, in the order in which they are asked for."""

    def __init__(self, panel: Panel, random: np.random.Generator) -> None:
        self.panel, self.random = panel, random
        systems, judges = len(panel.strengths), len(panel.judges)
        self.strengths = np.asarray(panel.strengths)
        self.by_item = panel.item_spread * random.standard_normal((panel.items, systems))
        self.by_judge = panel.judge_spread * random.standard_normal((judges, systems))
        self.harshness = _HARSHNESS * random.standard_normal(judges)
        self.hardness = _HARDNESS * random.standard_normal(panel.items)

    def value(self, seen: Seen) -> dict[str, Any]:
        """The value of a vote, by the panel's protocol."""
        ways = {"pairwise": self._pairwise, "rubric": self._rubric, "ranking": self._ranking, "errors": self._errors}
        return ways[self.panel.protocol](seen)

    def seconds(self, judge: int) -> float:
        """How long a vote takes."""
        return round(_SECONDS[self.panel.judges[judge]] * float(np.exp(0.4 * self.random.standard_normal())), 1)

    def outcome(self, seen: Seen) -> int:
        """How a comparison ends: ``FIRST``, ``TIE`` or ``SECOND``."""
        behaviour = self.panel.judges[seen.judge]
        if behaviour == "random":
            shares = np.asarray(_CLICKS)
        else:
            merit = self._merits(seen)
            order = self.panel.order_effect + (_POSITION_BIAS if behaviour == "position" else 0.0)
            shares = outcome_probabilities(np.asarray(merit[0] - merit[1]), order, self.panel.tie)
        return int(np.searchsorted(np.cumsum(shares)[:2], self.random.random(), side="right"))

    def _merits(self, seen: Seen) -> FloatArray:
        """How good each output is to this judge, in logits."""
        places = list(seen.shown)
        merit = self.strengths[places] + self.by_item[seen.item, places] + self.by_judge[seen.judge, places]
        if seen.bad is not None:
            merit[seen.bad] = self.strengths.min() - _BAD_LOSS
        behaviour = self.panel.judges[seen.judge]
        if behaviour == "random":
            return np.zeros(len(places))
        attention = 1 - (1 - _LEAST_ATTENTION) * seen.progress if behaviour == "tired" else 1.0
        return np.asarray(merit * attention, dtype=np.float64)

    def _step(self, seen: Seen) -> float:
        """A score of the one output in steps of the rubric, around 0."""
        if self.panel.judges[seen.judge] == "random":
            return float(self.random.random() * 4 - 2)
        merit = _STEPS_PER_LOGIT * self._merits(seen)[0]
        noise = _NOISE * self.random.standard_normal()
        return float(merit + self.harshness[seen.judge] + self.hardness[seen.item] + noise)

    def _pairwise(self, seen: Seen) -> dict[str, Any]:
        drawn = self.outcome(seen)
        if drawn == TIE and self.random.random() < _BOTH_BAD:
            return {"choice": "both_bad"}
        return {"choice": {FIRST: "first", TIE: "tie", SECOND: "second"}[drawn]}

    def _rubric(self, seen: Seen) -> dict[str, Any]:
        base = self._step(seen)
        low, high = SCALE
        drawn = {key: base + _NOISE_OF_CRITERIA * self.random.standard_normal() for key, _weight in CRITERIA}
        return {"scores": {key: int(np.clip(round(3 + each), low, high)) for key, each in drawn.items()}}

    def _ranking(self, seen: Seen) -> dict[str, Any]:
        merit = self._merits(seen) + self.random.gumbel(size=len(seen.shown))
        order = np.argsort(-merit, kind="stable")
        ranks = np.empty(len(order), dtype=int)
        for place, at in enumerate(order):
            tied = place > 0 and merit[order[place - 1]] - merit[at] < _NEAR
            ranks[at] = ranks[order[place - 1]] if tied else place + 1
        return {"ranks": ranks.tolist()}

    def _errors(self, seen: Seen) -> dict[str, Any]:
        score = int(np.clip(round(_MEAN_SCORE + _SCORE_PER_STEP * self._step(seen)), 0, HIGHEST_SCORE))
        count = int(self.random.poisson((HIGHEST_SCORE - score) / _SCORE_PER_ERROR))
        kinds = self.random.choice(len(SEVERITIES), size=count, p=(0.6, 0.3, 0.1))
        spans = [
            {"output": 0, "start": 5 * at, "end": 5 * at + 3, "severity": SEVERITIES[kind], "category": "accuracy"}
            for at, kind in enumerate(kinds)
        ]
        return {"score": score, "spans": spans}
