"""A BERT-like encoder over packed rows: no padding is computed, and the last layer only for the tokens that are read.

The weights are those of modules of transformers and bleurt-pytorch; only the forward pass is ours (``products``
multiplies). Attention runs inside each row: by PyTorch's fused kernel over blocks of equally long rows, on a GPU by
kernels for rows of any length.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import torch
from torch.nn import functional

import scoring.models.kernel  # noqa: F401 (registers itself; delete this line with its folder)
from scoring.models.packing import Packed, pack
from scoring.models.precision import exact_inference
from scoring.models.products import linear

PACKABLE: Final = frozenset({"bert", "roberta", "xlm-roberta"})  # model types with the layers written out here
# Buffers are filled up to a multiple of this: oneDNN compiles programs for every number of rows (8 ms) and keeps them
# (2 MB), and tensor cores are faster with multiples of 8 and 16.
TOKEN_STEP: Final = 16
Attention = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, Packed], torch.Tensor]


class PackedEncoder:
    """Embeddings and layers of one model, for packed rows, in the number format of its layers.

    Returns the last layer's states of every token (tokens, width), or with ``first_only`` those of each row's first
    token, [CLS], (rows, width): then nothing else of that layer is computed. ``projection`` widens embeddings that are
    narrower than the layers. ``counts_from`` is the padding id of a model like RoBERTa, which counts positions from
    there on and skips padding tokens that a text spells out.
    """

    def __init__(
        self,
        embeddings: Any,
        layers: Sequence[Any],
        projection: Any = None,
        counts_from: int | None = None,
        first_only: bool = False,
    ) -> None:
        self.embeddings = embeddings
        self.projection = projection
        self.counts_from = counts_from
        self.first_only = first_only
        *inner, last = layers
        self.layers: list[Layer] = [PackedLayer(layer) for layer in inner]
        self.layers.append(FirstTokenLayer(last) if first_only else PackedLayer(last))
        self.dtype = self.layers[0].attention_output.dtype

    def __call__(self, packed: Packed) -> torch.Tensor:
        filled = packed.pad_to_multiple(TOKEN_STEP)
        hidden = self._embed(filled)
        for layer in self.layers:
            hidden = layer(hidden, filled)
        return hidden[: len(packed.lengths) if self.first_only else len(packed.ids)]

    def _embed(self, packed: Packed) -> torch.Tensor:
        part = self.embeddings
        hidden: torch.Tensor = part.word_embeddings(packed.ids) + part.token_type_embeddings(packed.segments)
        hidden = part.LayerNorm(hidden + part.position_embeddings(self._positions(packed)))
        hidden = hidden.to(self.dtype)
        if self.projection is not None:
            hidden = self.projection(hidden)
        return hidden

    def _positions(self, packed: Packed) -> torch.Tensor:
        if self.counts_from is None:
            return packed.positions
        counted = packed.ids.ne(self.counts_from).long()
        until = counted.cumsum(0)
        before_row = (until - counted)[packed.first_tokens]
        in_row = until - before_row.repeat_interleave(packed.offsets.diff())
        return in_row * counted + self.counts_from


class PaddedEncoder:
    """Any other encoder of transformers: rows are padded for the model's own forward, and its states packed again."""

    def __init__(self, model: Any, pad_id: int) -> None:
        self.model = model
        self.pad_id = pad_id

    def __call__(self, packed: Packed) -> torch.Tensor:
        """The last layer's states of every token: (tokens, width)."""
        ids, is_token = packed.to_padded(packed.ids, self.pad_id)
        states: torch.Tensor = self.model(ids, attention_mask=is_token.long())[0]
        return states[is_token]


class Layer(ABC):
    """One transformer layer with the weights of ``layer``, which must already be on its device and in its format."""

    def __init__(self, layer: Any) -> None:
        attention = layer.attention
        self.heads: int = attention.self.num_attention_heads
        self.attention_output, self.attention_norm = linear(attention.output.dense), attention.output.LayerNorm
        self.intermediate = linear(layer.intermediate.dense, activation=layer.intermediate.intermediate_act_fn)
        self.output, self.output_norm = linear(layer.output.dense), layer.output.LayerNorm

    @abstractmethod
    def __call__(self, hidden: torch.Tensor, packed: Packed) -> torch.Tensor:
        """States after this layer; ``hidden`` are those of every token before it: (tokens, width)."""

    def _by_head(self, states: torch.Tensor) -> torch.Tensor:
        parts: torch.Tensor = states.unflatten(-1, (self.heads, -1))
        return parts

    def _after_attention(self, context: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        attended = self.attention_norm(self.attention_output.added_to(context, before))
        states: torch.Tensor = self.output_norm(self.output.added_to(self.intermediate(attended), attended))
        return states


class PackedLayer(Layer):
    """A layer that returns the states of every token: (tokens, width)."""

    def __init__(self, layer: Any) -> None:
        super().__init__(layer)
        attention = layer.attention.self
        self.query_key_value = linear(attention.query, attention.key, attention.value)
        weights = self.query_key_value
        self.attend = attention_for(weights.device.type, weights.dtype, weights.inputs // self.heads)

    def __call__(self, hidden: torch.Tensor, packed: Packed) -> torch.Tensor:
        query, key, value = map(self._by_head, self.query_key_value(hidden).chunk(3, dim=-1))
        context = self.attend(query, key, value, packed)
        return self._after_attention(context.flatten(1), hidden)


class FirstTokenLayer(Layer):
    """A layer that returns the states of each row's first token: (rows, width).

    With one query q a row, keys K x + b and values V x + c of its tokens x need not be computed: q (K x) is (q K) x,
    q b is the same for all tokens of the row and does not change the softmax, and the weighted sum of values is V
    applied to the weighted sum of x, plus c. Only some hundredths of the layer's arithmetic remain.
    """

    def __init__(self, layer: Any) -> None:
        super().__init__(layer)
        key, value = layer.attention.self.key, layer.attention.self.value
        self.query = linear(layer.attention.self.query)
        self.key = key.weight.unflatten(0, (self.heads, -1))
        self.value = value.weight.unflatten(0, (self.heads, -1))
        self.value_bias = value.bias

    def __call__(self, hidden: torch.Tensor, packed: Packed) -> torch.Tensor:
        first = hidden[packed.first_tokens]
        query = self._by_head(self.query(first)) / self.key.shape[1] ** 0.5
        tokens, is_token = packed.to_padded(hidden)
        similar = torch.einsum("rhs,hsw->rhw", query, self.key) @ tokens.transpose(1, 2)
        weights = similar.masked_fill(~is_token[:, None], float("-inf")).softmax(-1)
        context = torch.einsum("rhw,hsw->rhs", weights @ tokens, self.value).flatten(1) + self.value_bias
        return self._after_attention(context, first)


@cache
def attention_for(device: str, dtype: torch.dtype, head_size: int) -> Attention:
    """The fastest attention inside packed rows on ``device``; by blocks if this card has no kernel for it."""
    if device == "cpu":
        return attend_by_blocks
    fastest = attend_ragged if dtype is torch.float32 else attend_varlen
    return fastest if _works(fastest, device, dtype, head_size) else attend_by_blocks


def _works(attend: Attention, device: str, dtype: torch.dtype, head_size: int) -> bool:
    """Whether ``attend`` runs on ``device`` with the same result as attention by blocks, on a small sample.

    The sample is laid out as a layer lays out its query, key and value. Raises ``torch.OutOfMemoryError``.
    """
    packed = pack([[1] * 5, [1] * 3, [1]], device=device)
    numbers = torch.randn(9, 6 * head_size, generator=torch.Generator().manual_seed(1)).to(device, dtype)
    query, key, value = (part.unflatten(-1, (2, head_size)) for part in numbers.chunk(3, dim=-1))
    try:
        with exact_inference():
            found, expected = (way(query, key, value, packed) for way in (attend, attend_by_blocks))
    except torch.OutOfMemoryError:
        raise
    except (ImportError, RuntimeError):
        return False
    tolerance = 1e-5 if dtype is torch.float32 else 2e-2
    return torch.allclose(found, expected, atol=tolerance)


def attend_by_blocks(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, packed: Packed) -> torch.Tensor:
    """Attention of rows in blocks of equal length, with one call of the fused kernel for each, without a mask.

    All arguments and the result are (tokens, heads, size). Rows sorted by length form few blocks.
    """
    parts = []
    for block in packed.blocks:
        shape = (block.rows, block.length)
        own = (states[block.start : block.stop].unflatten(0, shape).transpose(1, 2) for states in (query, key, value))
        parts.append(functional.scaled_dot_product_attention(*own).transpose(1, 2).flatten(0, 1))
    return torch.cat(parts)


def attend_ragged(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, packed: Packed) -> torch.Tensor:
    """The same with one call of the memory-efficient kernel, for float32 and TF32.

    Nested tensors come to it as well; without their bookkeeping a model of 12 layers takes half of the time in TF32.
    """
    offsets, longest = packed.offsets, max(packed.lengths)
    parts = (states[None] for states in (query, key, value))
    context: torch.Tensor = torch.ops.aten._efficient_attention_forward(
        *parts, None, offsets, offsets, longest, longest, dropout_p=0.0, custom_mask_type=0
    )[0]
    return context[0]


def attend_varlen(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, packed: Packed) -> torch.Tensor:
    """The same with FlashAttention's kernel, for bfloat16 and float16 only."""
    from torch.nn.attention.varlen import varlen_attn

    longest = max(packed.lengths)
    context: Any = varlen_attn(
        query,
        key,
        value,
        packed.offsets,
        packed.offsets,
        longest,
        longest,
        num_splits=1,  # then the order of additions depends only on the row, not on the others of its batch
    )
    attended: torch.Tensor = context
    return attended
