"""Caption files in JSON: which of the known layouts an object has, and its rows one at a time, located.

An object is one of four things, distinguished by its members, never by its line breaks:

* a row: ``{"id", "caption"}`` and its like, or a label of AI-Hub (``{"video_id", "annotation": {"description_kr"}}``);
* a wrapper around the rows: under ``captions``, ``result``, ``results``, ``annotations`` (COCO), ``sentences``
  (MSR-VTT), else the only member that is a list of objects; under the first three also an object ``{id: caption}``;
* ``{id: caption}`` itself;
* the first line of JSON lines, if it is a row.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal, NamedTuple

from scoring.errors import FileError, quoted
from scoring.reading.item_checks import MAX_ID_CHARS
from scoring.reading.json_items import MAX_ITEMS, JsonItem, Scanner, is_list_of_items
from scoring.reading.json_syntax import Decoder, Malformed, skip_space

ID_KEYS: Final = ("image_id", "video_id", "id", "file_name", "filename", "video_name", "image_name")  # in this order
LABEL_KEYS: Final = ("annotation", "annotations")
LABEL_TEXT: Final = "description_kr"

_OBJECT_WRAPPERS: Final = frozenset({"captions", "result", "results"})
_WRAPPERS: Final = _OBJECT_WRAPPERS | {"annotations", "sentences"}
_IDS: Final = tuple(
    re.compile(r'"(?:' + keys + r')"\s*:\s*(?:"([^"\\]{1,200})"|(-?[0-9]{1,30})\s*[,}])')
    for keys in ("image_id|video_id", "id|file_name|filename|video_name|image_name")
)

# What a member holds: a list of objects, an empty list, an object, a label of AI-Hub, or anything else.
Sketch = Literal["rows", "empty", "object", "label", "plain"]


class Member(NamedTuple):
    """A member of the outermost object, where its value begins, and what it holds."""

    key: str
    position: int
    sketch: Sketch


@dataclass(frozen=True, slots=True)
class Row:
    """One caption of a file, not yet checked.

    ``key`` is the id if it is outside the value, in line ``key_line``: the key of ``{id: caption}``, or the first
    column of a table (``is_table``), whose text is no JSON. ``item_ids`` are the keys that can hold the id.
    """

    item: JsonItem
    key: str | None = None
    key_line: int = 0
    is_table: bool = False
    id_keys: tuple[str, ...] = ID_KEYS

    @property
    def line(self) -> int:
        return self.item.line if self.key is None else self.key_line


@dataclass(frozen=True, slots=True)
class Layout:
    """How an object holds its rows; ``position`` is where the member around them begins, if any."""

    format: str
    position: int | None = None
    conflict: Member | None = None  # a second member that could hold the rows


def sketch(value: Any) -> Sketch:
    """What a decoded member holds."""
    if is_label(value):
        return "label"
    if isinstance(value, list):
        return "empty" if not value else "rows" if isinstance(value[0], dict) else "plain"
    return "object" if isinstance(value, dict) else "plain"


def is_label(value: Any) -> bool:
    """Whether ``value`` is the ``annotation`` of a label of AI-Hub: it, or its first element, describes in Korean.

    A list whose elements have an id is a list of rows instead.
    """
    if not isinstance(value, list):
        return isinstance(value, dict) and LABEL_TEXT in value
    return bool(value) and isinstance(value[0], dict) and LABEL_TEXT in value[0] and value[0].keys().isdisjoint(ID_KEYS)


def is_row(members: Iterable[Member]) -> bool:
    """Whether an object is one row. Keys are compared without case and white space; that error comes later."""
    sketches = {member.key.strip().lower(): member.sketch for member in members}
    if sketches.get("annotation") in ("label", "object") or sketches.get("annotations") == "label":
        return True
    if (
        any(sketches.get(key) == "plain" for key in ("caption", "answer", LABEL_TEXT))
        or sketches.get("output") == "object"
    ):
        return True
    is_wrapper = "rows" in sketches.values() or any(sketches.get(key) == "object" for key in _OBJECT_WRAPPERS)
    return not is_wrapper and any(sketches.get(key) == "plain" for key in ID_KEYS)


def layout_of(members: list[Member]) -> Layout:
    """How an object with these members, if it is no row, holds the captions."""
    named = [m for m in members if m.key in _WRAPPERS and m.sketch == "rows"]
    named += [m for m in members if m.key in _OBJECT_WRAPPERS and m.sketch == "object"]
    named = named or [m for m in members if m.sketch == "rows"]
    named = named or [m for m in members if m.sketch == "empty" and (m.key in _WRAPPERS or len(members) == 1)]
    if not named:
        return Layout("id-object")
    member = named[0]
    file_format: str = "wrapped-object" if member.sketch == "object" else "wrapped-list"
    if member.key == "annotations":
        file_format = "coco"
    return Layout(file_format, member.position, named[1] if len(named) > 1 else None)


class CaptionScanner(Scanner):
    """Walks a JSON text from caption to caption."""

    def __init__(self, text: str, quoting: bool) -> None:
        super().__init__(text, quoting)
        self._key_read: str | None = None  # the id of ``{id: caption}`` whose value is being read

    def scan(self, first: re.Match[str]) -> tuple[str, Iterator[Row | FileError]]:
        """The format and the rows of a text whose first line is ``first``, which opens an array or an object."""
        start = first.start()
        if first[0].startswith("["):
            return "json-array", self._guarded(self._rows(self.array_file(start)))
        if self.has_lines(first):
            return "jsonl", (entry if isinstance(entry, FileError) else Row(entry) for entry in self.lines())
        members = list(self._members(start))
        if is_row(members):
            return "json-object", self._guarded(self._only_row(start))
        layout = layout_of(members)
        return layout.format, self._guarded(self._object_rows(start, layout))

    def refused(self, stop: Malformed) -> Iterator[FileError]:
        """``stop`` alone, located."""
        yield self._error(stop)

    def _is_line(self, value: dict[str, Any], *, has_more: bool) -> bool:
        return is_row(Member(key, 0, sketch(member)) for key, member in islice(value.items(), MAX_ITEMS))

    def _members(self, start: int) -> Iterator[Member]:
        """The members of the object at ``start``, as far as it is sound, without moving the line count.

        A broken member is read again by the walk that follows, which locates the error.
        """
        decoder = Decoder()
        position = skip_space(self._text, start + 1)
        for _ in range(MAX_ITEMS + 1):
            try:
                if self._text.startswith("}", position):
                    return
                key, position = self._key(position)
            except Malformed:
                return
            try:
                value, end = decoder.decode(self._text, position)
                yield Member(key, position, sketch(value))
                position = self._next_member(end)
            except Malformed:
                yield Member(key, position, self._sketch_of_broken(position))
                return

    def _sketch_of_broken(self, position: int) -> Sketch:
        if is_list_of_items(self._text, position):
            return "rows"
        return "object" if self._text.startswith("{", position) else "plain"

    def _guarded(self, rows: Iterator[Row]) -> Iterator[Row | FileError]:
        try:
            yield from rows
        except Malformed as stop:
            yield self._error(stop)

    @staticmethod
    def _rows(items: Iterator[JsonItem], id_keys: tuple[str, ...] = ID_KEYS) -> Iterator[Row]:
        return (Row(item, id_keys=id_keys) for item in items)

    def _only_row(self, start: int) -> Iterator[Row]:
        item, end = self._item(start)
        yield Row(item)
        self._expect_end(end)

    def _object_rows(self, start: int, layout: Layout) -> Iterator[Row]:
        """The rows of the object at ``start``; other members must be valid JSON and are skipped."""
        if layout.conflict is not None:
            raise Malformed(layout.conflict.position, "several_caption_lists", key=quoted(layout.conflict.key))
        if layout.position is None:
            end = yield from self._mapping(start)
            self._expect_end(end)
            return
        position = skip_space(self._text, start + 1)
        while not self._text.startswith("}", position):
            _, position = self._key(position)
            if position == layout.position:
                position = yield from self._wrapped(position, layout)
                self._key_read = None
            else:
                _, position = self._decoder.decode(self._text, position)
            position = self._next_member(position)
        self._expect_end(position + 1)

    def _wrapped(self, position: int, layout: Layout) -> Generator[Row, None, int]:
        if layout.format == "wrapped-object":
            return (yield from self._mapping(position))
        id_keys = ID_KEYS[:2] if layout.format == "coco" else ID_KEYS  # the id of a COCO annotation is its own
        items = self._array(position)
        while True:
            try:
                item = next(items)
            except StopIteration as stop:
                return int(stop.value)
            yield Row(item, id_keys=id_keys)

    def _mapping(self, opening: int) -> Generator[Row, None, int]:
        """The members of the object that opens at ``opening``, each a row; returns the offset after it."""
        position = skip_space(self._text, opening + 1)
        while not self._text.startswith("}", position):
            self._key_read = None
            line = self._line_at(position)
            key, position = self._key(position)
            self._key_read = key
            item, position = self._item(position)
            yield Row(item, key, line)
            position = self._next_member(position)
        return position + 1

    def _identity(self, start: int, end: int) -> str | None:
        if self._key_read is not None:
            return self._key_read[:MAX_ID_CHARS]
        if not self._items:
            return None  # nothing that could have an id has begun
        found = (pattern.search(self._text, start, end) for pattern in _IDS)
        match = next((match for match in found if match), None)
        return None if match is None else match[1] or match[2]
