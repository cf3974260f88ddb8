"""Caption files in JSON: which of the known layouts an object has, and its rows one at a time, located.

An object is one of four things, distinguished by its members, never by its line breaks:

* a row: ``{"id", "caption"}`` and its like, or a label of AI-Hub (``{"video_id", "annotation": {"description_kr"}}``);
* a wrapper around the rows: under ``captions``, ``result``, ``results``, ``annotations`` (COCO), ``sentences``
  (MSR-VTT), else the only member that is a list of objects with ids (``images`` of Karpathy's splits); under the first
  three also an object ``{id: caption}``;
* ``{id: caption}`` itself, also ``{id: [{"caption"}]}`` and ``{id: {"timestamps", "sentences"}}``;
* the first line of JSON lines, if it is a row.

The ``images`` of COCO give the annotations the file names of their pictures.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal, NamedTuple

from scoring.errors import FileError, quoted
from scoring.reading.caption_keys import COCO_ID_KEYS, ID_KEYS, LABEL_TEXT, TEXT_KEYS, first_key
from scoring.reading.item_checks import MAX_ID_CHARS
from scoring.reading.json_items import MAX_ITEMS, JsonItem, Scanner, is_list_of_items
from scoring.reading.json_syntax import Decoder, Malformed, skip_space

_OBJECT_WRAPPERS: Final = frozenset({"captions", "result", "results"})
_WRAPPERS: Final = _OBJECT_WRAPPERS | {"annotations", "sentences"}
_NO_ID: Final = _WRAPPERS | {"images", "videos", "data", "items", "rows"}  # never the id of ``{id: captions}``
_PICTURES: Final = "images"  # of COCO: a list of {"id", "file_name"}
_LOWER_ID_KEYS: Final = tuple(key.lower() for key in ID_KEYS)
_IDS: Final = tuple(
    re.compile(r'"(?:' + "|".join(keys) + r')"\s*:\s*(?:"([^"\\]{1,200})"|(-?[0-9]{1,30})\s*[,}])')
    for keys in (COCO_ID_KEYS, ID_KEYS[len(COCO_ID_KEYS) :])
)

# What a member holds: a list of objects; of objects that are captions without an id; an empty list; an object; a label
# of AI-Hub; or anything else.
Sketch = Literal["rows", "texts", "empty", "object", "label", "plain"]


class Member(NamedTuple):
    """A member of the outermost object, where its value begins, and what it holds."""

    key: str
    position: int
    sketch: Sketch


@dataclass(frozen=True, slots=True)
class Row:
    """One caption of a file, not yet checked.

    ``key`` is the id if it is outside the value, in line ``key_line``: the key of ``{id: caption}``, or a column of a
    table (``is_table``), whose text is no JSON. ``id_keys`` are the keys that can hold the id; ``names`` are names of
    its file that are outside the value.
    """

    item: JsonItem
    key: str | None = None
    key_line: int = 0
    is_table: bool = False
    id_keys: tuple[str, ...] = ID_KEYS
    names: tuple[str, ...] = ()

    @property
    def line(self) -> int:
        return self.item.line if self.key is None else self.key_line


@dataclass(frozen=True, slots=True)
class Layout:
    """How an object holds its rows; ``position`` is where the member around them begins, if any."""

    format: str
    position: int | None = None
    conflict: Member | None = None  # a second member that could hold the rows


def sketch(value: Any, key: str = "") -> Sketch:
    """What a decoded member holds under ``key``."""
    if is_label(value):
        return "label"
    if not isinstance(value, list):
        return "object" if isinstance(value, dict) else "plain"
    if not value:
        return "empty"
    if not isinstance(value[0], dict):
        return "plain"
    return "texts" if _is_text_of(value[0], key) else "rows"


def _is_text_of(value: dict[str, Any], key: str) -> bool:
    """Whether an object in a list under ``key`` is one of several captions: it has no id, or repeats ``key`` as its."""
    id_key = first_key(value, ID_KEYS)
    return first_key(value, TEXT_KEYS) is not None and (id_key is None or str(value[id_key]) == key)


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
    return not is_wrapper and any(sketches.get(key) == "plain" for key in _LOWER_ID_KEYS)


def layout_of(members: list[Member]) -> Layout:
    """How an object with these members, if it is no row, holds the captions."""
    named = [m for m in members if m.key in _WRAPPERS and m.sketch in ("rows", "texts")]
    named += [m for m in members if m.key in _OBJECT_WRAPPERS and m.sketch == "object"]
    named = named or [m for m in members if m.sketch == "rows" or (m.sketch == "texts" and m.key in _NO_ID)]
    named = named or [m for m in members if m.sketch == "empty" and (m.key in _WRAPPERS or len(members) == 1)]
    if not named:
        return Layout("id-lists" if any(m.sketch == "texts" for m in members) else "id-object")
    member = named[0]
    file_format: str = "wrapped-object" if member.sketch == "object" else "wrapped-list"
    if member.key == "annotations":
        file_format = "coco"
    if member.key == "sentences" and any(m.key == "videos" for m in members):
        file_format = "msr-vtt"
    return Layout(file_format, member.position, named[1] if len(named) > 1 else None)


class CaptionScanner(Scanner):
    """Walks a JSON text from caption to caption."""

    def __init__(self, text: str, quoting: bool) -> None:
        super().__init__(text, quoting)
        self._key_read: str | None = None  # the id of ``{id: caption}`` whose value is being read
        self._pictures: dict[str, str] = {}  # id -> file name

    def scan(self, first: re.Match[str]) -> tuple[str, Iterator[Row | FileError]]:
        """The format and the rows of a text whose first line is ``first``, which opens an array or an object."""
        start = first.start()
        if first[0].startswith("["):
            return "json-array", self._guarded(map(Row, self.array_file(start)))
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
        return is_row(Member(key, 0, sketch(member, key)) for key, member in islice(value.items(), MAX_ITEMS))

    def _members(self, start: int) -> Iterator[Member]:
        """The members of the object at ``start``, as far as it is sound, without moving the line count.

        A broken member is read again by the walk that follows, which locates the error.
        """
        decoder = Decoder()
        found: Sketch = "plain"
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
                found = sketch(value, key)
                yield Member(key, position, found)
                if key == _PICTURES and isinstance(value, list):
                    self._note_pictures(value)
                position = self._next_member(end)
            except Malformed:
                yield Member(key, position, self._sketch_of_broken(position, found))
                return

    def _note_pictures(self, pictures: list[Any]) -> None:
        """Keep the file names of COCO's ``images``; one that is not as it should be names nothing."""
        for picture in pictures:
            if isinstance(picture, dict) and isinstance(picture.get("file_name"), str):
                self._pictures.setdefault(str(picture.get("id")), picture["file_name"])

    def _sketch_of_broken(self, position: int, before: Sketch) -> Sketch:
        """What a member holds that cannot be decoded; the member before it holds ``before``."""
        if is_list_of_items(self._text, position):
            return "texts" if before == "texts" else "rows"
        return "object" if self._text.startswith("{", position) else "plain"

    def _guarded(self, rows: Iterator[Row]) -> Iterator[Row | FileError]:
        try:
            yield from rows
        except Malformed as stop:
            yield self._error(stop)

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
        is_coco = layout.format == "coco"
        items = self._array(position)
        while True:
            try:
                item = next(items)
            except StopIteration as stop:
                return int(stop.value)
            yield Row(item, id_keys=COCO_ID_KEYS, names=self._names_of(item)) if is_coco else Row(item)

    def _names_of(self, annotation: JsonItem) -> tuple[str, ...]:
        """The file name of the picture that an annotation of COCO is about."""
        number = annotation.value.get("image_id") if isinstance(annotation.value, dict) else None
        return tuple(self._pictures[key] for key in (str(number),) if key in self._pictures)

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
