"""The comparison of answers pair by pair, as it was before it followed agreements: what ``test_similarity`` trusts."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, compress
from operator import eq
from typing import Final

from malpan.submissions.integrity.similarity import Pair, normalised

SMALL_FIELD: Final = 5
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class _Coded:
    """A file with its answers as numbers, one for each item in a fixed order, and the weight of each.

    An item without an answer has a negative number that no other file has, so it equals nothing.
    """

    name: str
    codes: Sequence[int]
    weights: Sequence[float]
    total: float


def similar_pairs(
    files: Mapping[str, Mapping[str, str]], *, least: float = 0.6, fewest: int = 5, most: int = 500
) -> list[Pair]:
    """The pairs with a score of at least ``least`` (above 0) and ``fewest`` same answers, the most alike first.

    At most ``most`` of them: if more are that similar, the task leaves hardly any room for different answers.
    """
    items = sorted({item for answers in files.values() for item in answers})
    shown = [[normalised(answers.get(item, "")) for item in items] for answers in files.values()]
    sizes = [Counter(filter(None, texts)) for texts in zip(*shown, strict=True)]  # per item: number of files by answer
    numbers = [{text: number for number, text in enumerate(counts)} for counts in sizes]
    weights = [_weights(counts, len(files)) for counts in sizes]
    counted = [list(counts.values()) for counts in sizes]
    coded = [
        _Coded(
            name,
            [known.get(text, -1 - position) for known, text in zip(numbers, texts, strict=True)],
            values := [known.get(text, 0.0) for known, text in zip(weights, texts, strict=True)],
            math.fsum(values),
        )
        for position, (name, texts) in enumerate(zip(files, shown, strict=True))
    ]
    scored = (
        (score, one, other)
        for one, other in combinations(range(len(coded)), 2)
        if (score := _score(coded[one], coded[other])) >= least - _ROUNDING
    )
    alike = [each for each in scored if sum(map(eq, coded[each[1]].codes, coded[each[2]].codes)) >= fewest]
    first = heapq.nsmallest(most, alike, key=lambda each: (-each[0], coded[each[1]].name, coded[each[2]].name))
    return [_described(coded[one], coded[other], score, counted) for score, one, other in first]


def _weights(counts: Counter[str], file_count: int) -> dict[str, float]:
    """The weight of sharing each answer of an item."""
    if file_count < SMALL_FIELD:
        return dict.fromkeys(counts, 1.0)
    return {text: -math.log(count / counts.total()) for text, count in counts.items()}


def _score(one: _Coded, other: _Coded) -> float:
    shared = sum(compress(one.weights, map(eq, one.codes, other.codes)))
    return min(1.0, 2 * shared / total) if (total := one.total + other.total) else 0.0


def _described(one: _Coded, other: _Coded, score: float, sizes: Sequence[Sequence[int]]) -> Pair:
    same = [item for item, is_same in enumerate(map(eq, one.codes, other.codes)) if is_same]
    return Pair(
        one=one.name,
        other=other.name,
        score=score,
        same=len(same),
        compared=sum(a >= 0 <= b for a, b in zip(one.codes, other.codes, strict=True)),
        only_theirs=sum(sizes[item][one.codes[item]] == 2 for item in same),
    )
