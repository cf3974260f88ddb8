"""BERTScore F1 of Korean text, with the values of the bert-score package 0.3.13 (no idf, no baseline rescaling).

Every token of the candidate is matched with the most similar token of the reference by the cosine of their contextual
embeddings, and the other way round; precision and recall are the means of those cosines over the tokens other than
[CLS] and [SEP], which may be matched but do not count (Zhang et al. 2020, "BERTScore: Evaluating Text Generation with
BERT"). A text without a token of its own scores 0.

Two things differ from the package, neither in the values: each text is encoded once and the embeddings of references
are kept for the next submission, and batches are cut by tokens. One thing differs on purpose: the package takes padding
for a token of cosine 0, which shows only where all cosines of a token are negative and there depends on the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch
from torch.nn.utils.rnn import pad_sequence

from scoring.metrics import PairProgress
from scoring.models.batching import chunks, run_batches
from scoring.models.bertscore import VERSION
from scoring.models.cache import Embedded
from scoring.models.limits import Cut
from scoring.models.precision import exact_inference
from scoring.models.store import ModelStore, require

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
    # 0 where both are 0; what is no number for another reason (an overflow in half precision) must be seen as such
    values: list[float] = torch.where(precision + recall == 0, 0.0, f1).tolist()
    return values


def _stack(texts: Sequence[Embedded]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Vectors (texts, longest, width), weights (texts, longest) and the mask of real tokens (texts, longest)."""
    vectors = pad_sequence([text.vectors for text in texts], batch_first=True)
    weights = pad_sequence([text.weights for text in texts], batch_first=True)
    lengths = torch.tensor([text.length for text in texts], device=vectors.device)
    return vectors, weights, torch.arange(vectors.shape[1], device=vectors.device) < lengths[:, None]


def _weighted_mean(values: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return (values.double() * weights).sum(dim=1) / weights.sum(dim=1)


class BertScore:
    """BERTScore F1 with the model of the profile. The model is loaded when the first pair is scored."""

    name = "bertscore"

    def __init__(self, store: ModelStore | None) -> None:
        self._store = require(store, self.name)

    def signature(self) -> dict[str, Any]:
        described = self._store.describe_model("bertscore")
        return {"metric": self.name, "version": VERSION, "value": "f1", "idf": False, "rescale": False, **described}

    def score_pairs(
        self, references: Sequence[str], candidates: Sequence[str], progress: PairProgress | None = None
    ) -> list[float]:
        """F1 of each aligned pair. ``progress`` hears the pairs done, estimated from the tokens encoded."""
        pairs = list(zip(references, candidates, strict=True))
        if not pairs:
            return []
        values = self._score_distinct(set(pairs), _Share(len(pairs), progress))
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

    def _score_distinct(self, pairs: set[Pair], share: _Share) -> dict[Pair, float]:
        fresh = {reference for reference, _ in pairs if reference not in self._store.bertscore.references}
        share.expect(sum(map(len, fresh)) + sum(map(len, {candidate for _, candidate in pairs})))
        values: dict[Pair, float] = {}
        in_order = sorted(pairs, key=lambda pair: (len(pair[1]), pair[1], pair[0]))
        for chunk in chunks(in_order, lambda pair: len(pair[0]) + len(pair[1]), CHUNK_CHARACTERS):
            values |= self._score_chunk(chunk, share)
        return values

    def _score_chunk(self, chunk: Sequence[Pair], share: _Share) -> dict[Pair, float]:
        encoder = self._store.bertscore
        references = self._references({reference for reference, _ in chunk}, share)
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

    def _references(self, texts: set[str], share: _Share) -> dict[str, Embedded]:
        """Embeddings of reference texts: kept ones, and the others encoded apart from candidates and then kept."""
        encoder = self._store.bertscore
        found = encoder.references.get_many(texts)
        fresh = encoder.embed(texts - found.keys(), share.add)
        encoder.references.put_many(fresh)
        return found | fresh


class _Share:
    """Turns characters encoded into pairs done, for a progress bar that moves with the work and ends at the end."""

    def __init__(self, pairs: int, progress: PairProgress | None) -> None:
        self._pairs, self._progress = pairs, progress
        self._expected, self._done = 1, 0

    def expect(self, characters: int) -> None:
        self._expected = max(1, characters)

    def add(self, characters: int) -> None:
        self._done += characters
        if self._progress is not None:
            done = self._pairs * self._done // self._expected
            self._progress(min(done, self._pairs - 1), self._pairs)
