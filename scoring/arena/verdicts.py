"""What judges said of one unit, whatever the order shown: the tables that agreement is computed from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any, Final

from scoring.arena.agreement import Metric, Table, ac2_interval, alpha_interval, table_of
from scoring.arena.vote_records import HIGHEST_SCORE, Vote, Votes
from scoring.arena.vote_values import is_of_pairs, pair_verdicts

CHOICE: Final = "choice"  # of a pair: the system with the lower label, none, the other
ALL_CHOICES: Final = "all_choices"  # likewise, with both_bad as a category of its own
SCORE: Final = "score"

_BOTH_BAD: Final = 2


def tables(votes: Votes) -> dict[str, tuple[Table, Metric]]:
    """The tables of the counted real votes, each with its distance: of pairs ``CHOICE`` and, pairwise, ``ALL_CHOICES``;
    of a rubric every criterion; of marked errors ``SCORE``.
    """
    real = votes.real()
    if is_of_pairs(votes.protocol):
        sides = [((vote.item, pair), vote.item, side) for vote in real for pair, side in pair_verdicts(vote)]
        found: dict[str, tuple[Table, Metric]] = {CHOICE: (table_of(sides, (-1, 0, 1)), "ordinal")}
        if votes.protocol == "pairwise":
            every = [
                (unit, item, _BOTH_BAD if vote.value["choice"] == "both_bad" else side)
                for vote, (unit, item, side) in zip(real, sides, strict=True)
            ]
            found[ALL_CHOICES] = (table_of(every, (-1, 0, 1, _BOTH_BAD)), "nominal")
        return found
    if votes.protocol == "errors":
        return {SCORE: (_scores(real, [vote.value["score"] for vote in real], 0, HIGHEST_SCORE), "ordinal")}
    return {
        each.key: (_scores(real, [vote.value["scores"][each.key] for vote in real], each.low, each.high), "ordinal")
        for each in votes.criteria
    }


def _scores(votes: Sequence[Vote], scores: Sequence[float], low: float, high: float) -> Table:
    """Scores by (item, system). Categories are the whole numbers of the scale, or what was given."""
    whole = all(float(each).is_integer() for each in (low, high, *scores))
    categories = list(range(int(low), int(high) + 1)) if whole else sorted({low, high, *scores})
    rows = [
        ((vote.item, vote.systems[0]), vote.item, score) for vote, score in zip(votes, scores, strict=True)
    ]  # fmt: skip
    return table_of(rows, categories)


def agreement_document(votes: Votes) -> list[dict[str, Any]]:
    """Alpha and AC2 of every table, with their intervals, as JSON values."""
    settings = votes.settings
    options: dict[str, Any] = {"resamples": settings.resamples, "seed": settings.seed, "level": settings.level}
    rows = []
    for name, (table, metric) in tables(votes).items():
        row: dict[str, Any] = {"name": name, "metric": metric, "units": table.pairable, "same": table.same_share()}
        row["alpha"] = asdict(alpha_interval(table, metric, **options))
        row["ac2"] = asdict(ac2_interval(table, **options)) if metric == "ordinal" else None
        rows.append(row)
    return rows


def same_as_others(votes: Sequence[Vote]) -> Mapping[str, tuple[int, int]]:
    """Of each judge how many (equal, all) pairs of verdicts with other judges on the same pair of an item."""
    given: dict[Hashable, list[tuple[str, int]]] = defaultdict(list)
    for vote in votes:
        for pair, side in pair_verdicts(vote):
            given[vote.item, pair].append((vote.judge, side))
    found: dict[str, tuple[int, int]] = {}
    for verdicts in given.values():
        for (judge, side), (other, other_side) in combinations(verdicts, 2):
            if judge != other:
                for each in (judge, other):
                    equal, every = found.get(each, (0, 0))
                    found[each] = (equal + (side == other_side), every + 1)
    return found
