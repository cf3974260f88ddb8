"""What a team gains by climbing the public score, with a phase's rounding and Ladder and without. A simulation. Pure.

The team has one model and no way to make it better. It changes its answers to a few items at random, submits, and keeps
a change that the site tells it was for the better. Its answers get no better in truth, so whatever the public score
gains is the public split remembered, which the private split shows. Items are right or wrong, as where scores are
easiest to read; the team does not know which items are public.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean
from typing import Final

from malpan.submissions.release import nearest, risen

SEED: Final = 20251120


@dataclass(frozen=True, slots=True)
class Rule:
    """What the site tells of a public score; as ``Phase.score_step`` and ``Phase.is_ladder``."""

    step: Decimal | None = None
    is_ladder: bool = False


@dataclass(frozen=True, slots=True)
class Climber:
    """``items`` public items and as many private ones; a share of ``accuracy`` of random answers is right."""

    submissions: int = 500
    items: int = 500
    accuracy: float = 0.6
    changed: int = 20  # items with another answer in each submission


@dataclass(frozen=True, slots=True)
class Gain:
    """Scores 0-1, the last less the first: that the board shows, of the public items and of the private ones."""

    shown: float
    public: float
    private: float


def gain(climber: Climber, rule: Rule, repetitions: int = 20, seed: int = SEED) -> Gain:
    """The mean over ``repetitions`` teams. The same teams for every rule."""
    gains = [_climb(climber, rule, random.Random(seed + number)) for number in range(repetitions)]
    return Gain(*(fmean(getattr(each, name) for each in gains) for name in ("shown", "public", "private")))


def _climb(climber: Climber, rule: Rule, chance: random.Random) -> Gain:
    count = climber.items
    right = [chance.random() < climber.accuracy for _item in range(2 * count)]  # the first half is public
    first = best = sum(right[:count]), sum(right[count:])
    shown = _told(rule, best[0] / count)
    first_shown = shown
    for _submission in range(climber.submissions - 1):
        items = chance.sample(range(2 * count), climber.changed)
        answers = [chance.random() < climber.accuracy for _item in items]
        change = [now - right[item] for item, now in zip(items, answers, strict=True)]
        public = best[0] + sum(by for item, by in zip(items, change, strict=True) if item < count)
        told = _told(rule, public / count, shown)
        if told > shown:
            shown = told
            best = public, best[1] + sum(by for item, by in zip(items, change, strict=True) if item >= count)
            for item, now in zip(items, answers, strict=True):
                right[item] = now
    return Gain(shown - first_shown, (best[0] - first[0]) / count, (best[1] - first[1]) / count)


def _told(rule: Rule, score: float, last: float | None = None) -> float:
    """What the team's public score is after a submission with ``score``."""
    if rule.step is None:
        return score
    if rule.is_ladder and last is not None and risen([(0, last), (1, score)], rule.step) == [0]:
        return last
    return nearest(score, rule.step)
