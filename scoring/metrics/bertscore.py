"""BERTScore F1 of Korean text, with the values of the bert-score package 0.3.13 (no idf, no baseline rescaling).

Every token of the candidate is matched with the most similar token of the reference by the cosine of their contextual
embeddings, and the other way round; precision and recall are the means of those cosines over the tokens other than
[CLS] and [SEP], which may be matched but do not count (Zhang et al. 2020, "BERTScore: Evaluating Text Generation with
BERT"). A text without any other token scores 0.

Two differences from the package change no value: each text is encoded once and the embeddings of references are kept
for the next submission, and batches are cut by tokens. One difference is on purpose: the package treats padding as a
token of cosine 0, which matters only if all cosines of a token are negative, and then depends on the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scoring.errors import Message
from scoring.metrics.base import MetricOptions, PairMetric, PairProgress, Tokenize
from scoring.metrics.costs import MODEL_TOKENS, SPECIAL_TOKENS, estimated_tokens
from scoring.models.limits import Cut
from scoring.models.store import ModelStore, require


class BertScore(PairMetric):
    """BERTScore F1 with the model of the profile. The model is loaded when the first pair is scored."""

    name = "bertscore"
    label = Message("BERTScore", "BERTScore")
    rule = "bertscore-f1"
    group = "meaning"
    model = "bertscore"
    warning_texts = {
        "bertscore_truncated": Message(
            "BERTScore 모델은 글 하나에서 토큰 {limit}개까지만 읽습니다. 이보다 긴 정답 {references}개와 답변 "
            "{candidates}개는 앞부분만 점수에 반영되었습니다.",
            "The BERTScore model reads {limit} tokens of a text and no more. Only the beginnings count of what is "
            "longer: {references} references, {candidates} answers.",
        )
    }

    def __init__(self, store: ModelStore | None = None, options: MetricOptions | None = None) -> None:
        self._store = require(store, self.name)

    def parameters(self) -> dict[str, Any]:
        from scoring.models.bertscore import VERSION

        described = self._store.describe_model("bertscore")
        return {"version": VERSION, "value": "f1", "idf": False, "rescale": False, **described}

    @classmethod
    def cost(cls, references: Sequence[Sequence[str]], candidates: Sequence[str]) -> int:
        """Each distinct text is read once, alone."""
        texts = {text for of_item in references for text in of_item} | set(candidates)
        return sum(min(estimated_tokens(text) + SPECIAL_TOKENS, MODEL_TOKENS) for text in texts)

    def score_pairs(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        progress: PairProgress | None = None,
        *,
        tokenize: Tokenize | None = None,
    ) -> list[float]:
        """F1 of each aligned pair. ``progress`` gets the pairs done, estimated from the tokens encoded."""
        pairs = list(zip(references, candidates, strict=True))
        if not pairs:
            return []
        from scoring.models.greedy import score_pairs

        def report(share: float) -> None:
            if progress is not None:
                progress(min(int(len(pairs) * share), len(pairs) - 1), len(pairs))

        values = score_pairs(self._store.bertscore, set(pairs), report)
        if progress is not None:
            progress(len(pairs), len(pairs))
        return [values[pair] for pair in pairs]

    def cut(self, references: Sequence[str], candidates: Sequence[str]) -> list[Cut]:
        """Which texts of each aligned pair are longer than the model reads. Needs its tokenizer only."""
        cut = self._store.bertscore_tokenizer.cut({*references, *candidates})
        return [Cut(r in cut, c in cut) for r, c in zip(references, candidates, strict=True)]

    def max_length(self) -> int:
        """How many tokens the model reads of a text."""
        return self._store.text_limit("bertscore")
