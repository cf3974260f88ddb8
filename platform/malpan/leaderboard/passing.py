"""Which teams passed which between two notes of a board's ranks. Pure."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import nsmallest
from math import inf
from typing import Final

MOST: Final = 20  # teams named of a board


@dataclass(frozen=True, slots=True)
class Passed:
    """``by`` which teams, the best first and at most ``MOST``, and how many more there are."""

    by: list[str]
    more: int


def passed_teams(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, Passed]:
    """The teams that others passed, from their ranks ``before`` to those ``after``. Who is new passed all below."""
    found = {}
    above: list[tuple[float, str]] = []  # who ranks higher now, by the rank before
    for team in sorted(after, key=after.__getitem__):
        was = before.get(team)
        passed_it = [] if was is None else above[bisect_right(above, (was, team)) :]
        if passed_it:
            first = nsmallest(MOST, (name for _rank, name in passed_it), key=after.__getitem__)
            found[team] = Passed(first, len(passed_it) - len(first))
        insort(above, (inf if was is None else was, team))
    return found
