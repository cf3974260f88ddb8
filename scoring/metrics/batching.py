"""Batches cut by tokens instead of by count, and what happens when one does not fit into the device's memory.

A batch costs what its longest row costs, times its rows. Sorting by length and cutting by padded tokens therefore saves
most of the padding that batches of 64 texts in file order carry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, Final

import torch

from scoring.errors import Message, ScoringFault
from scoring.profile import WordedError

# A processor gains nothing from larger batches: above this their intermediate results outgrow what the allocator keeps,
# and every layer pays for fresh memory (measured: twice the time at 4,096). A GPU needs large ones to be busy.
DEFAULT_TOKENS: Final = {"cpu": 1024, "cuda": 32768}


class DeviceMemoryExhausted(WordedError, ScoringFault):
    """Even the smallest batch does not fit into the device's memory."""

    code: ClassVar[str] = "device_memory_exhausted"
    words: ClassVar[Message] = Message(
        "장치 메모리가 부족합니다: 토큰 {tokens}개짜리 텍스트 하나도 처리할 수 없습니다. 메모리를 쓰는 다른 프로세스를 "
        "끝내거나 --device cpu로 다시 실행하세요.",
        "The device is out of memory: not even one text of {tokens} tokens fits. End other processes that use its "
        "memory, or run again with --device cpu.",
    )


@dataclass(slots=True)
class TokenBudget:
    """How many padded tokens one batch may hold. Shared by all batches of a model, so a lesson learnt stays learnt."""

    tokens: int

    def __post_init__(self) -> None:
        if self.tokens < 1:
            raise ValueError(f"a batch must hold at least one token, not {self.tokens}")

    def rows(self, length: int) -> int:
        """How many rows of ``length`` tokens fit: at least one, since a row cannot be cut."""
        return max(1, self.tokens // max(1, length))

    def halve(self, tried: int) -> None:
        """After a batch of ``tried`` padded tokens did not fit: allow at most half of it."""
        self.tokens = max(1, min(self.tokens, tried) // 2)


def run_batches(
    lengths: Sequence[int],
    budget: TokenBudget,
    forward: Callable[[Sequence[int]], None],
    on_done: Callable[[Sequence[int]], None] | None = None,
) -> None:
    """Call ``forward`` with the indices of each batch, longest rows first, until all rows are done.

    ``lengths[i]`` is the number of tokens of row i. Rows of one length keep their order, so equal input gives equal
    batches. When ``forward`` runs out of device memory the budget halves and the same rows are tried again in smaller
    batches; ``forward`` must therefore write its results only at its end. The longest rows come first so that a budget
    too large shows at once. ``on_done`` hears of each batch after it succeeded.

    Raises ``DeviceMemoryExhausted`` when a single row does not fit.
    """
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    start = 0
    while start < len(order):
        longest = lengths[order[start]]
        batch = order[start : start + budget.rows(longest)]
        if not _fits(forward, batch):
            if len(batch) == 1:
                raise DeviceMemoryExhausted(tokens=longest)
            budget.halve(len(batch) * longest)
            continue
        start += len(batch)
        if on_done is not None:
            on_done(batch)


def _fits(forward: Callable[[Sequence[int]], None], batch: Sequence[int]) -> bool:
    """Run one batch; False if the device had no memory for it.

    The cache is emptied after the ``except`` block: inside it the traceback still holds the tensors that filled it.
    """
    try:
        forward(batch)
    except torch.OutOfMemoryError:
        pass
    else:
        return True
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return False


def pad(rows: Sequence[Sequence[int]], value: int) -> torch.Tensor:
    """Rows of ids as one tensor of int64, shape (rows, longest row), filled up with ``value`` on the right."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[value] * (width - len(row))] for row in rows], dtype=torch.long)


@contextmanager
def exact_inference() -> Iterator[None]:
    """Inference without gradients in true float32: TF32 and bfloat16 shortcuts of matrix products are off inside."""
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.inference_mode():
            yield
    finally:
        torch.set_float32_matmul_precision(precision)
