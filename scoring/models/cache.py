"""Embeddings of reference texts, kept for the next submission: in memory and, where a folder is named, on disk.

Every submission is scored against the same references, so these are encoded once. Memory is a process's own; the folder
serves every process of a machine and outlives them. What comes back from disk is bit for bit what was put.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch

from scoring.models.cache_segments import SegmentFolder

DISK_BYTES: Final = 8 << 30  # eight reference sets of the contest, with BERT-base


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
    comes from disk is put on ``device``. A folder that cannot be used is no fault: then there is memory alone.
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
        self.max_bytes = max_bytes
        self.bytes = 0
        self._entries: OrderedDict[str, Embedded] = OrderedDict()
        self._device = device
        self._disk = SegmentFolder(folder, namespace, max_disk_bytes) if folder is not None else None

    def __contains__(self, text: str) -> bool:
        return text in self._entries or (self._disk is not None and text in self._disk)

    def get_many(self, texts: Iterable[str]) -> dict[str, Embedded]:
        """What is kept of ``texts``, also where it is more than memory holds."""
        wanted = dict.fromkeys(texts)
        found = {text: self._entries[text] for text in wanted if text in self._entries}
        for text in found:
            self._entries.move_to_end(text)
        missing = [text for text in wanted if text not in found]
        if self._disk is not None and missing:
            for text, arrays in self._disk.read(missing).items():
                found[text] = Embedded(*(array.to(self._device) for array in arrays))
                self._remember(text, found[text])
        return found

    def put_many(self, entries: Mapping[str, Embedded]) -> None:
        """Keep ``entries``. On disk one call makes one file: give many together."""
        for text, embedded in entries.items():
            self._remember(text, embedded)
        if self._disk is not None:
            new = {text: embedded for text, embedded in entries.items() if text not in self._disk}
            self._disk.write({text: (embedded.vectors, embedded.weights) for text, embedded in new.items()})

    def _remember(self, text: str, embedded: Embedded) -> None:
        self._drop(text)
        self._entries[text] = Embedded(_own(embedded.vectors), _own(embedded.weights))
        self.bytes += embedded.vectors.nbytes
        while self.bytes > self.max_bytes:
            self._drop(next(iter(self._entries)))

    def _drop(self, text: str) -> None:
        if (old := self._entries.pop(text, None)) is not None:
            self.bytes -= old.vectors.nbytes


def _own(part: torch.Tensor) -> torch.Tensor:
    """``part`` with memory of its own: a view would keep a whole batch alive."""
    return part if part.untyped_storage().nbytes() == part.nbytes else part.clone()
