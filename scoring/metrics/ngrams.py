"""What the n-gram metrics share: runs of tokens, how many of them other texts have, the nearest reference length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

Ngram = str | tuple[str, ...]


def ngrams(tokens: Sequence[str], n: int) -> Sequence[Ngram]:
    """Every run of ``n`` neighbouring tokens in order: ``len(tokens) - n + 1`` of them, or none.

    For ``n`` = 1 the tokens themselves: tuples of one token would only take time.
    """
    return tokens if n == 1 else list(zip(*[tokens[start:] for start in range(n)], strict=False))


def clipped_matches(
    grams: Sequence[Hashable], others: Sequence[Sequence[Hashable]], distinct: frozenset[Hashable] | None = None
) -> int:
    """How many of ``grams`` the ``others`` have: each at most as often as the one of them that has it most often.

    Few n-grams occur twice in one text; for the others a set is enough, without counts. Linear in all n-grams. Without
    ``others``, 0. ``distinct``: the set of ``grams``, from whoever compares them with more than one text.
    """
    distinct = frozenset(grams) if distinct is None else distinct
    matches = len(distinct) - len(distinct.difference(*others))
    if len(distinct) < len(grams) and matches:
        counted = [Counter(other) for other in others]
        for gram, count in Counter(grams).items():
            if count > 1:
                most = max([of.get(gram, 0) for of in counted])
                matches += max(0, min(count, most) - 1)
    return matches


def closest_length(lengths: Iterable[int], length: int) -> int:
    """Of ``lengths`` (at least one) the nearest to ``length``; of two equally near, the shorter."""
    return min(lengths, key=lambda other: (abs(other - length), other))
