"""Rows of token ids laid end to end in one buffer, without padding.

A padded batch is as wide as its longest text; the padding of the others is computed and thrown away. Here the rows
follow one another, every matrix product runs over real tokens only, and attention stays inside each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, groupby

import torch


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring rows of one length: ``rows`` of ``length`` tokens from token ``start`` on."""

    rows: int
    start: int
    length: int

    @property
    def stop(self) -> int:
        return self.start + self.rows * self.length


@dataclass(frozen=True, slots=True)
class Packed:
    """Rows end to end on one device.

    ``ids``, ``segments`` and ``positions`` are int64 of shape (tokens,); a position is a token's place in its row.
    ``offsets`` is int32 of shape (rows + 1,): row i is ``ids[offsets[i]:offsets[i + 1]]``.
    """

    ids: torch.Tensor
    segments: torch.Tensor
    positions: torch.Tensor
    offsets: torch.Tensor
    lengths: tuple[int, ...]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The rows in runs of one length, in order."""
        found: list[Block] = []
        start = 0
        for length, same in groupby(self.lengths):
            found.append(Block(sum(1 for _ in same), start, length))
            start = found[-1].stop
        return tuple(found)

    @property
    def first_tokens(self) -> torch.Tensor:
        """Where each row begins: int64 of shape (rows,)."""
        return self.offsets[:-1].long()

    def pad_to_multiple(self, step: int) -> Packed:
        """With one more row of tokens 0, so that the number of tokens is a multiple of ``step``; unchanged if it is."""
        missing = -len(self.ids) % step
        if not missing:
            return self
        zeros = self.ids.new_zeros(missing)
        return Packed(
            ids=torch.cat([self.ids, zeros]),
            segments=torch.cat([self.segments, zeros]),
            positions=torch.cat([self.positions, torch.arange(missing, device=zeros.device)]),
            offsets=torch.cat([self.offsets, self.offsets[-1:] + missing]),
            lengths=(*self.lengths, missing),
        )

    def to_padded(self, states: torch.Tensor, fill: float = 0) -> tuple[torch.Tensor, torch.Tensor]:
        """``states`` of every token (tokens, ...) as (rows, longest row, ...), filled up with ``fill`` on the right.

        The second tensor is true for real tokens: bool of shape (rows, longest row).
        """
        place = torch.arange(max(self.lengths), device=states.device)
        is_token = place < self.offsets.diff()[:, None]
        spread = states[(self.first_tokens[:, None] + place).clamp(max=len(states) - 1)]
        return spread.masked_fill(~is_token[(..., *[None] * (states.dim() - 1))], fill), is_token


def pack(rows: Sequence[Sequence[int]], segments: Sequence[Sequence[int]] | None = None, device: str = "cpu") -> Packed:
    """Lay ``rows`` of ids end to end on ``device``; without ``segments`` all tokens are of segment 0.

    Rows are copied to a GPU from pinned memory, so that the copy runs while the GPU computes the previous batch. Every
    row must have a token.
    """
    lengths = tuple(map(len, rows))
    if not all(lengths):
        raise ValueError("a row without a token cannot be packed")
    ids = torch.tensor(list(chain.from_iterable(rows)), dtype=torch.long)
    kinds = torch.zeros_like(ids) if segments is None else torch.tensor(list(chain.from_iterable(segments)))
    sizes = torch.tensor(lengths)
    offsets = torch.cat([torch.zeros(1, dtype=torch.long), sizes.cumsum(0)])
    positions = torch.arange(len(ids)) - offsets[:-1].repeat_interleave(sizes)

    def on_device(part: torch.Tensor) -> torch.Tensor:
        return part if device == "cpu" else part.pin_memory().to(device, non_blocking=True)

    return Packed(
        ids=on_device(ids),
        segments=on_device(kinds),
        positions=on_device(positions),
        offsets=on_device(offsets.to(torch.int32)),
        lengths=lengths,
    )
