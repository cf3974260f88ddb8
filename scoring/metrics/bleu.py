"""BLEU-1 of sentences on mecab-ko morphs, as the AI 말평 scorer computes it.

Officially ``nltk.translate.bleu_score.sentence_bleu([reference], candidate, weights=(1, 0, 0, 0))`` on the morphs of
the raw texts, the mean over items being the corpus score. With one reference and unigrams only that is the clipped
precision times the brevity penalty exp(1 - reference length / candidate length) of a candidate no longer than the
reference (Papineni et al. 2002). Without a shared morph, so also for an empty candidate or reference, it is 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from scoring.errors import Message
from scoring.figures import Figure, at_most, exponential, ratio
from scoring.metrics.base import LexicalMetric
from scoring.metrics.ngrams import clipped_matches


def bleu_1(reference: Sequence[str], candidate: Sequence[str]) -> float:
    """Sentence BLEU-1 of two token sequences, 0-1."""
    overlap = clipped_matches(candidate, [reference])
    if overlap == 0:
        return 0.0
    precision = overlap / len(candidate)
    return float(precision * brevity_penalty(len(reference), len(candidate)))


def brevity_penalty(reference_length: Figure, candidate_length: Figure) -> Figure:
    """1 for a candidate longer than the reference, else exp(1 - r/c). Lengths in tokens; 1 where the candidate is 0."""
    return exponential(at_most(1 - ratio(reference_length, candidate_length), 0.0))


class SentenceBleu1(LexicalMetric):
    """BLEU-1 of each pair on mecab-ko morphs."""

    name = "sentence_bleu1"
    label = Message("BLEU-1", "BLEU-1")
    rule = "sentence-bleu@1"
    card = "bleu"
    score_names = ("bleu_1",)
    reads = "mecab-ko"

    def value(self, reference: Sequence[str], candidate: Sequence[str]) -> float:
        return bleu_1(reference, candidate)
