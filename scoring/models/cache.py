"""Embeddings of reference texts, kept for the next submission: in memory and, where a folder is named, in files.

Every submission is scored against the same references, so these are encoded once. Memory is a process's own; the folder
serves every process of a machine and outlives them. What comes from a file is bit for bit what was put.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch

from scoring.lru import LruCache
from scoring.models.batching import chunks
from scoring.models.cache_files import EmbeddingFiles

DISK_BYTES: Final = 8 << 30  # eighty reference sets of the contest, with BERT-base
FILE_BYTES: Final = 128 << 20  # a file is put together in memory; one holds the references of the contest


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
    """Embeddings by text, for one thread: ``max_bytes`` of vectors in memory, the least recently used dropped first.

    With a ``folder`` they are kept there too, up to ``max_disk_bytes`` for all that use the folder. ``namespace`` names
    whatever makes the embedding of a text what it is: weights, tokenizer, layer, precision, class of device. What
    comes from a file is put on ``device``. A folder that cannot be used is no fault: then there is memory alone.
    """

    def __init__(
        self,
        max_bytes: int,
        folder: Path | None = None,
        *,
        max_disk_bytes: int = DISK_BYTES,
        namespace: str = "",
        device: str = "cpu",
    ) -> None:
        self._memory: LruCache[str, Embedded] = LruCache(max_bytes, lambda kept: kept.vectors.nbytes)
        self._device = device
        self._files = EmbeddingFiles(folder, namespace, max_disk_bytes) if folder is not None else None

    def __contains__(self, text: str) -> bool:
        return text in self._memory or (self._files is not None and text in self._files)

    @property
    def bytes(self) -> int:
        """What the vectors in memory take."""
        return self._memory.size

    @property
    def max_bytes(self) -> int:
        return self._memory.max_size

    def get_many(self, texts: Iterable[str]) -> dict[str, Embedded]:
        """What is kept of ``texts``, also where it is more than memory holds."""
        wanted = dict.fromkeys(texts)
        found = {text: kept for text in wanted if (kept := self._memory.get(text)) is not None}
        missing = [text for text in wanted if text not in found]
        if self._files is not None and missing:
            for text, rows in self._files.read(missing).items():
                found[text] = Embedded(rows[:, :-1].contiguous().to(self._device), rows[:, -1].clone().to(self._device))
                self._memory.put(text, found[text])
        return found

    def put_many(self, entries: Mapping[str, Embedded]) -> None:
        """Keep ``entries``. Those that are new in the folder become one file, or some where they are many."""
        for text, embedded in entries.items():
            self._memory.put(text, Embedded(_own(embedded.vectors), _own(embedded.weights)))
        if self._files is not None:
            new = [(text, embedded) for text, embedded in entries.items() if text not in self._files]
            for part in chunks(new, lambda entry: entry[1].vectors.nbytes, FILE_BYTES):
                self._files.write({text: _rows(embedded) for text, embedded in part})


def _rows(embedded: Embedded) -> torch.Tensor:
    """Vectors and weights side by side: (tokens, width + 1)."""
    return torch.cat([embedded.vectors, embedded.weights[:, None]], dim=1)


def _own(part: torch.Tensor) -> torch.Tensor:
    """``part`` with memory of its own: a view would keep a whole batch alive."""
    return part if part.untyped_storage().nbytes() == part.nbytes else part.clone()
