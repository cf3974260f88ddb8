"""Votes as arrays: which system was set against which, by whom, on what item, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scoring.arena.bradley_terry import FIRST, SECOND, TIE, BoolArray, FloatArray
from scoring.arena.vote_records import Vote

IntArray = NDArray[np.intp]

OUTCOMES: Final = {"first": FIRST, "second": SECOND, "tie": TIE, "both_bad": TIE}


@dataclass(frozen=True, slots=True)
class Comparisons:
    """One entry a comparison, as aligned arrays of indices into ``systems``, ``items`` and ``judges``.

    A pairwise vote is one comparison; a ranking of k outputs is k(k-1)/2 of them, each of weight 1. ``vote`` is the
    place of the vote among those given. ``systems``: their labels.
    """

    systems: tuple[str, ...]
    items: tuple[str, ...]
    judges: tuple[str, ...]
    first: IntArray
    second: IntArray
    outcome: IntArray
    item: IntArray
    judge: IntArray
    vote: IntArray

    def __len__(self) -> int:
        return len(self.first)

    @property
    def cell(self) -> IntArray:
        """The index of each comparison in flattened counts (first, second, outcome)."""
        found: IntArray = (self.first * len(self.systems) + self.second) * 3 + self.outcome
        return found

    def counts(self) -> FloatArray:
        """(1, systems, systems, 3), as ``bradley_terry.fit`` takes them."""
        return counts_of(np.bincount(self.cell, minlength=self.width).astype(np.float64)[None], len(self.systems))

    @property
    def width(self) -> int:
        return 3 * len(self.systems) ** 2

    def by_judge(self) -> FloatArray:
        """The counts of each judge, (judges, systems, systems, 3)."""
        flat = self.judge * self.width + self.cell
        sums = np.bincount(flat, minlength=len(self.judges) * self.width).reshape(len(self.judges), self.width)
        return counts_of(sums.astype(np.float64), len(self.systems))

    def of(self, chosen: BoolArray) -> Comparisons:
        """Only the comparisons that are ``chosen``."""
        names = ("first", "second", "outcome", "item", "judge", "vote")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})


def counts_of(sums: FloatArray, systems: int) -> FloatArray:
    """Flat sums (trials, cells) as counts (trials, first, second, outcome)."""
    return sums.reshape(len(sums), systems, systems, 3)


def comparisons(votes: Sequence[Vote], systems: Sequence[str]) -> Comparisons:
    """The comparisons in pairwise votes or rankings of ``systems``."""
    at = {label: index for index, label in enumerate(systems)}
    items, judges = (dict.fromkeys(sorted({getattr(vote, of) for vote in votes})) for of in _CLUSTERS)
    item_at, judge_at = ({label: index for index, label in enumerate(labels)} for labels in (items, judges))
    rows: list[tuple[int, int, int, int, int, int]] = []
    for number, vote in enumerate(votes):
        where = (item_at[vote.item], judge_at[vote.judge], number)
        if "choice" in vote.value:
            first, second = vote.systems
            rows.append((at[first], at[second], OUTCOMES[vote.value["choice"]], *where))
            continue
        ranked = list(zip(vote.systems, vote.value["ranks"], strict=True))
        for (first, one), (second, other) in combinations(ranked, 2):
            rows.append((at[first], at[second], TIE if one == other else FIRST if one < other else SECOND, *where))
    columns = np.asarray(rows, dtype=np.intp).reshape(-1, 6).T
    return Comparisons(tuple(systems), tuple(items), tuple(judges), *columns)


_CLUSTERS: Final = ("item", "judge")
