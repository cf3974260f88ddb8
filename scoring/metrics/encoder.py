"""A BERT-like encoder over packed rows: no padding is computed, and the last layer only where it is read.

The weights are those of modules of transformers and bleurt-pytorch; only the way through them is ours (``products``
multiplies). Attention runs inside each row: by PyTorch's
fused kernel over blocks of equally long rows, on a GPU by kernels for rows of any length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import torch
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from scoring.metrics.packing import Packed, pack
from scoring.metrics.precision import exact_inference
from scoring.metrics.products import product_of

PACKABLE: Final = frozenset({"bert", "roberta", "xlm-roberta"})  # model types with the layers written out here
Attention = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, Packed, bool], torch.Tensor]


class PackedEncoder:
    """Embeddings and layers of one model, for packed rows, in the number format its layers have.

    ``projection`` widens embeddings that are narrower than the layers. ``counts_from`` is the padding id of a model of
    RoBERTa's kind, which counts positions from there on and passes over padding tokens that a text spells out.
    """

    def __init__(
        self, embeddings: Any, layers: Sequence[Any], projection: Any = None, counts_from: int | None = None
    ) -> None:
        self.embeddings = embeddings
        self.projection = projection
        self.counts_from = counts_from
        self.layers = [PackedLayer(layer) for layer in layers]
        self.dtype = self.layers[0].dtype

    def __call__(self, packed: Packed) -> torch.Tensor:
        """The last layer's states of every token: (tokens, width)."""
        hidden = self._embed(packed)
        for layer in self.layers:
            hidden = layer(hidden, packed)
        return hidden

    def first_states(self, packed: Packed) -> torch.Tensor:
        """The last layer's state of each row's first token, [CLS]: (rows, width). Nothing else of it is computed."""
        hidden = self._embed(packed)
        for layer in self.layers[:-1]:
            hidden = layer(hidden, packed)
        return self.layers[-1](hidden, packed, first_only=True)

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
    """Any other encoder of transformers: rows padded, through the model's own forward, and laid end to end again."""

    def __init__(self, model: Any, pad_id: int) -> None:
        self.model = model
        self.pad_id = pad_id

    def __call__(self, packed: Packed) -> torch.Tensor:
        """The last layer's states of every token: (tokens, width)."""
        ids = pad_sequence(packed.ids.split(packed.lengths), batch_first=True, padding_value=self.pad_id)
        lengths = torch.tensor(packed.lengths, device=ids.device)
        is_token = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        states: torch.Tensor = self.model(ids, attention_mask=is_token.long())[0]
        return states[is_token]


class PackedLayer:
    """One transformer layer with the weights of ``layer``, which must be on its device in its format already."""

    def __init__(self, layer: Any) -> None:
        attention, output = layer.attention.self, layer.attention.output
        self.heads: int = attention.num_attention_heads
        self.query = product_of(attention.query)
        self.key_value = product_of(attention.key, attention.value)
        self.attended, self.attended_norm = product_of(output.dense), output.LayerNorm
        self.widen = product_of(layer.intermediate.dense, activation=layer.intermediate.intermediate_act_fn)
        self.narrow, self.narrow_norm = product_of(layer.output.dense), layer.output.LayerNorm
        self.dtype = self.query.dtype
        self.attend = attention_for(self.query.device.type, self.dtype, self.query.inputs // self.heads)

    def __call__(self, hidden: torch.Tensor, packed: Packed, first_only: bool = False) -> torch.Tensor:
        """States after this layer of every token (tokens, width), or with ``first_only`` of first tokens (rows, width).

        ``hidden`` are the states before it: (tokens, width).
        """
        asking = hidden[packed.first_tokens] if first_only else hidden
        key, value = self.key_value(hidden).chunk(2, dim=-1)
        query, key, value = (part.unflatten(-1, (self.heads, -1)) for part in (self.query(asking), key, value))
        context = self.attend(query, key, value, packed, first_only).flatten(1)
        asking = self.attended_norm(self.attended.added_to(context, asking))
        states: torch.Tensor = self.narrow_norm(self.narrow.added_to(self.widen(asking), asking))
        return states


@cache
def attention_for(device: str, dtype: torch.dtype, head_size: int) -> Attention:
    """The fastest way of attention inside packed rows on ``device``; by blocks where this card lacks its kernel."""
    if device == "cpu":
        return attend_by_blocks
    fastest = attend_nested if dtype is torch.float32 else attend_varlen
    return fastest if _works(fastest, device, dtype, head_size) else attend_by_blocks


def _works(attend: Attention, device: str, dtype: torch.dtype, head_size: int) -> bool:
    """Whether ``attend`` runs on ``device`` and gives there what attention by blocks gives, on a small sample.

    The sample is laid out as a layer lays out its query, key and value. Raises ``torch.OutOfMemoryError``.
    """
    packed = pack([[1] * 5, [1] * 3, [1]], device=device)
    numbers = torch.randn(9, 6 * head_size, generator=torch.Generator().manual_seed(1)).to(device, dtype)
    query, key, value = (part.unflatten(-1, (2, head_size)) for part in numbers.chunk(3, dim=-1))
    given = [(query, False), (query[packed.first_tokens], True)]
    try:
        with exact_inference():
            found = [attend(asking, key, value, packed, first_only) for asking, first_only in given]
            expected = [attend_by_blocks(asking, key, value, packed, first_only) for asking, first_only in given]
    except torch.OutOfMemoryError:
        raise
    except (ImportError, RuntimeError):
        return False
    tolerance = 1e-5 if dtype is torch.float32 else 2e-2
    return all(torch.allclose(one, other, atol=tolerance) for one, other in zip(found, expected, strict=True))


def attend_by_blocks(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, packed: Packed, first_only: bool
) -> torch.Tensor:
    """Attention of rows in blocks of one length, each one call of the fused kernel without a mask.

    ``key`` and ``value`` are (tokens, heads, size); ``query`` is too, or (rows, heads, size) with ``first_only``.
    Returns the shape of ``query``. Rows sorted by length make few blocks.
    """
    parts = []
    for block in packed.blocks:
        shape = (block.rows, block.length)
        keys, values = (states[block.start : block.stop].unflatten(0, shape).transpose(1, 2) for states in (key, value))
        if first_only:
            queries = query[block.first_row : block.first_row + block.rows].unsqueeze(2)
        else:
            queries = query[block.start : block.stop].unflatten(0, shape).transpose(1, 2)
        context = functional.scaled_dot_product_attention(queries, keys, values)
        parts.append(context.transpose(1, 2).flatten(0, 1))
    return torch.cat(parts)


def attend_nested(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, packed: Packed, first_only: bool
) -> torch.Tensor:
    """The same by one call over jagged nested tensors: the memory-efficient kernel, which has float32 and TF32."""
    offsets = packed.offsets.long()
    own = torch.arange(len(packed.lengths) + 1, device=query.device) if first_only else offsets
    longest = max(packed.lengths)

    def nested(states: torch.Tensor, places: torch.Tensor, most: int) -> torch.Tensor:
        jagged = torch.nested.nested_tensor_from_jagged(states.contiguous(), places, min_seqlen=1, max_seqlen=most)
        return jagged.transpose(1, 2)

    context = functional.scaled_dot_product_attention(
        nested(query, own, 1 if first_only else longest),
        nested(key, offsets, longest),
        nested(value, offsets, longest),
    )
    return context.transpose(1, 2).values()


def attend_varlen(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, packed: Packed, first_only: bool
) -> torch.Tensor:
    """The same by FlashAttention's kernel for rows of any length, which has bfloat16 and float16 only."""
    from torch.nn.attention.varlen import varlen_attn

    rows = torch.arange(len(packed.lengths) + 1, dtype=torch.int32, device=query.device)
    own, most = (rows, 1) if first_only else (packed.offsets, max(packed.lengths))
    context: Any = varlen_attn(
        query.contiguous(),
        key.contiguous(),
        value.contiguous(),
        own,
        packed.offsets,
        most,
        max(packed.lengths),
        num_splits=1,  # the order of additions then depends on a row alone, not on the others of its batch
    )
    attended: torch.Tensor = context
    return attended
