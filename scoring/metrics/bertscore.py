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

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import torch
from torch.nn.utils.rnn import pad_sequence

from scoring.metrics import PairProgress
from scoring.metrics.batching import TokenBudget, exact_inference, pad, run_batches
from scoring.metrics.bert_ids import BertIds

if TYPE_CHECKING:
    from scoring.checkpoints import Resources

VERSION: Final = 1  # raised whenever a change here could change a value
CHUNK_TOKENS: Final = 131_072  # texts held at once, in tokens: 400 MB of embeddings of BERT-base
CACHE_BYTES: Final = 512 << 20  # five reference sets of the contest, with BERT-base

Pair = tuple[str, str]  # (reference, candidate)
OnTokens = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Embedded:
    """A text as the metric sees it: unit vectors (tokens, width) and which tokens count (tokens,), both float32."""

    vectors: torch.Tensor
    weights: torch.Tensor

    @property
    def length(self) -> int:
        return self.vectors.shape[0]

    @property
    def counts(self) -> bool:
        """Whether any token counts; otherwise the score is 0."""
        return bool(self.weights.any())


class EmbeddingCache:
    """Embeddings of texts by text, the least recently used dropped first once ``max_bytes`` are exceeded."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.bytes = 0
        self._entries: OrderedDict[str, Embedded] = OrderedDict()

    def __contains__(self, text: str) -> bool:
        return text in self._entries

    def get(self, text: str) -> Embedded | None:
        if text in self._entries:
            self._entries.move_to_end(text)
        return self._entries.get(text)

    def put(self, text: str, embedded: Embedded) -> None:
        self._drop(text)
        self._entries[text] = embedded
        self.bytes += embedded.vectors.nbytes
        while self.bytes > self.max_bytes:
            self._drop(next(iter(self._entries)))

    def _drop(self, text: str) -> None:
        if (old := self._entries.pop(text, None)) is not None:
            self.bytes -= old.vectors.nbytes


class BertScoreEncoder:
    """One model up to its layer ``num_layers``, on one device, with its tokenizer and its cache of references."""

    def __init__(self, model: Any, ids: BertIds, device: str, budget: TokenBudget) -> None:
        self.model = model
        self.ids = ids
        self.device = device
        self.budget = budget
        self.references = EmbeddingCache(CACHE_BYTES)

    def embed(self, ids_of: dict[str, list[int]], on_tokens: OnTokens) -> dict[str, Embedded]:
        """Embed each text of ``ids_of`` (text to ids). ``on_tokens`` hears how many tokens each batch held."""
        texts = list(ids_of)
        rows = [ids_of[text] for text in texts]
        embedded: dict[str, Embedded] = {}

        def forward(batch: Sequence[int]) -> None:
            vectors = self._encode([rows[index] for index in batch])
            for row, index in enumerate(batch):
                ids = rows[index]
                weights = [0.0 if token in self.ids.ignored_ids else 1.0 for token in ids]
                own = vectors[row, : len(ids)].clone()  # a view would keep the whole batch alive in the cache
                embedded[texts[index]] = Embedded(own, torch.tensor(weights, device=self.device))

        run_batches(
            [len(row) for row in rows],
            self.budget,
            forward,
            lambda batch: on_tokens(sum(len(rows[index]) for index in batch)),
        )
        return embedded

    def _encode(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Unit vectors of the tokens of ``rows``: (rows, longest row, width)."""
        input_ids = pad(rows, self.ids.pad_id)
        lengths = torch.tensor([len(row) for row in rows])
        mask = (torch.arange(input_ids.shape[1]) < lengths[:, None]).long()
        hidden = self.model(input_ids.to(self.device), attention_mask=mask.to(self.device))[0]
        unit: torch.Tensor = hidden / hidden.norm(dim=-1, keepdim=True)
        return unit


def load_encoder(folder: Path, num_layers: int, max_length: int, device: str, budget: TokenBudget) -> BertScoreEncoder:
    """Load the model in ``folder`` without the layers above ``num_layers`` and without its pooler.

    Raises ``ModelDamaged`` if weights are missing from the file and ``TooFewLayers`` if the model has fewer layers.
    """
    from transformers import AutoConfig, AutoModel

    from scoring.checkpoints import TooFewLayers, load_pretrained

    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    if num_layers > config.num_hidden_layers:
        raise TooFewLayers(folder=str(folder), has=config.num_hidden_layers, wanted=num_layers)
    config.num_hidden_layers = num_layers
    model = load_pretrained(AutoModel, folder, config, optional=("pooler.",))
    if getattr(model, "pooler", None) is not None:
        model.pooler = None
    return BertScoreEncoder(model.to(device), BertIds(folder, max_length), device, budget)


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
    values: list[float] = f1.nan_to_num(nan=0.0).tolist()
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
        from scoring.checkpoints import require

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
        with exact_inference():
            values = self._score_distinct(set(pairs), _Share(len(pairs), progress))
        if progress is not None:
            progress(len(pairs), len(pairs))
        return [values[pair] for pair in pairs]

    def _score_distinct(self, pairs: set[Pair], share: _Share) -> dict[Pair, float]:
        encoder = self._resources.bertscore
        ids = self._ids(pairs)
        cached = {reference for reference, _ in pairs if reference in encoder.references}
        fresh = {reference for reference, _ in pairs} - cached
        share.total_tokens = sum(len(ids[text]) for side in (fresh, {c for _, c in pairs}) for text in side)
        values: dict[Pair, float] = {}
        for chunk in _chunks(pairs, ids):
            values |= self._score_chunk(chunk, ids, share)
        return values

    def _ids(self, pairs: set[Pair]) -> dict[str, list[int]]:
        """Ids of every text, each tokenized once; in sorted order, so that shuffled input gives equal batches."""
        texts = sorted({text for pair in pairs for text in pair})
        return dict(zip(texts, self._resources.bertscore.ids.encode_all(texts), strict=True))

    def _score_chunk(self, chunk: Sequence[Pair], ids: dict[str, list[int]], share: _Share) -> dict[Pair, float]:
        encoder = self._resources.bertscore
        references = self._references(sorted({reference for reference, _ in chunk}), ids, share)
        candidates = encoder.embed({text: ids[text] for text in sorted({c for _, c in chunk})}, share.add)
        scored = [(r, c) for r, c in chunk if references[r].counts and candidates[c].counts]
        values = dict.fromkeys(chunk, 0.0)

        def match(batch: Sequence[int]) -> None:
            part = [scored[index] for index in batch]
            found = greedy_f1([references[r] for r, _ in part], [candidates[c] for _, c in part])
            values.update(zip(part, found, strict=True))

        run_batches([len(ids[r]) + len(ids[c]) for r, c in scored], encoder.budget, match)
        return values

    def _references(self, texts: Sequence[str], ids: dict[str, list[int]], share: _Share) -> dict[str, Embedded]:
        """Embeddings of reference texts: kept ones, and the others encoded apart from candidates and then kept."""
        cache = self._resources.bertscore.references
        found = {text: kept for text in texts if (kept := cache.get(text)) is not None}
        fresh = self._resources.bertscore.embed({text: ids[text] for text in texts if text not in found}, share.add)
        for text, embedded in fresh.items():
            cache.put(text, embedded)
        return found | fresh


def _chunks(pairs: set[Pair], ids: dict[str, list[int]]) -> Iterator[list[Pair]]:
    """The pairs in order of candidate length, in runs of at most ``CHUNK_TOKENS`` tokens."""
    chunk: list[Pair] = []
    tokens = 0
    for reference, candidate in sorted(pairs, key=lambda pair: (len(ids[pair[1]]), pair[1], pair[0])):
        size = len(ids[reference]) + len(ids[candidate])
        if chunk and tokens + size > CHUNK_TOKENS:
            yield chunk
            chunk, tokens = [], 0
        chunk.append((reference, candidate))
        tokens += size
    if chunk:
        yield chunk


class _Share:
    """Turns tokens encoded into pairs done, for a progress bar that moves with the work and ends at the end."""

    def __init__(self, pairs: int, progress: PairProgress | None) -> None:
        self.total_tokens = 0
        self._pairs, self._progress, self._tokens = pairs, progress, 0

    def add(self, tokens: int) -> None:
        self._tokens += tokens
        if self._progress is not None:
            done = self._pairs * self._tokens // max(1, self.total_tokens)
            self._progress(min(done, self._pairs - 1), self._pairs)
