"""CIDEr-D of captions on Okt morphs (0-10).

The rule is that of Vedantam, Zitnick and Parikh (2015), section 4 with the "-D" changes, as the COCO caption server
runs it (pycocoevalcap's ``Cider``, equal to 1e-9 given the same tokens): n-grams of 1 to 4 tokens; the weight of an
n-gram in a text is its count there times the logarithm of (items / items whose references have it); the similarity of
candidate and reference is, for each n, the cosine with the candidate's weights clipped to the reference's, times a
gaussian of the length difference (sigma 6 tokens), and their mean over n; times 10. Counts are not stemmed.

Several references: an item's value is the *mean* over its references, not the best. The document frequencies count
items, not texts, and come from the references of the whole corpus. So a value is valid for its corpus only, an n-gram
that every item has counts nothing, and a corpus of one item always scores 0. This defeats a caption stuffed with words
that fit everywhere.

The gaussian uses lengths in tokens. pycocoevalcap uses bigrams, which differs for an empty text only; that has no
n-gram and scores 0 in both.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any, Final, NamedTuple

from scoring.errors import Message
from scoring.metrics.base import CorpusMetric, PairProgress, Row, Tokenize
from scoring.metrics.ngrams import Ngram, ngrams

LONGEST: Final = 4
SIGMA: Final = 6.0
SCALE: Final = 10.0


class Importance(NamedTuple):
    """The weight of an n-gram: the natural logarithm of items / items whose references have it.

    ``known`` is by n-gram, 0.0 for one that every item has. ``unseen`` is for an n-gram that no reference has; it is
    that of an n-gram of one item.
    """

    known: Mapping[Ngram, float]
    unseen: float


class Vector(NamedTuple):
    """The weighted n-grams of one text: for each n their weights and euclidean norm, and its length in tokens."""

    weights: list[dict[Ngram, float]]
    norms: list[float]
    length: int


def cider_d(
    references: Sequence[Sequence[Sequence[str]]],
    candidates: Sequence[Sequence[str]],
    progress: PairProgress | None = None,
) -> list[float]:
    """CIDEr-D of every item, 0-10. ``references[i]`` are the token sequences of item i, at least one."""
    importance = inverse_frequencies(references)
    values: list[float] = []
    for texts, tokens in zip(references, candidates, strict=True):
        values.append(item_value(texts, tokens, importance))
        if progress is not None:
            progress(len(values), len(references))
    return values


def inverse_frequencies(references: Sequence[Sequence[Sequence[str]]]) -> Importance:
    """The importance of n-grams in a corpus with these references."""
    items_with: Counter[Ngram] = Counter()
    for texts in references:
        items_with.update(set().union(*[ngrams(tokens, n) for tokens in texts for n in _ORDERS]))
    everything = math.log(len(references)) if references else 0.0
    # Most n-grams have one of a few frequencies: each logarithm is taken once.
    worth = {items: everything - math.log(items) for items in set(items_with.values())}
    return Importance({gram: worth[items] for gram, items in items_with.items()}, everything)


def item_value(references: Sequence[Sequence[str]], candidate: Sequence[str], importance: Importance) -> float:
    """CIDEr-D of one item given the importance of n-grams: ten times the mean similarity over its references."""
    vector = vectorised(candidate, importance)
    values = [similarity(vector, vectorised(reference, importance)) for reference in references]
    return SCALE * math.fsum(values) / len(values)


def vectorised(tokens: Sequence[str], importance: Importance) -> Vector:
    """Count times importance of every n-gram of ``tokens``."""
    weights: list[dict[Ngram, float]] = []
    for n in _ORDERS:
        grams = ngrams(tokens, n)
        weight_of = dict(zip(grams, map(importance.known.get, grams, repeat(importance.unseen)), strict=True))
        if len(weight_of) < len(grams):
            for gram, count in Counter(grams).items():
                weight_of[gram] *= count
        weights.append(weight_of)
    return Vector(weights, [math.hypot(*one.values()) for one in weights], len(tokens))


def similarity(candidate: Vector, reference: Vector) -> float:
    """The mean over n of the clipped cosines, times the gaussian of the length difference. 0-1."""
    cosines: list[float] = []
    for ours, theirs, our_norm, their_norm in zip(
        candidate.weights, reference.weights, candidate.norms, reference.norms, strict=True
    ):
        shared = ours.keys() & theirs.keys()
        if not shared:  # nor any longer n-gram
            break
        if our_norm and their_norm:
            pairs = [(ours[gram], theirs[gram]) for gram in shared]
            product = math.fsum([(one if one < other else other) * other for one, other in pairs])
            cosines.append(product / (our_norm * their_norm))
    difference = candidate.length - reference.length
    return math.exp(-(difference**2) / (2 * SIGMA**2)) * math.fsum(cosines) / LONGEST


_ORDERS: Final = range(1, LONGEST + 1)


class CiderD(CorpusMetric):
    """CIDEr-D of each item, computed with all references; the score is the mean."""

    name = "cider"
    label = Message("CIDEr-D", "CIDEr-D")
    rule = "cider-d@1"
    reads = "okt"
    has_item_values = True
    needs_corpus = True

    def parameters(self) -> dict[str, Any]:
        return {"n": LONGEST, "sigma": SIGMA, "scale": SCALE, "references": "mean"}

    def statistics(
        self,
        ids: Sequence[str],
        references: Sequence[Sequence[str]],
        candidates: Sequence[str],
        progress: PairProgress | None = None,
        *,
        tokenize: Tokenize | None = None,
    ) -> list[Row]:
        """One row for each item: its CIDEr-D, 0-10."""
        read = self.reader(tokenize)
        texts = [[read(text) for text in item] for item in references]
        return [(value,) for value in cider_d(texts, list(map(read, candidates)), progress)]
