"""The checks among a judge's votes, and whether the judge passed them. Loads nothing that computes.

* A control is failed unless the bad output loses: to the other in a pair, to all others in a ranking, and where one
  output is rated, to the judge's own mean.
* A repeat shows what the judge saw before once more. Of pairs every verdict can be as before, or not; a rating is the
  same within ``NEAR_POINTS``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scoring.arena.vote_records import Kind, Vote, Votes
from scoring.arena.vote_values import is_of_pairs, pair_verdicts, points_of

NEAR_POINTS: Final = 0.125  # how near a repeated rating is the same: half a step of 1-5, 12 of 100


@dataclass(frozen=True, slots=True)
class Check:
    """A control or a repeat, by the number of its vote. ``failed`` of ``count``: one, or the pairs of a repeat."""

    number: int
    judge: str
    kind: Kind
    failed: int
    count: int


def checks_of(votes: Votes) -> Iterator[Check]:
    """The checks among the counted votes, in the order of the file; a repeat whose first does not count is none."""
    counted = list(votes.counted())
    by_number = {vote.number: vote for vote in counted}
    real: dict[str, list[Vote]] = defaultdict(list)
    for vote in counted:
        if vote.kind == "real":
            real[vote.judge].append(vote)
    for vote in counted:
        if vote.kind == "control":
            yield Check(vote.number, vote.judge, vote.kind, int(is_failed(vote, real[vote.judge], votes)), 1)
        elif vote.kind == "repeat" and (same := same_as_before(vote, by_number, votes)):
            yield Check(vote.number, vote.judge, vote.kind, same.count(False), len(same))


def is_failed(vote: Vote, real: Sequence[Vote], votes: Votes) -> bool:
    """Whether the bad output of a control did not lose; ``real`` are the judge's own votes that are no checks."""
    bad = vote.bad or 0
    if "choice" in vote.value:
        return bool(vote.value["choice"] != ("second", "first")[bad])
    if "ranks" in vote.value:
        ranks = vote.value["ranks"]
        return any(rank >= ranks[bad] for place, rank in enumerate(ranks) if place != bad)
    own = [points_of(each, votes.criteria) for each in real]
    return bool(own) and points_of(vote, votes.criteria) >= sum(own) / len(own)


def same_as_before(vote: Vote, by_number: Mapping[int, Vote], votes: Votes) -> list[bool]:
    """Whether each verdict of a repeat is that of the vote it repeats; empty where that one does not count."""
    first = by_number.get(vote.repeats or 0)
    if first is None:
        return []
    if is_of_pairs(votes.protocol):
        before = dict(pair_verdicts(first))
        return [before[pair] == side for pair, side in pair_verdicts(vote)]
    return [abs(points_of(vote, votes.criteria) - points_of(first, votes.criteria)) <= NEAR_POINTS]
