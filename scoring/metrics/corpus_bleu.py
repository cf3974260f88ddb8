"""Corpus BLEU-1 to BLEU-4 of captions on Okt morphs (0-1).

The rule of Papineni et al. (2002): the clipped n-gram matches of all items divided by all n-grams of the candidates,
the geometric mean of these precisions for 1 to n with equal weights, times the brevity penalty exp(1 - r/c) where the
candidates have fewer tokens (c) than the references (r).

Several references: an n-gram counts at most as often as the reference that has it most often; the reference length is
the *closest* to the candidate's, of two equally close the shorter one. pycocoevalcap's ``Bleu`` and nltk's
``corpus_bleu`` do both in the same way.

Nothing is smoothed: where no n-gram of some order matches, or the candidates have none, the BLEU of that order and of
the longer ones is exactly 0. Other packages differ here; our rule is on purpose:

* pycocoevalcap adds 1e-15 to each match count and 1e-9 to each total. If all counts are positive, that changes a value
  by less than 1e-9; without a match of order n it gives about (1e-15 / total)^(1/n) instead of 0, which for BLEU-4 may
  reach 0.0001.
* nltk counts one n-gram for a candidate too short to have any, so a corpus with such candidates (also empty ones) gets
  a lower value there. Without them the values are equal. If nothing matches, it uses the smallest positive float
  instead of 0 and warns.
* sacrebleu smooths by default and gives BLEU-4 alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from scoring.errors import Message
from scoring.figures import Figure, exponential, logarithm, ratio
from scoring.metrics.base import Row, RowMetric
from scoring.metrics.bleu import brevity_penalty
from scoring.metrics.ngrams import clipped_matches, closest_length, ngrams

LONGEST: Final = 4
NAMES: Final = ("bleu_1", "bleu_2", "bleu_3", "bleu_4")


def counts(references: Sequence[Sequence[str]], candidate: Sequence[str]) -> Row:
    """What an item adds to the corpus: 4 match counts, 4 totals, the candidate's length, the closest reference length.

    Lengths in tokens. Raises ``ValueError`` without a reference.
    """
    nearest = closest_length(map(len, references), len(candidate))
    matches = [0] * LONGEST
    for n in range(1, LONGEST + 1):
        found = clipped_matches(ngrams(candidate, n), [ngrams(reference, n) for reference in references])
        if not found:  # without a match there is none of a longer n-gram
            break
        matches[n - 1] = found
    totals = [max(0, len(candidate) - n + 1) for n in range(1, LONGEST + 1)]
    return (*matches, *totals, len(candidate), nearest)


def bleu(sums: Sequence[Figure]) -> list[Figure]:
    """BLEU-1 to BLEU-4 from summed ``counts``, 0-1."""
    matches, totals = sums[:LONGEST], sums[LONGEST : 2 * LONGEST]
    candidates, references = sums[2 * LONGEST :]
    penalty = brevity_penalty(references, candidates)
    values: list[Figure] = []
    logarithms: Figure = 0.0
    for n in range(1, LONGEST + 1):
        logarithms = logarithms + logarithm(ratio(matches[n - 1], totals[n - 1]))
        values.append(penalty * exponential(logarithms / n))
    return values


class CorpusBleu(RowMetric):
    """BLEU-1 to BLEU-4 of the corpus; items have counts, no values."""

    name = "bleu"
    label = Message("BLEU", "BLEU")
    rule = "corpus-bleu@1"
    score_names = NAMES
    reads = "okt"

    def parameters(self) -> dict[str, Any]:
        return {"n": LONGEST, "smoothing": "none", "references": "closest length"}

    def row(self, references: Sequence[Sequence[str]], candidate: Sequence[str]) -> Row:
        return counts(references, candidate)

    @classmethod
    def scores(cls, sums: Sequence[Figure]) -> dict[str, Figure]:
        return dict(zip(NAMES, bleu(sums), strict=True))
