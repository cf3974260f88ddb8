"""Embeddings of reference texts, kept for the next submission: in memory and, if a folder is set, in files.

Every submission is scored against the same references, so these are encoded once. Each process has its own memory; all
processes of a machine share the folder, which stays when they end. What is read from a file equals what was written bit
for bit.
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
FILE_BYTES: Final = 128 << 20  # a file is built in memory; one is enough for the references of the contest


@dataclass(frozen=True, slots=True)
class Embedded:
    """A text as the metric uses it: unit vectors (tokens, width) and token weights, 1 or 0, (tokens,), both float32.

    The vectors are on the device that made them, the weights in the processor's memory: to ask a GPU for each text
    whether anything in it counts takes longer than to match them.
    """

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

    With a ``folder`` they are kept there too, up to ``max_disk_bytes`` for all that use the folder. ``namespace``
    identifies everything that an embedding depends on besides its text: weights, tokenizer, layer, precision, class of
    device. Embeddings read from a file are moved to ``device``. A folder that cannot be used is no error: then only
    memory is used.
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
        """Size of the vectors in memory."""
        return self._memory.size

    @property
    def max_bytes(self) -> int:
        return self._memory.max_size

    def get_many(self, texts: Iterable[str]) -> dict[str, Embedded]:
        """The kept embeddings of ``texts``, even if they are more than fit into memory."""
        wanted = dict.fromkeys(texts)
        found = {text: kept for text in wanted if (kept := self._memory.get(text)) is not None}
        missing = [text for text in wanted if text not in found]
        if self._files is not None and missing:
            for text, rows in self._files.read(missing).items():
                found[text] = Embedded(rows[:, :-1].contiguous().to(self._device), rows[:, -1].clone())
                self._memory.put(text, found[text])
        return found

    def put_many(self, entries: Mapping[str, Embedded]) -> None:
        """Keep ``entries``. Those that are new in the folder are written to one file, or several if they are many.

        On a device without room for them nothing is kept in memory: what scores now needs it more.
        """
        try:
            for text, embedded in entries.items():
                self._memory.put(text, Embedded(_own(embedded.vectors), _own(embedded.weights)))
        except torch.OutOfMemoryError:
            self._memory.clear()
        if self._files is not None:
            new = [(text, embedded) for text, embedded in entries.items() if text not in self._files]
            for part in chunks(new, lambda entry: entry[1].vectors.nbytes, FILE_BYTES):
                self._files.write({text: _rows(embedded) for text, embedded in part})


def _rows(embedded: Embedded) -> torch.Tensor:
    """Vectors and weights side by side: (tokens, width + 1)."""
    return torch.cat([embedded.vectors.cpu(), embedded.weights[:, None]], dim=1)


def _own(part: torch.Tensor) -> torch.Tensor:
    """``part`` copied to its own memory: a view would keep a whole batch alive."""
    return part if part.untyped_storage().nbytes() == part.nbytes else part.clone()
