"""What a published file holds, for its page: how many items, which fields, how long their texts, and how it begins.

A stored file never changes, so what was found is kept in the cache by its hash.
"""

from __future__ import annotations

import csv
import io
import json
import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from statistics import median
from typing import Any, Final

from django.core.cache import cache

from malpan.competitions.models import DataFile
from malpan.core.errors import SystemFault
from malpan.core.storage import read_private

logger = logging.getLogger(__name__)

LARGEST: Final = 4 * 1024 * 1024  # bytes of a file that is looked into
SHOWN: Final = 3  # items of the preview
SHOWN_CHARS: Final = 1200  # of one of them
MOST_FIELDS: Final = 30
_DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
_KEPT_SECONDS: Final = 30 * 24 * 3600
_VERSION: Final = 1  # of the cached values; increase it when they change


@dataclass(frozen=True, slots=True)
class FieldFacts:
    """A field (``input.question`` for one within another): how many items have it and, of texts, the shortest, the
    middle and the longest in characters.
    """

    name: str
    count: int
    shortest: int | None = None
    middle: int | None = None
    longest: int | None = None


@dataclass(frozen=True, slots=True)
class DataFacts:
    """``preview``: the first items as they are written, cut where they are long."""

    items: int
    fields: Sequence[FieldFacts]
    preview: Sequence[str]


def facts_of_files(files: Sequence[DataFile]) -> dict[int, DataFacts]:
    """What is known of ``files`` by their keys; nothing of documents, of large files and of those that are no list of
    items, or cannot be read now.
    """
    wanted = {file.pk: file for file in files if file.kind != DataFile.Kind.DOCUMENT and file.file_size <= LARGEST}
    names = {pk: _key(file) for pk, file in wanted.items()}
    kept = cache.get_many(names.values())
    found: dict[int, DataFacts] = {}
    for pk, file in wanted.items():
        try:
            known = kept[names[pk]] if names[pk] in kept else _looked_into(file)
        except SystemFault as fault:
            logger.warning("no preview of %s: %s", file.file_sha256, type(fault).__name__)
            continue
        if known is not None:
            found[pk] = known
    return found


def _key(file: DataFile) -> str:
    return f"data-facts:{_VERSION}:{PurePath(file.file_name).suffix.lower()}:{file.file_sha256}"


def _looked_into(file: DataFile) -> DataFacts | None:
    found = facts_of(read_private(file.file_sha256), file.file_name)
    cache.set(_key(file), found, _KEPT_SECONDS)
    return found


def facts_of(data: bytes, file_name: str) -> DataFacts | None:
    """What a file called ``file_name`` holds; ``None`` if it is no list of items."""
    try:
        rows = _rows(data.decode("utf-8-sig"), PurePath(file_name).suffix.lower())
    except (ValueError, RecursionError, csv.Error):  # of other encodings, cut off, or not what its name says
        return None
    if not rows:
        return None
    counts: dict[str, int] = defaultdict(int)
    lengths: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        for name, value in _fields(row):
            counts[name] += 1
            if isinstance(value, str):
                lengths[name].append(len(value))
    fields = [FieldFacts(name, count, *_spread(lengths[name])) for name, count in list(counts.items())[:MOST_FIELDS]]
    return DataFacts(len(rows), fields, [_written(row) for row in rows[:SHOWN]])


def _rows(text: str, suffix: str) -> list[Mapping[str, Any]]:
    """The items of a file: of a table, of JSON lines, of a JSON list, or of the only list within a JSON object."""
    if suffix in _DELIMITERS:
        return list(csv.DictReader(io.StringIO(text), delimiter=_DELIMITERS[suffix], restkey="", strict=True))
    if suffix == ".jsonl":
        return _objects([json.loads(line) for line in text.splitlines() if line.strip()])
    found = json.loads(text)
    if isinstance(found, dict):
        lists = [value for value in found.values() if isinstance(value, list)]
        found = lists[0] if len(lists) == 1 else []
    return _objects(found) if isinstance(found, list) else []


def _objects(rows: list[Any]) -> list[Mapping[str, Any]]:
    return rows if all(isinstance(row, dict) for row in rows) else []


def _fields(row: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The fields of an item; of an object within it, those of that object."""
    found: list[tuple[str, Any]] = []
    for name, value in row.items():
        inner = value.items() if isinstance(value, dict) else ()
        found += [(f"{name}.{key}", each) for key, each in inner] or [(str(name), value)]
    return [(_plain(name), value) for name, value in found if value not in (None, "")]


def _spread(lengths: Sequence[int]) -> tuple[int, int, int] | tuple[()]:
    return (min(lengths), round(median(lengths)), max(lengths)) if lengths else ()


def _written(row: Mapping[str, Any]) -> str:
    text = _plain(json.dumps(row, ensure_ascii=False, indent=2))
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS].rstrip() + " …"


def _plain(text: str) -> str:
    """``text`` without halves of surrogate pairs, which JSON can name and no page can show."""
    return text.encode("utf-8", "replace").decode()
