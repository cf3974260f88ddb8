"""ROUGE and BLEU of an item with several references, as the AI 말평 scorer takes them together.

* ROUGE (py-rouge with ``apply_avg``): the counts of all references of an item are added up, and precision, recall and F
  are made of the sums. A long reference weighs more than a short one.
* BLEU: the mean of the sentence BLEU against each reference.

The corpus score is the mean over the items. With one reference the values are those of ``rouge`` and ``bleu``. The
scorer's BERTScore and BLEURT know the first reference alone: there the recipe hands over no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scoring.errors import Message
from scoring.figures import average
from scoring.metrics.base import Row, RowMetric, Tokenize
from scoring.metrics.bleu import bleu_1
from scoring.metrics.rouge import (
    PARAMETERS,
    Counts,
    clean_lines,
    f_measure,
    rouge_l_counts,
    rouge_n_counts,
    whole,
)


def pooled_f(counts: Sequence[Counts]) -> float:
    """The F of counts against several references, added up."""
    overlap, candidate, reference = (sum(column) for column in zip(*counts, strict=True))
    return f_measure(overlap, candidate, reference)


class _Pooled(RowMetric):
    """What the two have in common."""

    rule = "py-rouge-ko-pooled@1"
    reads = "mecab-ko"
    has_item_values = True

    def parameters(self) -> dict[str, Any]:
        return dict(PARAMETERS)


class PooledRouge1(_Pooled):
    """ROUGE-1 F of the pooled counts on mecab-ko morphs."""

    name = "rouge1_pooled"
    label = Message("ROUGE-1", "ROUGE-1")
    card = "rouge"
    score_names = ("rouge_1",)

    def pieces(self, text: str) -> Sequence[str]:
        return (whole(text),)

    def row(self, references: Sequence[Any], candidate: Any) -> Row:
        return (pooled_f([rouge_n_counts(reference, candidate, 1) for reference in references]),)


class PooledRougeL(_Pooled):
    """ROUGE-L F of the pooled counts on mecab-ko morphs, by lines."""

    name = "rougel_pooled"
    label = Message("ROUGE-L", "ROUGE-L")
    card = "rouge"
    score_names = ("rouge_l",)

    def pieces(self, text: str) -> Sequence[str]:
        return clean_lines(text)

    def tokens(self, text: str, tokenize: Tokenize) -> list[Sequence[str]]:
        return list(map(tokenize, self.pieces(text)))

    def row(self, references: Sequence[Any], candidate: Any) -> Row:
        return (pooled_f([rouge_l_counts(reference, candidate) for reference in references]),)


class MeanBleu1(RowMetric):
    """Sentence BLEU-1 on mecab-ko morphs, the mean over the references."""

    name = "bleu1_mean"
    label = Message("BLEU-1", "BLEU-1")
    rule = "sentence-bleu-mean@1"
    card = "bleu"
    score_names = ("bleu_1",)
    reads = "mecab-ko"
    has_item_values = True

    def row(self, references: Sequence[Any], candidate: Any) -> Row:
        return (average([bleu_1(reference, candidate) for reference in references]),)
