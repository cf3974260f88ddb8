"""BLEURT of Korean text, with the values of the bleurt-pytorch package 0.0.1.

A learnt metric: one transformer reads "[CLS] reference [SEP] candidate [SEP]", and a linear head on [CLS] gives the
score (Sellam et al. 2020, "BLEURT: Learning Robust Metrics for Text Generation"). Values are mostly within 0-1 but are
not clipped, as the contest does not clip them. Pairs are cut to the model's length, the longer text first.

The package's modules hold the weights; the forward pass here uses them with PyTorch's fused attention, and in the last
layer computes only [CLS], the one position the head reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import torch
from torch.nn import functional

from scoring.metrics import PairProgress
from scoring.metrics.batching import TokenBudget, exact_inference, pad, run_batches

if TYPE_CHECKING:
    from scoring.checkpoints import Resources

VERSION: Final = 1  # raised whenever a change here could change a value

Pair = tuple[str, str]  # (reference, candidate)


class PairIds(NamedTuple):
    """A pair as the model reads it: ids of "[CLS] reference [SEP] candidate [SEP]" and their segments (0, 1)."""

    ids: list[int]
    segments: list[int]


class PairTokenizer:
    """The package's tokenizer of a checkpoint: WordPiece (BLEURT 2020) or SentencePiece (BLEURT-20)."""

    def __init__(self, folder: Path, max_length: int) -> None:
        from bleurt_pytorch import BleurtTokenizer

        from scoring.checkpoints import load_tokenizer

        self.max_length = max_length
        self._tokenizer = load_tokenizer(BleurtTokenizer, folder)
        self.pad_id: int = self._tokenizer.pad_token_id

    def encode_pairs(self, pairs: Sequence[Pair]) -> list[PairIds]:
        """The ids of each pair, equal to those of the package's tokenizer called with truncation."""
        if not pairs:
            return []
        return self._encode_fast(pairs) if self._tokenizer.is_fast else self._encode_slow(pairs)

    def _encode_fast(self, pairs: Sequence[Pair]) -> list[PairIds]:
        references, candidates = ([pair[side] for pair in pairs] for side in (0, 1))
        encoded = self._tokenizer(references, candidates, truncation=True, max_length=self.max_length)
        return [PairIds(*both) for both in zip(encoded["input_ids"], encoded["token_type_ids"], strict=True)]

    def _encode_slow(self, pairs: Sequence[Pair]) -> list[PairIds]:
        """Each text is cut into pieces once, however many pairs it stands in; then pairs are put together."""
        tokenizer = self._tokenizer
        ids: dict[str, list[int]] = {
            text: tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text))
            for text in {text for pair in pairs for text in pair}
        }
        room = self.max_length - tokenizer.num_special_tokens_to_add(pair=True)
        return [self._join(*cut_longest_first(ids[reference], ids[candidate], room)) for reference, candidate in pairs]

    def _join(self, reference: list[int], candidate: list[int]) -> PairIds:
        tokenizer = self._tokenizer
        return PairIds(
            tokenizer.build_inputs_with_special_tokens(reference, candidate),
            tokenizer.create_token_type_ids_from_sequences(reference, candidate),
        )


def cut_longest_first(reference: list[int], candidate: list[int], room: int) -> tuple[list[int], list[int]]:
    """Drop last tokens of the longer list, of the candidate where both are as long, until both fit into ``room``.

    What a slow tokenizer does under ``truncation=True``, without its line in the log for every pair.
    """
    keep_reference, keep_candidate = len(reference), len(candidate)
    while keep_reference + keep_candidate > room:
        if keep_reference > keep_candidate:
            keep_reference -= 1
        else:
            keep_candidate -= 1
    return reference[:keep_reference], candidate[:keep_candidate]


class BleurtScorer:
    """One BLEURT checkpoint on one device, with its tokenizer."""

    def __init__(self, model: Any, tokenizer: PairTokenizer, device: str, budget: TokenBudget) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.device = device
        self.budget = budget

    def predict(self, rows: Sequence[PairIds]) -> list[float]:
        """The score of each row of one batch."""
        lengths = torch.tensor([len(row.ids) for row in rows])
        ids = pad([row.ids for row in rows], self.tokenizer.pad_id).to(self.device)
        segments = pad([row.segments for row in rows], 0).to(self.device)
        is_token = torch.arange(ids.shape[1]) < lengths[:, None]
        # With nothing to mask, None lets PyTorch choose its fastest kernel.
        mask = None if bool(is_token.all()) else is_token[:, None, None, :].to(self.device)
        logits: list[float] = forward_cls(self.model, ids, segments, mask).tolist()
        return logits


def load_scorer(folder: Path, max_length: int, device: str, budget: TokenBudget) -> BleurtScorer:
    """Load the checkpoint in ``folder``. Raises ``ModelDamaged`` if weights are missing from the file."""
    from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification

    from scoring.checkpoints import load_pretrained

    config = BleurtConfig.from_pretrained(folder, local_files_only=True)
    model = load_pretrained(
        BleurtForSequenceClassification, folder, config, optional=("bleurt.embeddings.position_ids",)
    )
    return BleurtScorer(model.to(device), PairTokenizer(folder, max_length), device, budget)


def forward_cls(model: Any, input_ids: torch.Tensor, segments: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """The logit of each row: (rows,). ``mask`` is (rows, 1, 1, tokens), true at real tokens, or ``None``."""
    encoder = model.bleurt.encoder
    hidden = model.bleurt.embeddings(input_ids=input_ids, token_type_ids=segments)
    if hasattr(encoder, "embedding_projection"):
        hidden = encoder.embedding_projection(hidden)
    for layer in encoder.layer[:-1]:
        hidden = _layer(layer, hidden, hidden, mask)
    cls = _layer(encoder.layer[-1], hidden[:, :1], hidden, mask)
    logits: torch.Tensor = model.classifier(model.bleurt.pooler(cls))
    return logits.flatten()


def _layer(layer: Any, queries: torch.Tensor, hidden: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """One transformer layer for the positions ``queries`` (rows, q, width) attending to ``hidden`` (rows, t, width)."""
    attention = layer.attention.self
    query, key, value = (
        projection(states).unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)
        for projection, states in ((attention.query, queries), (attention.key, hidden), (attention.value, hidden))
    )
    context = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    attended = layer.attention.output(context.transpose(1, 2).flatten(2), queries)
    output: torch.Tensor = layer.output(layer.intermediate(attended), attended)
    return output


class Bleurt:
    """BLEURT with the model of the profile, reference first. The model is loaded when the first pair is scored."""

    name = "bleurt"

    def __init__(self, resources: Resources | None) -> None:
        from scoring.checkpoints import require

        self._resources = require(resources, self.name)

    def signature(self) -> dict[str, Any]:
        return {"metric": self.name, "version": VERSION, **self._resources.describe_model("bleurt")}

    def score_pairs(
        self, references: Sequence[str], candidates: Sequence[str], progress: PairProgress | None = None
    ) -> list[float]:
        """The score of each aligned pair; equal pairs are scored once. ``progress`` hears the pairs done."""
        pairs = list(zip(references, candidates, strict=True))
        if not pairs:
            return []
        scorer = self._resources.bleurt
        distinct = sorted(set(pairs))  # sorted, so that shuffled input gives equal batches
        rows = scorer.tokenizer.encode_pairs(distinct)
        values: dict[Pair, float] = {}

        def forward(batch: Sequence[int]) -> None:
            scores = scorer.predict([rows[index] for index in batch])
            values.update(zip((distinct[index] for index in batch), scores, strict=True))

        def report(_: Sequence[int]) -> None:
            if progress is not None:
                progress(len(pairs) * len(values) // len(distinct), len(pairs))

        with exact_inference():
            run_batches([len(row.ids) for row in rows], scorer.budget, forward, report)
        return [values[pair] for pair in pairs]
