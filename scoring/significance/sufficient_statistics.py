"""Corpus metrics as functions of summed rows, for thousands of resamplings at once.

``CorpusMetric.aggregate`` takes the rows of one selection of items. Here the same formulas take arrays of sums, one
line a trial, and give the same scores. A metric that is not in ``SUMMABLE`` cannot be resampled: the rows of the
measures of diversity have a meaning only as one whole file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scoring.metrics import classification
from scoring.metrics.chrf import BETA
from scoring.metrics.corpus_bleu import LONGEST as BLEU_LONGEST
from scoring.metrics.corpus_bleu import NAMES as BLEU_NAMES
from scoring.significance.resampling import FloatArray, Scorer

Rows = Sequence[tuple[float, ...]]

CLIP_COLUMNS: Final = ("clipscore", "refclipscore", "clip_cosine", "clip_truncated")  # a row of the CLIP metric


@dataclass(frozen=True, slots=True)
class Summable:
    """Additive rows (items, width) of two systems, item by item, and the scores of their sums (trials, width).

    ``approximate`` names the scores that the sums give only nearly.
    """

    a: FloatArray
    b: FloatArray
    score: Scorer
    approximate: tuple[str, ...] = ()


def bleu_of_sums(sums: FloatArray) -> dict[str, FloatArray]:
    """BLEU-1 to BLEU-4, as ``scoring.metrics.corpus_bleu.bleu``: (trials, 10) to (trials,) each."""
    matches, totals = sums[:, :BLEU_LONGEST], sums[:, BLEU_LONGEST : 2 * BLEU_LONGEST]
    candidates, references = sums[:, -2], sums[:, -1]
    precisions = _ratio(matches, totals)
    with np.errstate(divide="ignore"):
        logarithms = np.cumsum(np.log(precisions), axis=1) / np.arange(1, BLEU_LONGEST + 1)
    excess = np.divide(references, candidates, out=np.ones(len(sums)), where=candidates > 0)
    penalty = np.exp(np.minimum(0.0, 1 - excess))
    return dict(zip(BLEU_NAMES, (penalty[:, None] * np.exp(logarithms)).T, strict=True))


def chrf_of_sums(sums: FloatArray) -> dict[str, FloatArray]:
    """chrF, as ``scoring.metrics.chrf.f_score``: (trials, 18) to (trials,)."""
    ours, theirs, matches = sums[:, ::3], sums[:, 1::3], sums[:, 2::3]
    both = (ours > 0) & (theirs > 0)
    orders = np.maximum(both.sum(axis=1), 1)
    precision = (_ratio(matches, ours) * both).sum(axis=1) / orders
    recall = (_ratio(matches, theirs) * both).sum(axis=1) / orders
    return {"chrf": _ratio((1 + BETA**2) * precision * recall, BETA**2 * precision + recall)}


def _classification(a: Rows, b: Rows) -> Summable:
    most = classification.MAX_RESAMPLED_CLASSES
    seen = classification.resampled_classes((*a, *b), most + 1)
    approximate: tuple[str, ...] = ()
    if len(seen) > most:  # the first one left out is the commonest in the references of those left out
        has_weight = any(seen[most] in classification.decode(row)[0] for row in (*a, *b))
        approximate = ("f1_macro", "f1_weighted") if has_weight else ("f1_macro",)
    left, right = (classification.additive(rows, seen[:most]) for rows in (a, b))
    return Summable(left, right, classification.scores_of_sums, approximate)


def _added_up(score: Scorer) -> Callable[[Rows, Rows], Summable]:
    """For metrics whose rows are additive as they are."""
    return lambda a, b: Summable(np.array(a, dtype=np.float64), np.array(b, dtype=np.float64), score)


def _clip(a: Rows, b: Rows) -> Summable:
    """Means of all columns; the last column of the additive rows counts the items."""
    left, right = (np.array([(*row, 1.0) for row in rows]) for rows in (a, b))
    return Summable(left, right, lambda sums: dict(zip(CLIP_COLUMNS, (sums[:, :-1] / sums[:, -1:]).T, strict=True)))


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """``part / whole``, 0 where ``whole`` is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


# By metric: its score names, and what makes its rows of two systems summable.
SUMMABLE: Final[dict[str, tuple[tuple[str, ...], Callable[[Rows, Rows], Summable]]]] = {
    "bleu": (BLEU_NAMES, _added_up(bleu_of_sums)),
    "chrf": (("chrf",), _added_up(chrf_of_sums)),
    "classification": (classification.Classification.score_names, _classification),
    "clipscore": (CLIP_COLUMNS, _clip),
}
