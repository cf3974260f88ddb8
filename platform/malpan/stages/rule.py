"""The rule of a final in stages: pure functions on plain values. The served script has them once more.

1. In a stage teams are ordered by score, compared to ``COMPARED_DECIMALS``. Equal scores share a rank (1, 2, 2, 4), or
   the earlier team is before the other (``order``, lower is earlier), as the stage's tie rule says.
2. A score becomes a number from 0 to 1: by value, (score - lowest) / (highest - lowest) of the declared scale, or by
   rank, (n - r) / (n - 1) with the mean place of teams that share a rank, 1 for a single team (``scoring.composite``).
3. The teams with a rank up to the cut go on: with shared ranks all that are equal at the line.
4. The combined score is the mean of these numbers by the weights of the stages, over all stages. It is of the teams
   that took part in the last one; equal scores are told apart by the stage of the highest weight, then by the next (of
   equal weights the earlier stage first), and share a rank if all are equal.
5. Below them, without a rank, are the teams that did not go on: who came further first, then by rank in the last stage
   that they took part in.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from scoring.composite import COMPARED_DECIMALS, Component, composites

Normalisation = Literal["value", "rank"]
TieRule = Literal["shared", "earlier"]
_RANK: Final = (Component("rank", 1.0, higher_is_better=False),)


@dataclass(frozen=True, slots=True)
class Rule:
    """How a stage orders its teams. ``scale``: the lowest and the highest score; ``cut``: how many go on, or all."""

    normalisation: str
    scale: tuple[float, float]
    weight: float
    cut: int | None
    tie_rule: str


@dataclass(frozen=True, slots=True)
class Entry:
    """The score of a team in a stage. ``order`` tells equal scores apart where the tie rule says so."""

    team_number: int
    score: float
    order: int


@dataclass(frozen=True, slots=True)
class Placed:
    """What a stage gives a team. ``normalised`` is 0-1."""

    entry: Entry
    rank: int
    normalised: float
    goes_on: bool


@dataclass(frozen=True, slots=True)
class Combined:
    """A line of the combined standing. ``parts`` are of the stages that the team took part in, in their order.

    ``rank`` and ``score`` are ``None`` for a team that did not go on from stage ``stopped_at``, counted from 1.
    """

    team_number: int
    rank: int | None
    score: float | None
    stopped_at: int | None
    parts: tuple[Placed, ...]


def place(entries: Collection[Entry], rule: Rule) -> list[Placed]:
    """The teams of a stage, best first; of a shared rank by number. Scores outside the scale are not refused here."""
    ordered = sorted(entries, key=lambda entry: (*_key(entry, rule), entry.order, entry.team_number))
    ranks: dict[int, int] = {}
    for position, entry in enumerate(ordered, start=1):
        before = ordered[position - 2] if position > 1 else None
        is_equal = before is not None and _key(before, rule) == _key(entry, rule)
        ranks[entry.team_number] = ranks[before.team_number] if before is not None and is_equal else position
    numbers = _normalised(ordered, ranks, rule)
    return [
        Placed(
            entry=entry,
            rank=ranks[entry.team_number],
            normalised=numbers[entry.team_number],
            goes_on=rule.cut is None or ranks[entry.team_number] <= rule.cut,
        )
        for entry in ordered
    ]


def combine(stages: Sequence[Sequence[Placed]], weights: Sequence[float]) -> list[Combined]:
    """The combined standing of ``stages``, each as ``place`` gives it, with their ``weights``.

    Raises ``ValueError`` without stages, or if the weights are not above 0 in all.
    """
    if not stages or len(stages) != len(weights) or not math.fsum(weights) > 0:
        raise ValueError("a combined standing needs stages whose weights are above 0 in all")
    parts: dict[int, list[Placed]] = {}
    for stage in stages:
        for placed in stage:
            parts.setdefault(placed.entry.team_number, []).append(placed)
    whole = {number: of_team for number, of_team in parts.items() if len(of_team) == len(stages)}
    stopped = {number: of_team for number, of_team in parts.items() if number not in whole}
    return _ranked(whole, weights) + _stopped(stopped)


def combined_score(numbers: Sequence[float], weights: Sequence[float]) -> float:
    """The mean of ``numbers`` by ``weights``."""
    return math.fsum(weight * number for weight, number in zip(weights, numbers, strict=True)) / math.fsum(weights)


def _key(entry: Entry, rule: Rule) -> tuple[float, int]:
    """Equal for entries that share a rank."""
    return -round(entry.score, COMPARED_DECIMALS) + 0.0, entry.order if rule.tie_rule == "earlier" else 0


def _normalised(entries: Sequence[Entry], ranks: Mapping[int, int], rule: Rule) -> dict[int, float]:
    if rule.normalisation == "rank":
        by_rank = {number: {"rank": float(rank)} for number, rank in ranks.items()}
        return {number: each.value for number, each in composites(by_rank, _RANK).items()}
    low, high = rule.scale
    return {entry.team_number: (entry.score - low) / (high - low) + 0.0 for entry in entries}


def _ranked(whole: Mapping[int, Sequence[Placed]], weights: Sequence[float]) -> list[Combined]:
    scores = {number: combined_score([each.normalised for each in parts], weights) for number, parts in whole.items()}
    heaviest_first = sorted(range(len(weights)), key=lambda stage: (-weights[stage], stage))

    def key(number: int) -> tuple[float, ...]:
        values = (scores[number], *(whole[number][stage].normalised for stage in heaviest_first))
        return tuple(-round(value, COMPARED_DECIMALS) + 0.0 for value in values)

    lines: list[Combined] = []
    for position, number in enumerate(sorted(whole, key=lambda each: (key(each), each)), start=1):
        before = lines[-1] if lines else None
        rank = before.rank if before is not None and key(before.team_number) == key(number) else position
        lines.append(Combined(number, rank, scores[number], None, tuple(whole[number])))
    return lines


def _stopped(parts: Mapping[int, Sequence[Placed]]) -> list[Combined]:
    def key(number: int) -> tuple[Any, ...]:
        return -len(parts[number]), parts[number][-1].rank, number

    return [Combined(each, None, None, len(parts[each]), tuple(parts[each])) for each in sorted(parts, key=key)]
