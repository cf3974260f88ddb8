"""BLEURT of Korean text, with the values of the bleurt-pytorch package 0.0.1.

A trained metric: one transformer reads "[CLS] reference [SEP] candidate [SEP]", and a linear head on [CLS] gives the
score (Sellam et al. 2020, "BLEURT: Learning Robust Metrics for Text Generation"). Values are mostly within 0-1 but are
not clipped, as the contest does not clip them. Pairs are cut to the model's length, the longer text first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scoring.errors import Message
from scoring.metrics.base import MetricOptions, PairMetric, PairProgress, Tokenize
from scoring.metrics.costs import MODEL_TOKENS, SPECIAL_TOKENS, estimated_tokens
from scoring.models.limits import Cut
from scoring.models.store import ModelStore, require


class Bleurt(PairMetric):
    """BLEURT with the model of the profile, reference first. The model is loaded when the first pair is scored."""

    name = "bleurt"
    label = Message("BLEURT", "BLEURT")
    rule = "bleurt"
    group = "meaning"
    model = "bleurt"
    warning_texts = {
        "bleurt_truncated": Message(
            "BLEURT 모델은 정답과 답변을 합해 토큰 {limit}개까지만 읽으며, 넘치면 긴 쪽부터 자릅니다. 정답 "
            "{references}개와 답변 {candidates}개는 앞부분만 점수에 반영되었습니다.",
            "The BLEURT model reads {limit} tokens of a reference and an answer together; the longer one is cut first. "
            "Only the beginnings count of {references} references and {candidates} answers.",
        )
    }

    def __init__(self, store: ModelStore | None = None, options: MetricOptions | None = None) -> None:
        self._store = require(store, self.name)

    def parameters(self) -> dict[str, Any]:
        from scoring.models.bleurt import VERSION

        return {"version": VERSION, **self._store.describe_model("bleurt")}

    @classmethod
    def cost(cls, references: Sequence[Sequence[str]], candidates: Sequence[str]) -> int:
        """Each distinct pair is read as one text with two separators."""
        rows = zip(references, candidates, strict=True)
        distinct = {(reference, candidate) for of_item, candidate in rows for reference in of_item}
        return sum(
            min(estimated_tokens(reference) + estimated_tokens(candidate) + SPECIAL_TOKENS + 1, MODEL_TOKENS)
            for reference, candidate in distinct
        )

    def score_pairs(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        progress: PairProgress | None = None,
        *,
        tokenize: Tokenize | None = None,
    ) -> list[float]:
        """The score of each aligned pair; equal pairs are scored once. ``progress`` gets the pairs done."""
        pairs = list(zip(references, candidates, strict=True))
        if not pairs:
            return []
        # Sorted, so that shuffled input gives equal batches; longest first, so that a too large batch fails at once.
        distinct = sorted(set(pairs), key=lambda pair: (-len(pair[0]) - len(pair[1]), pair))

        def report(done: int) -> None:
            if progress is not None:
                progress(len(pairs) * done // len(distinct), len(pairs))

        values = self._store.bleurt.score(distinct, report)
        return [values[pair] for pair in pairs]

    def cut(self, references: Sequence[str], candidates: Sequence[str]) -> list[Cut]:
        """Which texts of each aligned pair are longer than the model reads. Needs its tokenizer only."""
        return self._store.bleurt_tokenizer.cut(list(zip(references, candidates, strict=True)))

    def max_length(self) -> int:
        """How many tokens the model reads of a pair."""
        return self._store.text_limit("bleurt")
