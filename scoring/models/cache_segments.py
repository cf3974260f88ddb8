"""Embeddings on disk: a folder of segment files, each some references that were new.

A segment is the float32 numbers of its entries one after another, then a footer (JSON: width, and of every entry its
key, tokens and sha256), then a trailer (length and sha256 of the footer). It is written beside its place and renamed
into it, so nobody meets half a file; it is never changed after. Entries are read one by one and checked; a segment with
damage is deleted, and what it held is computed again. Any number of processes may use a folder at once: the worst that
happens is that two keep the same text, or that one finds a segment gone that another had no more room for.

Keys are hashes, but embeddings can tell what the texts said: the folder is open to its owner alone.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import struct
import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import torch

logger = logging.getLogger(__name__)

Arrays = tuple[torch.Tensor, torch.Tensor]  # (tokens, width) and (tokens,), both float32

MAGIC: Final = b"MPEMBED1"
TRAILER: Final = struct.Struct("<Q32s8s")  # length of the footer, its sha256, MAGIC
NUMBER_BYTES: Final = 4
MAX_SEGMENTS: Final = 1_000
ABANDONED_SECONDS: Final = 3_600  # a file that is still being written after that belongs to nobody


class _Damaged(Exception):
    """A segment does not hold what was written."""


class _Entry(NamedTuple):
    """Where an embedding lies: in the file ``segment`` from byte ``offset``."""

    segment: str
    offset: int
    tokens: int
    width: int
    sha256: str

    @property
    def size(self) -> int:
        return NUMBER_BYTES * self.tokens * (self.width + 1)


class SegmentFolder:
    """The embeddings of one ``namespace`` in ``folder``, which others may share; ``max_bytes`` are for all of them.

    The segments used longest ago go first. Nothing here raises for a folder or a disk that fails: it is told to the
    log, and nothing is found or kept.
    """

    def __init__(self, folder: Path, namespace: str, max_bytes: int) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self._namespace = hashlib.sha256(namespace.encode()).digest()
        self._index: dict[str, _Entry] = {}  # by key
        self._seen: set[str] = set()  # names of segments that are in the index
        self._scanned_at = -1  # when the folder had last changed, in ns
        with _told(f"{folder} cannot be used"):
            _make_private(folder)
            self._scan()

    def __contains__(self, text: str) -> bool:
        return self._key(text) in self._index

    def read(self, texts: Iterable[str]) -> dict[str, Arrays]:
        """The embeddings of those of ``texts`` that are kept and sound, on the CPU."""
        wanted = {self._key(text): text for text in texts}
        if not self._index.keys() >= wanted.keys():
            with _told(f"{self.folder} cannot be read"):
                self._scan()
        in_segment: defaultdict[str, list[str]] = defaultdict(list)
        for key in wanted:
            if key in self._index:
                in_segment[self._index[key].segment].append(key)
        found: dict[str, Arrays] = {}
        for segment, keys in in_segment.items():
            for key, arrays in self._read_segment(segment, keys):
                found[wanted[key]] = arrays
        return found

    def write(self, entries: Mapping[str, Arrays]) -> None:
        """Keep ``entries``, all of one width, as one segment; nothing if that is more than the folder may hold."""
        entries = {text: arrays for text, arrays in entries.items() if arrays[0].numel()}
        if (
            not entries
            or sum(vectors.nbytes + weights.nbytes for vectors, weights in entries.values()) > self.max_bytes
        ):
            return
        segment = f"{self._namespace.hex()[:16]}-{uuid.uuid4().hex}.segment"
        draft = self.folder / f".{segment}.draft"
        with _told(f"{self.folder} keeps nothing now"):
            try:
                _make_private(self.folder)
                with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    index = _write_segment(file, segment, {self._key(text): kept for text, kept in entries.items()})
                draft.rename(self.folder / segment)
            finally:
                draft.unlink(missing_ok=True)
            self._index |= index
            self._seen.add(segment)
            self._make_room(segment)

    def _key(self, text: str) -> str:
        return hashlib.sha256(self._namespace + text.encode("utf-8", "surrogatepass")).hexdigest()

    def _scan(self) -> None:
        """Take note of segments that others have written since."""
        changed_at = self.folder.stat().st_mtime_ns
        if changed_at == self._scanned_at:
            return
        for path in self.folder.glob(f"{self._namespace.hex()[:16]}-*.segment"):
            if path.name in self._seen:
                continue
            try:
                self._index |= _read_footer(path)
                self._seen.add(path.name)
            except FileNotFoundError:
                continue
            except OSError as error:
                self._seen.add(path.name)
                logger.warning("embeddings: %s: %s", path.name, error.strerror)
            except _Damaged:
                self._discard(path.name)
        self._scanned_at = changed_at

    def _read_segment(self, segment: str, keys: Sequence[str]) -> Iterator[tuple[str, Arrays]]:
        path = self.folder / segment
        try:
            with path.open("rb") as file:
                for key in sorted(keys, key=lambda key: self._index[key].offset):
                    yield key, _read_entry(file, self._index[key])
            os.utime(path)  # used just now: it stays
        except FileNotFoundError:
            self._forget(segment)
        except _Damaged:
            self._discard(segment)
        except OSError as error:
            logger.warning("embeddings: %s cannot be read: %s", path, error.strerror)

    def _discard(self, segment: str) -> None:
        logger.warning("embeddings: a damaged file is deleted, and what it held made again: %s", self.folder / segment)
        with _told(f"{segment} cannot be deleted"):
            (self.folder / segment).unlink(missing_ok=True)
        self._forget(segment)

    def _forget(self, segment: str) -> None:
        self._seen.discard(segment)
        self._index = {key: entry for key, entry in self._index.items() if entry.segment != segment}

    def _make_room(self, newest: str) -> None:
        """Delete the segments used longest ago, of whichever namespace, and drafts that nobody finishes."""
        segments = [(stat.st_mtime_ns, stat.st_size, path) for path, stat in _files(self.folder, "*.segment")]
        taken, count = sum(size for _, size, _ in segments), len(segments)
        for _, size, path in sorted(segments):
            if taken <= self.max_bytes and count <= MAX_SEGMENTS:
                break
            if path.name != newest:
                path.unlink(missing_ok=True)
                self._forget(path.name)
                taken, count = taken - size, count - 1
        for path, stat in _files(self.folder, ".*.draft"):
            if time.time() - stat.st_mtime > ABANDONED_SECONDS:
                path.unlink(missing_ok=True)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Tells an ``OSError`` to the log instead of raising it."""
    try:
        yield
    except OSError as error:
        logger.warning("embeddings: %s: %s", what, error.strerror)


def _make_private(folder: Path) -> None:
    """Make ``folder`` if need be, closed to all but its owner. One that is there keeps its mode: it may be /tmp."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _files(folder: Path, pattern: str) -> list[tuple[Path, os.stat_result]]:
    """Those that are still there when looked at."""
    found = []
    for path in folder.glob(pattern):
        with suppress(FileNotFoundError):
            found.append((path, path.stat()))
    return found


def _write_segment(file: BinaryIO, segment: str, entries: Mapping[str, Arrays]) -> dict[str, _Entry]:
    """Write ``entries`` (by key); where each lies."""
    index: dict[str, _Entry] = {}
    offset = 0
    for key, (vectors, weights) in entries.items():
        data = vectors.cpu().contiguous().numpy().tobytes() + weights.cpu().contiguous().numpy().tobytes()
        file.write(data)
        index[key] = _Entry(segment, offset, vectors.shape[0], vectors.shape[1], hashlib.sha256(data).hexdigest())
        offset += len(data)
    width = next(iter(index.values())).width
    rows = [[key, entry.tokens, entry.sha256] for key, entry in index.items()]
    footer = json.dumps({"width": width, "entries": rows}).encode()
    file.write(footer)
    file.write(TRAILER.pack(len(footer), hashlib.sha256(footer).digest(), MAGIC))
    return index


def _read_footer(path: Path) -> dict[str, _Entry]:
    """Where the entries of a segment lie, by key. Raises ``_Damaged``."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - TRAILER.size))
        trailer = file.read()
        if len(trailer) != TRAILER.size:
            raise _Damaged
        length, sha256, magic = TRAILER.unpack(trailer)
        start = size - TRAILER.size - length
        if magic != MAGIC or start < 0:
            raise _Damaged
        file.seek(start)
        footer = file.read(length)
    if hashlib.sha256(footer).digest() != sha256:
        raise _Damaged
    content = json.loads(footer)
    index: dict[str, _Entry] = {}
    offset = 0
    for key, tokens, of_entry in content["entries"]:
        index[key] = _Entry(path.name, offset, tokens, content["width"], of_entry)
        offset += index[key].size
    if offset != start:
        raise _Damaged
    return index


def _read_entry(file: BinaryIO, entry: _Entry) -> Arrays:
    """One embedding, with memory of its own. Raises ``_Damaged``."""
    file.seek(entry.offset)
    data = bytearray(file.read(entry.size))  # one that torch may write to
    if len(data) != entry.size or hashlib.sha256(data).hexdigest() != entry.sha256:
        raise _Damaged
    numbers = entry.tokens * entry.width
    vectors = torch.frombuffer(data, dtype=torch.float32, count=numbers).view(entry.tokens, entry.width)
    weights = torch.frombuffer(data, dtype=torch.float32, offset=numbers * NUMBER_BYTES)
    return vectors, weights
