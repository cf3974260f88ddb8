"""Which neighbours of a board of composites are told apart only by differences within the spread of repeated scoring.

Pure. Ranks stay as they are: they follow from the values that were computed. What is said beside them is that a team is
ahead of another only because of values that another run might have turned round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from malpan.leaderboard.boards import BoardRow
from malpan.submissions.rescoring.deltas import NOISE, is_within
from scoring.composite import Composite


def is_owed_to_spread(above: Composite, below: Composite, spreads: Mapping[str, float]) -> bool:
    """Whether ``above`` is ahead of ``below`` only by parts whose values differ by no more than their spread: counted
    as equal, they leave it no lead.
    """
    lead, has_close = 0.0, False
    theirs = {part.score: part for part in below.parts}
    for mine in above.parts:
        other = theirs[mine.score]
        difference = 0.0 if mine.value is None or other.value is None else mine.value - other.value
        if difference and is_within(difference, mine.score, spreads):
            has_close = True
        else:
            lead += mine.weight * (mine.normalised - other.normalised)
    return has_close and lead <= NOISE


def close_neighbours(rows: Iterable[BoardRow], spreads: Mapping[str, float]) -> list[tuple[BoardRow, BoardRow]]:
    """The neighbours among ``rows``, given by rank, whose order is owed to the spread; baselines have no neighbours."""
    ranked = [row for row in rows if row.rank is not None and row.composite is not None]
    return [
        (above, below)
        for above, below in pairwise(ranked)
        if above.composite and below.composite and is_owed_to_spread(above.composite, below.composite, spreads)
    ]
