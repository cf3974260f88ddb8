"""JSON text to its items, one at a time and located: an array, an object around an array, or JSON lines.

``Scanner`` walks a text for every reader of JSON here; subclasses define which objects are items.

Each item is decoded by the standard library's scanner in C, so a valid file is read at full speed, and the line of an
item needs only a count of line breaks. An item is walked token by token only if something is wrong, to find the line of
a field, a repeated key or an invalid value.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from scoring.errors import FileError, quoted
from scoring.reading.decoding import line_breaks
from scoring.reading.json_syntax import (
    Decoder,
    Fault,
    Malformed,
    Path,
    Spot,
    diagnose,
    is_too_large,
    line_start,
    near,
    skip_space,
    spots,
)

MAX_ITEMS: Final = 100_000
MAX_VALUES: Final = 2_000_000

# An object with one of these is an item, not a wrapper.
_ITEM_KEYS: Final = frozenset(
    {"input", "output", "answer", "sentence_form", "annotation", "essay", "judge", "organization", "expression"}
)
_LINE: Final = re.compile(r"[^ \t\n\r\ufeff][^\n\r]*")  # a line from its first character on; files joined keep marks
_LIST_OF_ITEMS: Final = re.compile(r"\[[ \t\n\r]*[{\]]")
_NUMBER: Final = re.compile(r"-?[0-9]")  # how one begins; a token of a sound value that does is one to its end
_ID: Final = re.compile(r'"id"\s*:\s*"([^"\\]{1,200})"')


@dataclass(frozen=True, slots=True)
class JsonItem:
    """One decoded value of the file and the text (from ``start`` on) it was decoded from; ``line`` is 1-based.

    ``fault`` is the first defect that the decoder found.
    """

    value: Any
    source: str
    start: int
    line: int
    fault: Fault | None = None
    _lines: dict[Path, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def line_of(self, path: Path) -> int:
        """The line of the value at ``path``, or of the innermost value around it that is there."""
        if not self._lines:  # an item may have a thousand defects: it is walked once
            self._lines.update((spot.path, line) for spot, line in self._located())
        within = (path[:length] for length in range(len(path), -1, -1))
        return next((self._lines[each] for each in within if each in self._lines), self.line)

    def faults(self) -> Iterator[tuple[Fault, Path, int]]:
        """Every invalid JSON value in the item, with path and line; if ``fault`` is set, at least one."""
        if self.fault is None:
            return
        located = False
        for spot, line in self._located():
            for fault in _faults_at(spot):
                located = True
                yield fault, spot.path, line
        if not located:  # deeper than errors are located, or the depth itself is the defect
            yield self.fault, (), self.line

    def _located(self) -> Iterator[tuple[Spot, int]]:
        line, offset = self.line, self.start
        for spot in spots(self.source, self.start):
            line += line_breaks(self.source, offset, spot.offset)
            offset = spot.offset
            yield spot, line


def scan(text: str, *, quoting: bool = True) -> tuple[str, Iterator[JsonItem | FileError]]:
    """The format of ``text`` (not blank) and its items in file order; what cannot be read becomes an error.

    An error ends an array; JSON lines continue with the next line. Without ``quoting`` no error quotes the text.
    """
    if has_too_many_values(text):
        return "json-array", iter((FileError("too_many_values", {"limit": MAX_VALUES}),))
    scanner = Scanner(text, quoting)
    first = _LINE.search(text)
    if first is None or scanner.has_lines(first):
        return "jsonl", scanner.lines()
    if first[0].startswith("["):
        return "json-array", scanner.until_malformed(scanner.array_file(first.start()))
    return "json-object", scanner.until_malformed(scanner.object_file(first.start()))


def has_too_many_values(text: str) -> bool:
    """Whether a text would decode to more than ``MAX_VALUES`` values.

    Seven million empty lists fit into 20 MB of text and take half a gigabyte when decoded.
    """
    return text.count(",") + text.count("[") + text.count("{") > MAX_VALUES


def first_line(text: str) -> re.Match[str] | None:
    """The first line of ``text`` that is not blank, from its first character on."""
    return _LINE.search(text)


def is_list_of_items(text: str, position: int) -> bool:
    """Whether a list of objects, or an empty one, opens at ``position``."""
    return _LIST_OF_ITEMS.match(text, position) is not None


def type_name(value: object) -> str:
    """The JSON type of a decoded value, as a key of ``scoring.messages.TERMS``."""
    names = {str: "string", bool: "boolean", float: "decimal", list: "list", dict: "object", type(None): "null"}
    return names.get(type(value), "number")


class Scanner:
    """Walks one text from item to item. ``Malformed`` ends a generator and is turned into a located error."""

    def __init__(self, text: str, quoting: bool) -> None:
        self._text = text
        self._quoting = quoting
        self._decoder = Decoder()
        self._items = 0
        self._mark = (0, 1)  # offset and line of the last item: lines are counted from there

    def until_malformed(self, items: Iterator[JsonItem]) -> Iterator[JsonItem | FileError]:
        try:
            yield from items
        except Malformed as stop:
            yield self._error(stop)

    def array_file(self, start: int) -> Iterator[JsonItem]:
        end = yield from self._array(start)
        self._expect_end(end)

    def object_file(self, start: int) -> Iterator[JsonItem]:
        """The items of the only list in the object at ``start``; the object itself if it is an item."""
        if not self._text.startswith("{", start):
            raise self.no_container(start)
        position, lists = skip_space(self._text, start + 1), 0
        while not self._text.startswith("}", position):
            key, position = self._key(position)
            if key in _ITEM_KEYS and not lists:
                item, position = self._item(start)
                yield item
                self._expect_end(position)
                return
            if _LIST_OF_ITEMS.match(self._text, position):
                lists += 1
                if lists > 1:
                    raise Malformed(position, "several_lists", key=quoted(key))
                position = yield from self._array(position)
            else:
                _, position = self._decoder.decode(self._text, position)
            position = self._next_member(position)
        if not lists:
            raise Malformed(start, "no_item_list")
        self._expect_end(position + 1)

    def has_lines(self, first: re.Match[str]) -> bool:
        """Whether the text, whose first line is ``first``, is JSON lines rather than one array or object."""
        if first[0].startswith("["):
            return False
        following = _LINE.search(self._text, first.end())
        try:
            value, _ = self._decoder.decode(first[0], 0)
        except Malformed:
            value = None
        if isinstance(value, dict):
            return self._is_line(value, has_more=following is not None)
        # The first line is broken, or it begins an object of several lines.
        line = first[0].rstrip()
        goes_on = line.endswith(("[", "{", ":")) or (line.endswith(",") and "[" in line)
        return following is not None and following[0].startswith("{") and not goes_on

    def _is_line(self, value: dict[str, Any], *, has_more: bool) -> bool:
        """Whether an object that fills the first line, with more lines or none, is a line of JSON lines."""
        is_wrapper = any(isinstance(member, list) for member in value.values())
        return not _ITEM_KEYS.isdisjoint(value) or (has_more and not is_wrapper)

    def lines(self) -> Iterator[JsonItem | FileError]:
        floor = 0
        for match in _LINE.finditer(self._text):
            try:
                yield self._line_item(match)
            except Malformed as stop:
                stop.position += match.start()
                yield self._error(stop, floor)
                if stop.code == "too_many_items":
                    return
            floor = match.end()

    def _line_item(self, match: re.Match[str]) -> JsonItem:
        source, line = match[0], self._line_at(match.start())
        self._count_item(0)
        value, end = self._decoder.decode(source, 0)
        rest = skip_space(source, end)
        if rest < len(source):
            raise Malformed(rest, "line_comma" if source[rest:].strip() == "," else "trailing_text")
        return JsonItem(value, source, 0, line, self._decoder.fault)

    def _array(self, opening: int) -> Generator[JsonItem, None, int]:
        """The items of the array that opens at ``opening``; returns the offset after it."""
        position = skip_space(self._text, opening + 1)
        if self._text.startswith("]", position):
            return position + 1
        while True:
            item, end = self._item(position)
            yield item
            position = skip_space(self._text, end)
            if self._text.startswith("]", position):
                return position + 1
            if not self._text.startswith(",", position):
                raise diagnose(self._text, position, "Expecting ',' delimiter")
            position = skip_space(self._text, position + 1)

    def _item(self, position: int) -> tuple[JsonItem, int]:
        line = self._line_at(position)
        self._count_item(position)
        value, end = self._decoder.decode(self._text, position)
        return JsonItem(value, self._text, position, line, self._decoder.fault), end

    def _count_item(self, position: int) -> None:
        self._items += 1
        if self._items > MAX_ITEMS:
            raise Malformed(position, "too_many_items", limit=MAX_ITEMS)

    def _key(self, position: int) -> tuple[str, int]:
        """The key at ``position`` and the offset of its value."""
        if not self._text.startswith('"', position):
            raise diagnose(self._text, position, "Expecting property name")
        key, end = self._decoder.decode(self._text, position)
        colon = skip_space(self._text, end)
        if not self._text.startswith(":", colon):
            raise diagnose(self._text, colon, "Expecting ':' delimiter")
        return key, skip_space(self._text, colon + 1)

    def _next_member(self, position: int) -> int:
        """The offset of the next key, or of the closing brace."""
        position = skip_space(self._text, position)
        if self._text.startswith("}", position):
            return position
        if not self._text.startswith(",", position):
            raise diagnose(self._text, position, "Expecting ',' delimiter")
        following = skip_space(self._text, position + 1)
        if self._text.startswith("}", following):
            raise Malformed(position, "trailing_comma")
        return following

    def _expect_end(self, position: int) -> None:
        rest = skip_space(self._text, position)
        if rest < len(self._text):
            raise Malformed(rest, "trailing_text")

    def no_container(self, start: int) -> Malformed:
        """The error for a text that starts with neither ``[`` nor ``{``: one bare value, or no JSON at all."""
        try:
            value, end = self._decoder.decode(self._text, start)
        except Malformed as stop:
            return stop if stop.code == "python_notation" else Malformed(start, "not_json")
        is_alone = skip_space(self._text, end) == len(self._text)
        return Malformed(start, "top_level_type", found=type_name(value)) if is_alone else Malformed(start, "not_json")

    def _line_at(self, position: int) -> int:
        offset, line = self._mark
        self._mark = position, line + line_breaks(self._text, offset, position)
        return self._mark[1]

    def _error(self, stop: Malformed, floor: int = 0) -> FileError:
        """``stop`` with its line, its column and the text near it; nothing before ``floor`` is searched."""
        offset, line = self._mark
        start = line_start(self._text, stop.position, floor)
        place = {"column": stop.position - start + 1, "near": ""}
        if self._quoting:
            place["near"] = near(self._text, stop.position, start)
        identity = self._identity(offset, stop.position)
        return FileError(
            stop.code,
            place | stop.params,
            line=line + line_breaks(self._text, offset, stop.position),
            item_id=None if identity is None else quoted(identity, limit=len(identity)),
        )

    def _identity(self, start: int, end: int) -> str | None:
        """The id of the item that was being read between ``start`` and ``end``."""
        match = _ID.search(self._text, start, end)
        return None if match is None else match[1]


def _faults_at(spot: Spot) -> Iterator[Fault]:
    if spot.repeated:
        yield "duplicate_key", {"key": quoted(str(spot.path[-1]))}
    if spot.token in ("NaN", "Infinity", "-Infinity"):
        yield "not_a_number", {"literal": spot.token}
    elif _NUMBER.match(spot.token) and is_too_large(spot.token):
        yield "number_too_large", {"length": len(spot.token)}
