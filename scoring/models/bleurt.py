"""The BLEURT of a checkpoint: pairs tokenised as in bleurt-pytorch, and its weights in our encoder.

The package's modules read the files and hold the weights; the forward pass is that of ``encoder``: pairs packed without
padding, and in the last layer only [CLS] computed, the one position the head reads. The head is always float32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import torch

from scoring.models.batching import PREFETCH_CHARACTERS, TokenBudget, chunks, prefetch, run_batches
from scoring.models.encoder import PackedEncoder
from scoring.models.limits import Cut
from scoring.models.loading import load_pretrained, load_tokenizer
from scoring.models.packing import pack
from scoring.models.precision import FP32, Precision, exact_inference

VERSION: Final = 1  # increased whenever a change here could change a value
KNOWN_TEXTS: Final = 8192  # texts whose pieces are cached: some sets of references, 20 MB; 150 MB for the longest texts

Pair = tuple[str, str]  # (reference, candidate)


class EncodedPair(NamedTuple):
    """A pair as the model reads it: ids of "[CLS] reference [SEP] candidate [SEP]" and their segments (0, 1)."""

    ids: list[int]
    segments: list[int]


class PairTokenizer:
    """The package's tokenizer of a checkpoint: WordPiece (BLEURT 2020) or SentencePiece (BLEURT-20)."""

    def __init__(self, folder: Path, max_length: int) -> None:
        from bleurt_pytorch import BleurtTokenizer

        self.max_length = max_length
        self._tokenizer = load_tokenizer(BleurtTokenizer, folder)
        self._pieces = lru_cache(KNOWN_TEXTS)(self._cut_into_pieces)

    def encode_pairs(self, pairs: Sequence[Pair]) -> list[EncodedPair]:
        """The ids of each pair, equal to those of the package's tokenizer called with truncation."""
        if not pairs:
            return []
        return self._encode_fast(pairs) if self._tokenizer.is_fast else self._encode_slow(pairs)

    def cut(self, pairs: Sequence[Pair]) -> list[Cut]:
        """Which texts of each pair are cut."""
        return list(map(self._cut_of, pairs, self.encode_pairs(pairs)))

    def _cut_of(self, pair: Pair, encoded: EncodedPair) -> Cut:
        of_candidate = sum(encoded.segments)
        kept = len(encoded.ids) - of_candidate - 2, of_candidate - 1  # [CLS] reference [SEP], candidate [SEP]
        return Cut(*(count < len(self._pieces(text)) for count, text in zip(kept, pair, strict=True)))

    def _encode_fast(self, pairs: Sequence[Pair]) -> list[EncodedPair]:
        references, candidates = ([pair[side] for pair in pairs] for side in (0, 1))
        encoded = self._tokenizer(references, candidates, truncation=True, max_length=self.max_length)
        return [EncodedPair(*both) for both in zip(encoded["input_ids"], encoded["token_type_ids"], strict=True)]

    def _encode_slow(self, pairs: Sequence[Pair]) -> list[EncodedPair]:
        """Each text is cut into pieces once, however many pairs have it; then the pairs are joined."""
        room = self.max_length - self._tokenizer.num_special_tokens_to_add(pair=True)
        return [
            self._join(*cut_longest_first(self._pieces(reference), self._pieces(candidate), room))
            for reference, candidate in pairs
        ]

    def _cut_into_pieces(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.convert_tokens_to_ids(self._tokenizer.tokenize(text))
        return ids[: self.max_length]  # no pair has room for more

    def _join(self, reference: list[int], candidate: list[int]) -> EncodedPair:
        tokenizer = self._tokenizer
        return EncodedPair(
            tokenizer.build_inputs_with_special_tokens(reference, candidate),
            tokenizer.create_token_type_ids_from_sequences(reference, candidate),
        )


def cut_longest_first(reference: list[int], candidate: list[int], room: int) -> tuple[list[int], list[int]]:
    """Drop last tokens of the longer list, of the candidate if both are equally long, until both fit into ``room``.

    Equal to a slow tokenizer's ``truncation=True``, without its log line for every pair.
    """
    keep_reference, keep_candidate = len(reference), len(candidate)
    while keep_reference + keep_candidate > room:
        if keep_reference > keep_candidate:
            keep_reference -= 1
        else:
            keep_candidate -= 1
    return reference[:keep_reference], candidate[:keep_candidate]


def characters(pair: Pair) -> int:
    """The length of a pair in characters."""
    return len(pair[0]) + len(pair[1])


class BleurtScorer:
    """One BLEURT checkpoint on one device in one precision, with its tokenizer."""

    def __init__(
        self, model: Any, tokenizer: PairTokenizer, device: str, budget: TokenBudget, precision: Precision = FP32
    ) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.device = device
        self.budget = budget
        self.precision = precision
        layers = model.bleurt.encoder
        projection = getattr(layers, "embedding_projection", None)
        self._encode = PackedEncoder(model.bleurt.embeddings, list(layers.layer), projection, first_only=True)

    def score(self, pairs: Sequence[Pair], on_done: Callable[[int], None]) -> dict[Pair, float]:
        """The score of each pair; give the longest first. ``on_done`` gets the number of pairs done."""
        values: dict[Pair, float] = {}
        parts = chunks(pairs, characters, max(PREFETCH_CHARACTERS, self.budget.tokens))
        with closing(prefetch(self.tokenizer.encode_pairs, parts)) as encoded:
            for part, rows in encoded:
                self._score_chunk(part, rows, values, on_done)
        return values

    def _score_chunk(
        self,
        pairs: Sequence[Pair],
        rows: Sequence[EncodedPair],
        values: dict[Pair, float],
        on_done: Callable[[int], None],
    ) -> None:
        """Add the scores of one chunk to ``values``. They are copied from the device once, at the end of the chunk."""
        before = len(values)
        batches: list[tuple[Sequence[int], torch.Tensor]] = []

        def forward(batch: Sequence[int]) -> None:
            batches.append((batch, self.predict([rows[index] for index in batch])))

        def report(_: Sequence[int]) -> None:
            on_done(before + sum(len(batch) for batch, _ in batches))

        run_batches([len(row.ids) for row in rows], self.budget, forward, report)
        scores = torch.cat([scores for _, scores in batches]).tolist()
        order = [index for batch, _ in batches for index in batch]
        values.update(zip((pairs[index] for index in order), scores, strict=True))

    def predict(self, rows: Sequence[EncodedPair]) -> torch.Tensor:
        """The score of each row of one batch: float32 of shape (rows,), on the device."""
        packed = pack([row.ids for row in rows], [row.segments for row in rows], self.device)
        with exact_inference(self.precision):
            first = self._encode(packed).float()
            logits: torch.Tensor = self.model.classifier(self.model.bleurt.pooler(first[:, None]))
        return logits.flatten()


def load_scorer(
    folder: Path, tokenizer: PairTokenizer, device: str, budget: TokenBudget, precision: Precision = FP32
) -> BleurtScorer:
    """Load the checkpoint in ``folder``. Raises ``ModelDamaged`` if weights are missing from the file."""
    from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification

    config = BleurtConfig.from_pretrained(folder, local_files_only=True)
    model = load_pretrained(
        BleurtForSequenceClassification, folder, config, optional=("bleurt.embeddings.position_ids",)
    )
    model.bleurt.encoder.to(precision.weights)  # embeddings and head stay float32: they cost next to nothing
    return BleurtScorer(model.to(device), tokenizer, device, budget, precision)
