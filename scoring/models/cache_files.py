"""Embeddings in a folder of safetensors files: one for each set of references, by the process that first encoded it.

A tensor is named by a hash of its text. A file is named by the SHA-256 of its bytes; it is written under another name
and renamed, so nobody reads an incomplete one, and never changed afterwards: one whose bytes no longer match is
deleted, and its content is computed again. Any number of processes may use a folder at once; at worst a file is gone
because another process needed the room.

Texts can be reconstructed from embeddings: only the owner can read the files and the folder.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from scoring.models.hashes import file_sha256

logger = logging.getLogger(__name__)

MAX_FILES: Final = 1_000
ABANDONED_SECONDS: Final = 3_600  # a draft older than that is left over from a process that died


class EmbeddingFiles:
    """The tensors of one ``namespace`` in ``folder``, which is shared; ``max_bytes`` is for all namespaces in it.

    The least recently used files are deleted first. A failing folder or disk raises nothing: it is logged, and nothing
    is found or kept.
    """

    def __init__(self, folder: Path, namespace: str, max_bytes: int) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self._namespace = hashlib.sha256(namespace.encode()).hexdigest()[:16]
        self._file_of: dict[str, Path] = {}  # by key
        self._listed: set[Path] = set()
        self._sound: set[Path] = set()  # files whose bytes this process has checked
        with _logged(f"{folder} cannot be used"):
            _make_private(folder)
            self._list_new()

    def __contains__(self, text: str) -> bool:
        return self._key(text) in self._file_of

    def read(self, texts: Iterable[str]) -> dict[str, torch.Tensor]:
        """The tensors of those of ``texts`` that are kept and undamaged, on the CPU, each with its own memory."""
        wanted = {self._key(text): text for text in texts}
        if not self._file_of.keys() >= wanted.keys():
            with _logged(f"{self.folder} cannot be read"):
                self._list_new()
        in_file: defaultdict[Path, list[str]] = defaultdict(list)
        for key in wanted:
            if key in self._file_of:
                in_file[self._file_of[key]].append(key)
        found: dict[str, torch.Tensor] = {}
        for path, keys in in_file.items():
            found |= {wanted[key]: tensor for key, tensor in self._read_file(path, keys)}
        return found

    def write(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Keep ``tensors`` (by text) as one file; nothing if they exceed the folder's limit."""
        kept = {self._key(text): tensor.cpu() for text, tensor in tensors.items() if tensor.numel()}
        if not kept or sum(tensor.nbytes for tensor in kept.values()) > self.max_bytes:
            return
        draft = self.folder / f".{uuid.uuid4().hex}.draft"
        with _logged(f"{self.folder} keeps nothing now"):
            try:
                _make_private(self.folder)
                draft.touch(mode=0o600)
                save_file(kept, draft)
                path = self.folder / f"{self._namespace}-{file_sha256(draft)}.safetensors"
                draft.rename(path)
            finally:
                draft.unlink(missing_ok=True)
            self._file_of |= dict.fromkeys(kept, path)
            self._listed.add(path)
            self._make_room(path)

    def _key(self, text: str) -> str:
        return hashlib.sha256(f"{self._namespace}{text}".encode("utf-8", "surrogatepass")).hexdigest()

    def _list_new(self) -> None:
        """List the files that others have written since."""
        for path in set(self.folder.glob(f"{self._namespace}-*.safetensors")) - self._listed:
            try:
                with safe_open(path, "pt") as file:
                    self._file_of |= dict.fromkeys(file.keys(), path)
                self._listed.add(path)
            except FileNotFoundError:
                continue
            except OSError as error:
                self._listed.add(path)
                logger.warning("embeddings: %s cannot be read: %s", path, error)
            except SafetensorError:
                self._discard(path)

    def _read_file(self, path: Path, keys: Iterable[str]) -> Iterator[tuple[str, torch.Tensor]]:
        try:
            if path not in self._sound and not path.name.endswith(f"-{file_sha256(path)}.safetensors"):
                self._discard(path)
                return
            self._sound.add(path)
            with safe_open(path, "pt") as file:
                for key in keys:
                    yield key, file.get_tensor(key).clone()
            os.utime(path)  # marks it as recently used
        except FileNotFoundError:
            self._forget(path)
        except SafetensorError:
            self._discard(path)
        except OSError as error:
            logger.warning("embeddings: %s cannot be read: %s", path, error)

    def _discard(self, path: Path) -> None:
        logger.warning("embeddings: a damaged file is deleted, and what it held made again: %s", path)
        with _logged(f"{path} cannot be deleted"):
            path.unlink(missing_ok=True)
        self._forget(path)

    def _forget(self, path: Path) -> None:
        self._listed.discard(path)
        self._sound.discard(path)
        self._file_of = {key: file for key, file in self._file_of.items() if file != path}

    def _make_room(self, newest: Path) -> None:
        """Delete the least recently used files of any namespace, and abandoned drafts."""
        files = [(stat.st_mtime_ns, stat.st_size, path) for path, stat in _stats(self.folder, "*.safetensors")]
        taken, count = sum(size for _, size, _ in files), len(files)
        for _, size, path in sorted(files):
            if taken <= self.max_bytes and count <= MAX_FILES:
                break
            if path != newest:
                path.unlink(missing_ok=True)
                self._forget(path)
                taken, count = taken - size, count - 1
        for path, stat in _stats(self.folder, ".*.draft"):
            if time.time() - stat.st_mtime > ABANDONED_SECONDS:
                path.unlink(missing_ok=True)


@contextmanager
def _logged(what: str) -> Iterator[None]:
    """Logs an error of the disk instead of raising it."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        logger.warning("embeddings: %s: %s", what, error)


def _make_private(folder: Path) -> None:
    """Make ``folder`` if it is missing, for its owner only. An existing one keeps its mode: it may be /tmp."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _stats(folder: Path, pattern: str) -> list[tuple[Path, os.stat_result]]:
    """The files that match ``pattern`` with their ``stat``, without those deleted meanwhile."""
    found = []
    for path in folder.glob(pattern):
        with suppress(FileNotFoundError):
            found.append((path, path.stat()))
    return found
