"""What the value of one vote says: which output is better, or how good one is. Loads nothing that computes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from scoring.arena.vote_records import HIGHEST_SCORE, Criterion, Protocol, Vote

_SIDES: Final = {"first": -1, "tie": 0, "both_bad": 0, "second": 1}


def is_of_pairs(protocol: Protocol) -> bool:
    """Whether votes compare systems (pairwise, ranking), rather than rate one."""
    return protocol in ("pairwise", "ranking")


def pair_verdicts(vote: Vote) -> Iterator[tuple[tuple[str, str], int]]:
    """The pairs of systems in a pairwise vote or a ranking, the lower label first, each with -1 where that one is
    better, 0 for a tie, 1.
    """
    if "choice" in vote.value:
        first, second = vote.systems
        side = _SIDES[vote.value["choice"]]
        yield ((first, second), side) if first < second else ((second, first), -side)
        return
    ranked = sorted(zip(vote.systems, vote.value["ranks"], strict=True))
    for (one, rank), (other, next_rank) in combinations(ranked, 2):
        yield (one, other), (rank > next_rank) - (rank < next_rank)


def points_of(vote: Vote, criteria: Sequence[Criterion]) -> float:
    """The points of a vote with a rubric or with errors, 0-1."""
    if "score" in vote.value:
        return float(vote.value["score"]) / HIGHEST_SCORE
    weights = [each.weight for each in criteria]
    total = sum(weights)
    shares = [(vote.value["scores"][each.key] - each.low) / (each.high - each.low) for each in criteria]
    if not total:
        return float(sum(shares) / len(shares))
    return float(sum(weight * share for weight, share in zip(weights, shares, strict=True)) / total)
