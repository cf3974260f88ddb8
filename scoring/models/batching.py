"""Batches cut by tokens instead of by count, and what happens when one does not fit into the device's memory.

The cost of a batch is its number of tokens, not of texts: batches of equal tokens keep a device equally busy, and if
one fits into its memory, the others do too. A thread tokenizes the next chunk of texts while the device computes the
current one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar, Final, TypeVar

import torch

from scoring.errors import Message, ScoringFault, WordedError

# A processor gains nothing from larger batches: above this their intermediate results outgrow what the allocator keeps,
# and every layer pays for fresh memory (measured: twice the time at 4,096).
CPU_TOKENS: Final = 1024
# A GPU needs large batches to be busy and gains nothing beyond this; a small one gets what fits into half its free
# memory.
MOST_GPU_TOKENS: Final = 65_536
LEAST_GPU_TOKENS: Final = 512
PREFETCH_CHARACTERS: Final = 8192

Given = TypeVar("Given")
Made = TypeVar("Made")


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
    """How many tokens one batch may hold, counted as a rectangle as wide as its longest row.

    Shared by all batches of a model, so a reduced budget stays reduced.
    """

    tokens: int

    def __post_init__(self) -> None:
        if self.tokens < 1:
            raise ValueError(f"a batch must hold at least one token, not {self.tokens}")

    def rows(self, length: int) -> int:
        """How many rows of ``length`` tokens fit: at least one, since a row cannot be cut."""
        return max(1, self.tokens // max(1, length))

    def halve(self, tried: int) -> None:
        """After a batch of ``tried`` tokens did not fit: allow at most half of it."""
        self.tokens = max(1, min(self.tokens, tried) // 2)


def default_tokens(device: str, bytes_per_token: int) -> int:
    """How many tokens a batch may hold on ``device``; on a GPU from its free memory and what a token needs there."""
    if device == "cpu":
        return CPU_TOKENS
    free, _ = torch.cuda.mem_get_info()
    return gpu_tokens(free, bytes_per_token)


def gpu_tokens(free_bytes: int, bytes_per_token: int) -> int:
    """Tokens whose intermediate results take half of ``free_bytes``, within the limits for a GPU."""
    return max(LEAST_GPU_TOKENS, min(MOST_GPU_TOKENS, free_bytes // 2 // max(1, bytes_per_token)))


def run_batches(
    lengths: Sequence[int],
    budget: TokenBudget,
    forward: Callable[[Sequence[int]], None],
    on_done: Callable[[Sequence[int]], None] | None = None,
) -> None:
    """Call ``forward`` with the indices of each batch, longest rows first, until all rows are done.

    ``lengths[i]`` is the number of tokens of row i. Rows of one length keep their order, so equal input gives equal
    batches. When ``forward`` runs out of device memory the budget halves and the same rows are tried again in smaller
    batches; ``forward`` must therefore write its results only at its end. The longest rows come first so that a too
    large budget fails at once. ``on_done`` is called with each batch after it succeeded.

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

    The cache is emptied after the ``except`` block: inside it the traceback still references the tensors that filled
    it.
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


def chunks(items: Iterable[Given], size_of: Callable[[Given], int], most: int) -> Iterator[list[Given]]:
    """``items`` in runs of at most ``most`` by ``size_of``, at least one item each."""
    chunk: list[Given] = []
    held = 0
    for item in items:
        size = size_of(item)
        if chunk and held + size > most:
            yield chunk
            chunk, held = [], 0
        chunk.append(item)
        held += size
    if chunk:
        yield chunk


def prefetch(make: Callable[[Given], Made], inputs: Iterable[Given]) -> Generator[tuple[Given, Made], None, None]:
    """Each input with the result of ``make``, in order; while one is used, a thread makes the next.

    Close the generator if it may end early: then nothing more is made.
    """
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="tokens") as thread:
        ahead: tuple[Given, Future[Made]] | None = None
        for given in inputs:
            following = (given, thread.submit(make, given))
            if ahead is not None:
                yield ahead[0], ahead[1].result()
            ahead = following
        if ahead is not None:
            yield ahead[0], ahead[1].result()
