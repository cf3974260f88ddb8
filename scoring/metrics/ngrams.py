"""What the n-gram metrics share: runs of tokens, and the reference length nearest to a candidate's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Ngram = tuple[str, ...]


def ngrams(tokens: Sequence[str], n: int) -> list[Ngram]:
    """Every run of ``n`` neighbouring tokens in order: as many as tokens less ``n - 1``, or none."""
    return list(zip(*(tokens[start:] for start in range(n)), strict=False))


def closest_length(lengths: Iterable[int], length: int) -> int:
    """Of ``lengths`` (at least one) the nearest to ``length``; of two as near, the shorter."""
    return min(lengths, key=lambda other: (abs(other - length), other))
