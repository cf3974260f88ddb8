"""CIDEr-D of captions on Okt morphs (0-10).

The rule is that of Vedantam, Zitnick and Parikh (2015), section 4 with the "-D" changes, as the COCO caption server
runs it (pycocoevalcap's ``Cider``, equal to 1e-9 given the same tokens): n-grams of 1 to 4 tokens; the weight of an
n-gram in a text is its count there times the logarithm of (items / items whose references have it); the similarity of
candidate and reference is, for each n, the cosine with the candidate's weights clipped to the reference's, times a
gaussian of the length difference (sigma 6 tokens), and their mean over n; times 10. Counts are not stemmed.

Several references: an item's value is the *mean* over its references, not the best. The document frequencies count
items, not texts, and come from the references of the whole corpus. So a value holds for its corpus only, an n-gram that
every item has is worth nothing, and a corpus of one item always scores 0. This is what defeats a caption stuffed with
words that fit everywhere.

The gaussian takes lengths in tokens. pycocoevalcap takes them in bigrams, which differs for an empty text only; that
has no n-gram and scores 0 in both.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scoring.metrics import PairProgress, Row
from scoring.metrics.ngrams import Ngram, ngrams
from scoring.tokenization import Analyser, okt

if TYPE_CHECKING:
    from scoring.checkpoints import Resources

LONGEST: Final = 4
SIGMA: Final = 6.0
SCALE: Final = 10.0


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


def inverse_frequencies(references: Sequence[Sequence[Sequence[str]]]) -> Callable[[Ngram], float]:
    """The logarithm of items / items with the n-gram. An n-gram that no reference has counts as one that one item has.

    Natural logarithm; 0.0 for an n-gram of every item.
    """
    items_with: Counter[Ngram] = Counter()
    for texts in references:
        items_with.update({gram for tokens in texts for n in _ORDERS for gram in ngrams(tokens, n)})
    everything = math.log(len(references)) if references else 0.0
    known = {gram: everything - math.log(items) for gram, items in items_with.items()}
    return lambda gram: known.get(gram, everything)


def item_value(
    references: Sequence[Sequence[str]], candidate: Sequence[str], importance: Callable[[Ngram], float]
) -> float:
    """CIDEr-D of one item given the importance of n-grams: ten times the mean similarity over its references."""
    vector = vectorised(candidate, importance)
    values = [similarity(vector, vectorised(reference, importance)) for reference in references]
    return SCALE * math.fsum(values) / len(values)


def vectorised(tokens: Sequence[str], importance: Callable[[Ngram], float]) -> Vector:
    """Count times importance of every n-gram of ``tokens``."""
    weights = [{gram: count * importance(gram) for gram, count in Counter(ngrams(tokens, n)).items()} for n in _ORDERS]
    return Vector(weights, [math.hypot(*one.values()) for one in weights], len(tokens))


def similarity(candidate: Vector, reference: Vector) -> float:
    """The mean over n of the clipped cosines, times the gaussian of the length difference. 0-1."""
    cosines: list[float] = []
    for ours, theirs, our_norm, their_norm in zip(
        candidate.weights, reference.weights, candidate.norms, reference.norms, strict=True
    ):
        if our_norm and their_norm:
            shared = ours.keys() & theirs.keys()
            product = math.fsum(min(ours[gram], theirs[gram]) * theirs[gram] for gram in shared)
            cosines.append(product / (our_norm * their_norm))
    difference = candidate.length - reference.length
    return math.exp(-(difference**2) / (2 * SIGMA**2)) * math.fsum(cosines) / LONGEST


_ORDERS: Final = range(1, LONGEST + 1)


class CiderD:
    """CIDEr-D of each item in the light of all references; the score is the mean."""

    name = "cider"
    score_names = ("cider",)
    has_item_values = True

    def __init__(self, resources: Resources | None = None, analyser: Analyser | None = None) -> None:
        """``resources`` is ignored: no model is needed. ``analyser`` is Okt unless given."""
        self._analyser = analyser or okt()

    def signature(self) -> dict[str, Any]:
        return {
            "metric": self.name,
            "rule": "cider-d@1",
            "n": LONGEST,
            "sigma": SIGMA,
            "scale": SCALE,
            "references": "mean",
            "tokenizer": self._analyser.signature(),
        }

    def statistics(
        self,
        ids: Sequence[str],
        references: Sequence[Sequence[str]],
        candidates: Sequence[str],
        progress: PairProgress | None = None,
    ) -> list[Row]:
        """One row an item: its CIDEr-D, 0-10."""
        morphs = self._analyser.morphs
        texts = [[morphs(text) for text in item] for item in references]
        return [(value,) for value in cider_d(texts, list(map(morphs, candidates)), progress)]

    def aggregate(self, rows: Sequence[Row]) -> Mapping[str, float]:
        """The mean of the items' values."""
        return {self.name: math.fsum(row[0] for row in rows) / len(rows) if rows else 0.0}
