"""BLEURT of Korean text, with the values of the bleurt-pytorch package 0.0.1.

A learnt metric: one transformer reads "[CLS] reference [SEP] candidate [SEP]", and a linear head on [CLS] gives the
score (Sellam et al. 2020, "BLEURT: Learning Robust Metrics for Text Generation"). Values are mostly within 0-1 but are
not clipped, as the contest does not clip them. Pairs are cut to the model's length, the longer text first.

The package's modules hold the weights; the way through them is ``encoder``'s: pairs packed without padding, and in the
last layer only [CLS] computed, the one position the head reads. The head itself is always float32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import torch

from scoring.metrics import PairProgress
from scoring.models.batching import WINDOW_CHARACTERS, TokenBudget, one_ahead, run_batches, windows
from scoring.models.encoder import PackedEncoder
from scoring.models.packing import pack
from scoring.models.precision import FP32, Precision, exact_inference

if TYPE_CHECKING:
    from scoring.models.store import Resources

VERSION: Final = 1  # raised whenever a change here could change a value
KNOWN_TEXTS: Final = 8192  # texts whose pieces are kept: some sets of references, 20 MB; 150 MB of the longest texts

Pair = tuple[str, str]  # (reference, candidate)


class PairIds(NamedTuple):
    """A pair as the model reads it: ids of "[CLS] reference [SEP] candidate [SEP]" and their segments (0, 1)."""

    ids: list[int]
    segments: list[int]


class PairTokenizer:
    """The package's tokenizer of a checkpoint: WordPiece (BLEURT 2020) or SentencePiece (BLEURT-20)."""

    def __init__(self, folder: Path, max_length: int) -> None:
        from bleurt_pytorch import BleurtTokenizer

        from scoring.models.store import load_tokenizer

        self.max_length = max_length
        self._tokenizer = load_tokenizer(BleurtTokenizer, folder)
        self._pieces = lru_cache(KNOWN_TEXTS)(self._cut_into_pieces)

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
        room = self.max_length - self._tokenizer.num_special_tokens_to_add(pair=True)
        return [
            self._join(*cut_longest_first(self._pieces(reference), self._pieces(candidate), room))
            for reference, candidate in pairs
        ]

    def _cut_into_pieces(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.convert_tokens_to_ids(self._tokenizer.tokenize(text))
        return ids[: self.max_length]  # no pair has room for more

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

    def predict(self, rows: Sequence[PairIds]) -> torch.Tensor:
        """The score of each row of one batch: float32 of shape (rows,), on the device."""
        packed = pack([row.ids for row in rows], [row.segments for row in rows], self.device)
        first = self._encode(packed).float()
        logits: torch.Tensor = self.model.classifier(self.model.bleurt.pooler(first[:, None]))
        return logits.flatten()


def load_scorer(
    folder: Path, max_length: int, device: str, budget: TokenBudget, precision: Precision = FP32
) -> BleurtScorer:
    """Load the checkpoint in ``folder``. Raises ``ModelDamaged`` if weights are missing from the file."""
    from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification

    from scoring.models.store import load_pretrained

    config = BleurtConfig.from_pretrained(folder, local_files_only=True)
    model = load_pretrained(
        BleurtForSequenceClassification, folder, config, optional=("bleurt.embeddings.position_ids",)
    )
    model.bleurt.encoder.to(precision.weights)  # embeddings and head stay float32: they cost next to nothing
    return BleurtScorer(model.to(device), PairTokenizer(folder, max_length), device, budget, precision)


class Bleurt:
    """BLEURT with the model of the profile, reference first. The model is loaded when the first pair is scored."""

    name = "bleurt"

    def __init__(self, resources: Resources | None) -> None:
        from scoring.models.store import require

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
        # Sorted, so that shuffled input gives equal batches; longest first, so that a batch too large shows at once.
        distinct = sorted(set(pairs), key=lambda pair: (-_characters(pair), pair))
        values: dict[Pair, float] = {}

        def report(done: int) -> None:
            if progress is not None:
                progress(len(pairs) * done // len(distinct), len(pairs))

        with exact_inference(scorer.precision):
            parts = windows(distinct, _characters, max(WINDOW_CHARACTERS, scorer.budget.tokens))
            with closing(one_ahead(scorer.tokenizer.encode_pairs, parts)) as encoded:
                for part, rows in encoded:
                    _score_window(scorer, part, rows, values, report)
        return [values[pair] for pair in pairs]


def _characters(pair: Pair) -> int:
    return len(pair[0]) + len(pair[1])


def _score_window(
    scorer: BleurtScorer,
    pairs: Sequence[Pair],
    rows: Sequence[PairIds],
    values: dict[Pair, float],
    report: Callable[[int], None],
) -> None:
    """Score the pairs of one window. The device is asked for its numbers once, at the window's end."""
    before = len(values)
    batches: list[tuple[Sequence[int], torch.Tensor]] = []

    def forward(batch: Sequence[int]) -> None:
        batches.append((batch, scorer.predict([rows[index] for index in batch])))

    def on_done(_: Sequence[int]) -> None:
        report(before + sum(len(batch) for batch, _ in batches))

    run_batches([len(row.ids) for row in rows], scorer.budget, forward, on_done)
    scores = torch.cat([scores for _, scores in batches]).tolist()
    order = [index for batch, _ in batches for index in batch]
    values.update(zip((pairs[index] for index in order), scores, strict=True))
