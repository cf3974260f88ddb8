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

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import torch
from torch.nn.utils.rnn import pad_sequence

from scoring.metrics import PairProgress
from scoring.models.batching import WINDOW_CHARACTERS, TokenBudget, one_ahead, run_batches, windows
from scoring.models.cache import Embedded, EmbeddingCache
from scoring.models.encoder import PACKABLE, PackedEncoder, PaddedEncoder
from scoring.models.packing import Packed, pack
from scoring.models.precision import FP32, Precision, exact_inference
from scoring.models.tokenizer import BertIds

if TYPE_CHECKING:
    from scoring.models.store import Resources

VERSION: Final = 1  # raised whenever a change here could change a value
CHUNK_CHARACTERS: Final = 131_072  # texts held at once: 400 MB of embeddings of BERT-base at a token a character
CACHE_BYTES: Final = 512 << 20  # in memory; five reference sets of the contest, with BERT-base

Pair = tuple[str, str]  # (reference, candidate)
OnCharacters = Callable[[int], None]


class BertScoreEncoder:
    """One model up to its layer ``num_layers``, on one device, with its tokenizer and its cache of references."""

    def __init__(
        self,
        encode: Callable[[Packed], torch.Tensor],
        ids: BertIds,
        device: str,
        budget: TokenBudget,
        precision: Precision = FP32,
    ) -> None:
        self.encode = encode
        self.ids = ids
        self.device = device
        self.budget = budget
        self.precision = precision
        self.references = EmbeddingCache(CACHE_BYTES)
        self._ignored = torch.tensor(sorted(ids.ignored_ids), device=device)

    def embed(self, texts: Iterable[str], on_characters: OnCharacters) -> dict[str, Embedded]:
        """Embed each text of ``texts`` once. ``on_characters`` hears how many characters each batch held."""
        longest_first = sorted(set(texts), key=lambda text: (-len(text), text))
        embedded: dict[str, Embedded] = {}
        parts = windows(longest_first, len, max(WINDOW_CHARACTERS, self.budget.tokens))
        with closing(one_ahead(self.ids.encode_all, parts)) as encoded:
            for part, rows in encoded:
                self._embed_window(part, rows, embedded, on_characters)
        return embedded

    def _embed_window(
        self,
        texts: Sequence[str],
        rows: Sequence[Sequence[int]],
        embedded: dict[str, Embedded],
        on_characters: OnCharacters,
    ) -> None:
        def forward(batch: Sequence[int]) -> None:
            packed = pack([rows[index] for index in batch], device=self.device)
            hidden = self.encode(packed).float()
            vectors = (hidden / hidden.norm(dim=-1, keepdim=True)).split(packed.lengths)
            weights = (~torch.isin(packed.ids, self._ignored)).float().split(packed.lengths)
            for index, own, counting in zip(batch, vectors, weights, strict=True):
                embedded[texts[index]] = Embedded(own, counting)

        run_batches(
            list(map(len, rows)),
            self.budget,
            forward,
            lambda batch: on_characters(sum(len(texts[index]) for index in batch)),
        )


def load_encoder(
    folder: Path, num_layers: int, max_length: int, device: str, budget: TokenBudget, precision: Precision = FP32
) -> BertScoreEncoder:
    """Load the model in ``folder`` without the layers above ``num_layers`` and without its pooler.

    Raises ``ModelDamaged`` if weights are missing from the file and ``TooFewLayers`` if the model has fewer layers.
    """
    from transformers import AutoConfig, AutoModel

    from scoring.models.store import TooFewLayers, load_pretrained

    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    if num_layers > config.num_hidden_layers:
        raise TooFewLayers(folder=str(folder), has=config.num_hidden_layers, wanted=num_layers)
    config.num_hidden_layers = num_layers
    model = load_pretrained(AutoModel, folder, config, optional=("pooler.",))
    if getattr(model, "pooler", None) is not None:
        model.pooler = None
    ids = BertIds(folder, max_length)
    encode = _way_through(model.to(device), ids.pad_id, precision)
    return BertScoreEncoder(encode, ids, device, budget, precision)


def _way_through(model: Any, pad_id: int, precision: Precision) -> Callable[[Packed], torch.Tensor]:
    """How packed rows go through ``model``: without padding where its layers are BERT's, else by its own forward."""
    config = model.config
    if config.model_type not in PACKABLE or getattr(config, "position_embedding_type", "absolute") != "absolute":
        return PaddedEncoder(model.to(precision.weights), pad_id)
    model.encoder.to(precision.weights)
    counts_from = None if config.model_type == "bert" else config.pad_token_id
    return PackedEncoder(model.embeddings, list(model.encoder.layer), counts_from=counts_from)


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

    def __init__(self, resources: Resources | None) -> None:
        from scoring.models.store import require

        self._resources = require(resources, self.name)

    def signature(self) -> dict[str, Any]:
        described = self._resources.describe_model("bertscore")
        return {"metric": self.name, "version": VERSION, "value": "f1", "idf": False, "rescale": False, **described}

    def score_pairs(
        self, references: Sequence[str], candidates: Sequence[str], progress: PairProgress | None = None
    ) -> list[float]:
        """F1 of each aligned pair. ``progress`` hears the pairs done, estimated from the tokens encoded."""
        pairs = list(zip(references, candidates, strict=True))
        if not pairs:
            return []
        with exact_inference(self._resources.bertscore.precision):
            values = self._score_distinct(set(pairs), _Share(len(pairs), progress))
        if progress is not None:
            progress(len(pairs), len(pairs))
        return [values[pair] for pair in pairs]

    def _score_distinct(self, pairs: set[Pair], share: _Share) -> dict[Pair, float]:
        fresh = {reference for reference, _ in pairs if reference not in self._resources.bertscore.references}
        share.expect(sum(map(len, fresh)) + sum(map(len, {candidate for _, candidate in pairs})))
        values: dict[Pair, float] = {}
        in_order = sorted(pairs, key=lambda pair: (len(pair[1]), pair[1], pair[0]))
        for chunk in windows(in_order, lambda pair: len(pair[0]) + len(pair[1]), CHUNK_CHARACTERS):
            values |= self._score_chunk(chunk, share)
        return values

    def _score_chunk(self, chunk: Sequence[Pair], share: _Share) -> dict[Pair, float]:
        encoder = self._resources.bertscore
        references = self._references({reference for reference, _ in chunk}, share)
        candidates = encoder.embed((candidate for _, candidate in chunk), share.add)
        scored = [(r, c) for r, c in chunk if references[r].counts and candidates[c].counts]
        values = dict.fromkeys(chunk, 0.0)

        def match(batch: Sequence[int]) -> None:
            part = [scored[index] for index in batch]
            found = greedy_f1([references[r] for r, _ in part], [candidates[c] for _, c in part])
            values.update(zip(part, found, strict=True))

        run_batches([references[r].length + candidates[c].length for r, c in scored], encoder.budget, match)
        return values

    def _references(self, texts: set[str], share: _Share) -> dict[str, Embedded]:
        """Embeddings of reference texts: kept ones, and the others encoded apart from candidates and then kept."""
        encoder = self._resources.bertscore
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
