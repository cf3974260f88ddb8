"""BLEU-1 of sentences on mecab-ko morphs, as the AI 말평 scorer computes it.

Officially ``nltk.translate.bleu_score.sentence_bleu([reference], candidate, weights=(1, 0, 0, 0))`` on the morphs of
the raw texts, the mean over items being the corpus score. With one reference and unigrams only that is the clipped
precision times the brevity penalty exp(1 - reference length / candidate length) of a candidate no longer than the
reference (Papineni et al. 2002). Without a shared morph, so also for an empty candidate or reference, it is 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scoring.metrics import PairProgress
from scoring.metrics.ngrams import clipped_matches
from scoring.text.tokenization import Analyser, mecab_ko

if TYPE_CHECKING:
    from scoring.models.store import Resources


def bleu_1(reference: Sequence[str], candidate: Sequence[str]) -> float:
    """Sentence BLEU-1 of two token sequences, 0-1."""
    overlap = clipped_matches(candidate, [reference])
    if overlap == 0:
        return 0.0
    precision = overlap / len(candidate)
    return precision * brevity_penalty(len(reference), len(candidate))


def brevity_penalty(reference_length: float, candidate_length: float) -> float:
    """1 for a candidate longer than the reference, else exp(1 - r/c). Lengths in tokens, the candidate's above 0."""
    if candidate_length > reference_length:
        return 1.0
    return math.exp(1 - reference_length / candidate_length)


class SentenceBleu1:
    """BLEU-1 of each pair on mecab-ko morphs."""

    name = "bleu_1"

    def __init__(self, resources: Resources | None = None, analyser: Analyser | None = None) -> None:
        """``resources`` is ignored: no model is needed. ``analyser`` is mecab-ko unless given."""
        self._analyser = analyser or mecab_ko()

    def signature(self) -> dict[str, Any]:
        return {"metric": self.name, "rule": "sentence-bleu@1", "tokenizer": self._analyser.signature()}

    def score_pairs(
        self, references: Sequence[str], candidates: Sequence[str], progress: PairProgress | None = None
    ) -> list[float]:
        values: list[float] = []
        for reference, candidate in zip(references, candidates, strict=True):
            values.append(bleu_1(self._analyser.morphs(reference), self._analyser.morphs(candidate)))
            if progress is not None:
                progress(len(values), len(references))
        return values
