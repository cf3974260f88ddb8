"""Which teams passed which between two notes of a board's ranks. Pure."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from math import inf
from typing import Final

MOST: Final = 20  # teams named of a board


@dataclass(frozen=True, slots=True)
class Passed:
    """``by`` which teams, the best first and at most ``MOST``, and how many more there are."""

    by: list[str]
    more: int


def passed_teams(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, Passed]:
    """The teams that others passed, from their ranks ``before`` to those ``after``. Who is new passed all below.

    10,000 teams in any order take half a second: of few that passed a team the best are picked, of many the first met.
    """
    found = {}
    ordered = sorted(after, key=after.__getitem__)
    above: list[tuple[float, str]] = []  # who ranks higher now, by the rank before
    for number, team in enumerate(ordered):
        was = before.get(team, inf)
        place = number if was == inf else bisect_right(above, (was, team))
        count = number - place
        if count * count > MOST * number:
            met = (each for each in islice(ordered, number) if before.get(each, inf) > was)
            first = list(islice(met, MOST))
        else:
            first = nsmallest(MOST, (name for _rank, name in above[place:]), key=after.__getitem__)
        if count:
            found[team] = Passed(first, count - len(first))
        insort(above, (was, team))
    return found
