"""Fluency: the pseudo-log-likelihood per token of a caption under the masked language model of the profile.

Every piece of the caption is masked in turn, and the model that BERTScore uses, here with all its layers and its head,
says how probable the piece is in its place (Salazar et al. 2020, "Masked Language Model Scoring"). The value is the
mean of the logarithms over the pieces, special tokens left out: below 0, and nearer to 0 the more the caption reads
like what the model was trained on. Divided by the number of pieces, long captions do not lose for being long.

It reads the candidate alone; a recipe gives it an empty reference and answered captions only. The pieces are read once
for each of them, so the cost of a text grows with the square of its length up to ``MASKED_TOKENS``, where it is cut.

It runs only if the profile's checkpoint has a head that was trained on masked words: the demo models have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scoring.errors import Message
from scoring.metrics.base import MetricOptions, PairMetric, PairProgress, Tokenize
from scoring.metrics.costs import SPECIAL_TOKENS, estimated_tokens
from scoring.models.limits import MASKED_TOKENS, Cut
from scoring.models.store import ModelStore, require


class Fluency(PairMetric):
    """Mean log-probability of the pieces of the candidate. The model is loaded when the first caption is scored."""

    name = "fluency"
    label = Message("유창성(PLL)", "Fluency (PLL)")
    rule = "masked-pll@1"
    group = "meaning"
    model = "bertscore"
    not_configured = "fluency_not_configured"
    warning_texts = {
        "fluency_not_configured": Message(
            "프로필의 BERTScore 모델에 가린 낱말을 맞히도록 학습된 머리가 없어 유창성을 계산하지 않았습니다. 다른 "
            "점수에는 영향이 없습니다.",
            "Fluency was not computed: the profile's BERTScore model has no head trained on masked words. The other "
            "scores are not affected.",
        ),
        "fluency_truncated": Message(
            "유창성은 설명 하나에서 토큰 {limit}개까지만 읽습니다. 이보다 긴 설명 {candidates}개는 앞부분만 "
            "반영되었습니다.",
            "Fluency reads {limit} tokens of a caption and no more. Only the beginnings count of what is longer: "
            "{candidates} captions.",
        ),
    }

    def __init__(self, store: ModelStore | None = None, options: MetricOptions | None = None) -> None:
        self._store = require(store, self.name)

    @classmethod
    def is_configured(cls, store: ModelStore | None, options: MetricOptions) -> bool:
        return super().is_configured(store, options) and store is not None and store.has_masked_head

    def parameters(self) -> dict[str, Any]:
        from scoring.models.masked import VERSION

        described = self._store.describe_model("bertscore")
        del described["num_layers"]  # all are computed
        return {"version": VERSION, **described, "max_length": self.max_length()}

    @classmethod
    def cost(cls, references: Sequence[Sequence[str]], candidates: Sequence[str]) -> int:
        """Each distinct caption is read once for each of its pieces."""
        pieces = [min(estimated_tokens(text), MASKED_TOKENS - SPECIAL_TOKENS) for text in set(candidates)]
        return sum(count * (count + SPECIAL_TOKENS) for count in pieces)

    def score_pairs(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        progress: PairProgress | None = None,
        *,
        tokenize: Tokenize | None = None,
    ) -> list[float]:
        """The value of each candidate, whatever its reference. ``progress`` gets the candidates done."""
        if not candidates:
            return []
        distinct = len(set(candidates))

        def report(done: int) -> None:
            if progress is not None:
                progress(len(candidates) * done // distinct, len(candidates))

        values = self._store.masked.score(candidates, report)
        return [values[text] for text in candidates]

    def cut(self, references: Sequence[str], candidates: Sequence[str]) -> list[Cut]:
        """Which candidates are longer than is read. Needs the tokenizer only."""
        distinct = list(set(candidates))
        rows = zip(distinct, self._store.bertscore_tokenizer.encode_all(distinct), strict=True)
        long = {text for text, ids in rows if len(ids) > self.max_length()}
        return [Cut(False, text in long) for text in candidates]

    def max_length(self) -> int:
        """How many tokens are read of a caption; never more than the model can."""
        return min(MASKED_TOKENS, self._store.text_limit("bertscore"))
