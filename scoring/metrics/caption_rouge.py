"""ROUGE-1, ROUGE-2 and ROUGE-L (F, alpha 0.5) of captions on Okt morphs (0-1).

The rule of Lin (2004): clipped n-gram overlap, and the longest common subsequence of the two texts as one sentence. The
morphs are those of the lower-cased text: unlike in the contest's ROUGE (``scoring.metrics.rouge``) nothing is cut after
1,000 words, no character is removed and lines are not distinguished. Equal to rouge-metric's ``PyRouge`` given the same
tokens and one reference.

Several references: the *best F*. The caller scores pairs and takes the best of an item. Two packages have other rules:

* pycocoevalcap's ``Rouge`` is ROUGE-L with beta 1.2 (alpha 1 / (1 + 1.2²)), which favours recall, from the highest
  precision and the highest recall of all references, which may belong to two different references. So it is never below
  the best F with that beta; with one reference the values are equal.
* rouge-metric with ``multi_ref_mode="best"`` takes the F of the reference with the best recall; with ``"average"`` it
  adds up the counts of all references.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scoring.errors import Message
from scoring.metrics.base import LexicalMetric
from scoring.metrics.rouge import ALPHA, f_measure, lcs_length, rouge_n


def sentence_rouge_l(reference: Sequence[str], candidate: Sequence[str], alpha: float = ALPHA) -> float:
    """Sentence-level ROUGE-L F of two token sequences; 0.0 where either is empty.

    ``alpha`` is the weight of precision.
    """
    return f_measure(lcs_length(reference, candidate), len(candidate), len(reference), alpha)


class CaptionRouge(LexicalMetric):
    """What ROUGE on captions has in common: the morphs, and the text in lower case."""

    rule = "caption-rouge@1"
    reads = "okt"
    is_cheap = True  # the tokens are made for the corpus metrics anyway

    def parameters(self) -> dict[str, Any]:
        return {"alpha": ALPHA, "lower_case": True}

    def pieces(self, text: str) -> Sequence[str]:
        return (text.lower(),)


class CaptionRouge1(CaptionRouge):
    """ROUGE-1 F: shared morphs."""

    name = "rouge1_okt"
    label = Message("ROUGE-1", "ROUGE-1")
    card = "rouge"
    score_names = ("rouge_1",)

    def value(self, reference: Sequence[str], candidate: Sequence[str]) -> float:
        return rouge_n(reference, candidate, 1)


class CaptionRouge2(CaptionRouge):
    """ROUGE-2 F: shared pairs of neighbouring morphs."""

    name = "rouge2_okt"
    label = Message("ROUGE-2", "ROUGE-2")
    card = "rouge"
    score_names = ("rouge_2",)

    def value(self, reference: Sequence[str], candidate: Sequence[str]) -> float:
        return rouge_n(reference, candidate, 2)


class CaptionRougeL(CaptionRouge):
    """ROUGE-L F: longest common subsequence of morphs."""

    name = "rougel_okt"
    label = Message("ROUGE-L", "ROUGE-L")
    card = "rouge"
    score_names = ("rouge_l",)

    def value(self, reference: Sequence[str], candidate: Sequence[str]) -> float:
        return sentence_rouge_l(reference, candidate)
