"""A masked language model with its trained head: the log-probability of each token of a text, given all the others.

A text of n pieces is read n times, each time with another piece masked (Salazar et al. 2020). The rows of all texts go
through the model together, longest first, and the head sees the masked places alone: the vocabulary is wide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

import torch

from scoring.errors import Message, ModelUnavailable, WordedError
from scoring.models.batching import TokenBudget, chunks, run_batches
from scoring.models.bertscore import BertScoreTokenizer, encoder_of
from scoring.models.limits import MASKED_TOKENS
from scoring.models.loading import load_pretrained
from scoring.models.packing import Packed, pack
from scoring.models.precision import FP32, Precision, exact_inference

VERSION: Final = 1  # increased whenever a change here, or in the metric, could change a value
CHUNK_TOKENS: Final = 1 << 20  # of all rows held at once
HEAD_ROWS: Final = 64  # places given to the head at once: 30 MB of probabilities of multilingual BERT's 119,547 pieces

Head = Callable[[torch.Tensor], torch.Tensor]


class MaskedHeadMissing(WordedError, ModelUnavailable):
    """The checkpoint has no trained head for masked words, or one that is not known."""

    code: ClassVar[str] = "masked_head_missing"
    words: ClassVar[Message] = Message(
        "모델에 가린 낱말을 맞히도록 학습된 머리가 없어 유창성을 계산할 수 없습니다: {folder}. 프로필의 [bertscore]에 "
        "config.json의 architectures가 …ForMaskedLM인 모델을 지정하십시오.",
        "Fluency cannot be computed: the model has no head trained on masked words: {folder}. Name a model in "
        "[bertscore] of the profile whose config.json says …ForMaskedLM under architectures.",
    )


class Masked(NamedTuple):
    """A text with one piece masked: its ids, the place of the mask, and the id that stood there."""

    ids: list[int]
    place: int
    hidden: int


def masked_rows(ids: Sequence[int], mask_id: int, ignored: frozenset[int]) -> list[Masked]:
    """A row for every piece of a text that is no special token."""
    return [
        Masked([*ids[:place], mask_id, *ids[place + 1 :]], place, piece)
        for place, piece in enumerate(ids)
        if piece not in ignored
    ]


class MaskedScorer:
    """A model with its head on one device. A text is cut to ``MASKED_TOKENS``, the two special ones included."""

    def __init__(
        self,
        encode: Callable[[Packed], torch.Tensor],
        head: Head,
        tokenizer: BertScoreTokenizer,
        mask_id: int,
        device: str,
        budget: TokenBudget,
        precision: Precision = FP32,
    ) -> None:
        self.encode, self.head, self.tokenizer, self.mask_id = encode, head, tokenizer, mask_id
        self.device, self.budget, self.precision = device, budget, precision

    def score(self, texts: Iterable[str], on_texts: Callable[[int], None]) -> dict[str, float]:
        """The mean log-probability of the pieces of each distinct text; 0.0 for one without a piece.

        ``on_texts`` gets the number of texts done.
        """
        distinct = sorted(set(texts), key=lambda text: (-len(text), text))
        rows = zip(distinct, map(self._cut, self.tokenizer.encode_all(distinct)), strict=True)
        values: dict[str, float] = {}
        for chunk in chunks(rows, lambda row: len(row[1]) ** 2, CHUNK_TOKENS):
            masked = [masked_rows(ids, self.mask_id, self.tokenizer.ignored_ids) for _, ids in chunk]
            found = iter(self._log_probabilities([row for of_text in masked for row in of_text]))
            for (text, _), of_text in zip(chunk, masked, strict=True):
                values[text] = sum(next(found) for _ in of_text) / max(1, len(of_text))
            on_texts(len(values))
        return values

    @staticmethod
    def _cut(ids: list[int]) -> list[int]:
        return ids if len(ids) <= MASKED_TOKENS else [*ids[: MASKED_TOKENS - 1], ids[-1]]

    def _log_probabilities(self, rows: Sequence[Masked]) -> list[float]:
        found = [0.0] * len(rows)

        def forward(batch: Sequence[int]) -> None:
            packed = pack([rows[index].ids for index in batch], device=self.device)
            places = packed.first_tokens + torch.tensor([rows[index].place for index in batch], device=self.device)
            hidden = torch.tensor([rows[index].hidden for index in batch], device=self.device)
            with exact_inference(self.precision):
                states = self.encode(packed)[places].float()
                parts = zip(states.split(HEAD_ROWS), hidden.split(HEAD_ROWS), strict=True)
                values = torch.cat([self._of_hidden(state, piece) for state, piece in parts]).tolist()
            for index, value in zip(batch, values, strict=True):
                found[index] = value

        run_batches([len(row.ids) for row in rows], self.budget, forward)
        return found

    def _of_hidden(self, states: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        logits = self.head(states)
        return logits.gather(1, hidden[:, None])[:, 0] - logits.logsumexp(1)


def load_masked(
    folder: Path,
    tokenizer: BertScoreTokenizer,
    device: str,
    budget: TokenBudget,
    precision: Precision = FP32,
) -> MaskedScorer:
    """Load the whole model in ``folder`` with its head. Raises ``ModelDamaged`` and ``MaskedHeadMissing``."""
    from transformers import AutoConfig, AutoModelForMaskedLM

    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    model = load_pretrained(AutoModelForMaskedLM, folder, config, optional=()).to(device)
    head: Any = getattr(model, "cls", None) or getattr(model, "lm_head", None)
    if head is None or tokenizer.mask_id is None:
        raise MaskedHeadMissing(folder=str(folder))
    encode = encoder_of(model.base_model, tokenizer.pad_id, precision)
    return MaskedScorer(encode, head, tokenizer, tokenizer.mask_id, device, budget, precision)
