"""BERTScore's last step: every token of a text is matched with the most similar token of the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import torch
from torch.nn.utils.rnn import pad_sequence

from scoring.models.batching import chunks, run_batches
from scoring.models.cache import Embedded
from scoring.models.precision import exact_inference

if TYPE_CHECKING:
    from scoring.models.bertscore import BertScoreEncoder

CHUNK_CHARACTERS: Final = 131_072  # texts held at once: 400 MB of embeddings of BERT-base at a token a character

Pair = tuple[str, str]  # (reference, candidate)


def greedy_f1(references: Sequence[Embedded], candidates: Sequence[Embedded]) -> list[float]:
    """F1 of each aligned pair. Every text must have a token that counts."""
    reference, reference_weights, reference_mask = _stack(references)
    candidate, candidate_weights, candidate_mask = _stack(candidates)
    cosines = candidate @ reference.transpose(1, 2)  # (pairs, candidate tokens, reference tokens)
    cosines.masked_fill_(~candidate_mask[:, :, None], -2).masked_fill_(~reference_mask[:, None, :], -2)
    # Rounding can lift a cosine of 1 above 1, and a mean in float32 again; equal texts must score 1, not more.
    precision = _weighted_mean(cosines.amax(dim=2).clamp(max=1), candidate_weights)
    recall = _weighted_mean(cosines.amax(dim=1).clamp(max=1), reference_weights)
    f1 = 2 * precision * recall / (precision + recall)
    # 0 where both are 0; NaN for another reason (an overflow in half precision) must stay NaN
    values: list[float] = torch.where(precision + recall == 0, 0.0, f1).tolist()
    return values


def _stack(texts: Sequence[Embedded]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Vectors (texts, longest, width), weights (texts, longest) and the mask of real tokens (texts, longest)."""
    vectors = pad_sequence([text.vectors for text in texts], batch_first=True)
    weights = pad_sequence([text.weights for text in texts], batch_first=True).to(vectors.device)
    lengths = torch.tensor([text.length for text in texts], device=vectors.device)
    return vectors, weights, torch.arange(vectors.shape[1], device=vectors.device) < lengths[:, None]


def _weighted_mean(values: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return (values.double() * weights).sum(dim=1) / weights.sum(dim=1)


def score_pairs(encoder: BertScoreEncoder, pairs: set[Pair], report: Callable[[float], None]) -> dict[Pair, float]:
    """F1 of each pair. ``report`` gets the share of the characters that are encoded."""
    share = _Share(report)
    fresh = {reference for reference, _ in pairs if reference not in encoder.references}
    share.expect(sum(map(len, fresh)) + sum(map(len, {candidate for _, candidate in pairs})))
    values: dict[Pair, float] = {}
    in_order = sorted(pairs, key=lambda pair: (len(pair[1]), pair[1], pair[0]))
    for chunk in chunks(in_order, lambda pair: len(pair[0]) + len(pair[1]), CHUNK_CHARACTERS):
        values |= _score_chunk(encoder, chunk, share)
    return values


def _score_chunk(encoder: BertScoreEncoder, chunk: Sequence[Pair], share: _Share) -> dict[Pair, float]:
    references = _references(encoder, {reference for reference, _ in chunk}, share)
    candidates = encoder.embed((candidate for _, candidate in chunk), share.add)
    scored = [(r, c) for r, c in chunk if references[r].counts and candidates[c].counts]
    values = dict.fromkeys(chunk, 0.0)

    def match(batch: Sequence[int]) -> None:
        part = [scored[index] for index in batch]
        with exact_inference(encoder.precision):
            found = greedy_f1([references[r] for r, _ in part], [candidates[c] for _, c in part])
        values.update(zip(part, found, strict=True))

    run_batches([references[r].length + candidates[c].length for r, c in scored], encoder.budget, match)
    return values


def _references(encoder: BertScoreEncoder, texts: set[str], share: _Share) -> dict[str, Embedded]:
    """Embeddings of reference texts: from the cache, the others encoded apart from candidates and then cached."""
    found = encoder.references.get_many(texts)
    fresh = encoder.embed(texts - found.keys(), share.add)
    encoder.references.put_many(fresh)
    return found | fresh


class _Share:
    """Turns characters encoded into the share of the work, for a progress bar."""

    def __init__(self, report: Callable[[float], None]) -> None:
        self._report = report
        self._expected, self._done = 1, 0

    def expect(self, characters: int) -> None:
        self._expected = max(1, characters)

    def add(self, characters: int) -> None:
        self._done += characters
        self._report(self._done / self._expected)
