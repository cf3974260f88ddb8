"""Captions in a table: TSV, or CSV with a header line.

A line of TSV holds an id, a tab and a caption. With a header line it may have other columns in any order. There is no
quoting: double quotes are text. If a program has clearly wrapped fields in them, that is an error, as the quotes would
otherwise count as tokens. CSV is told by its header line, which names a column of ids and one of captions. Fields are
separated by commas and may be quoted, also over several lines; with ``|`` between fields, as in Flickr30k, there is no
quoting and spaces before a field do not count. Blank lines are skipped.

Beside the name of a picture a column ``id`` is mostly the number of the row, so the picture comes first.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from scoring.errors import FileError
from scoring.reading.caption_keys import ID_KEYS, KOREAN_KEYS, NAME_KEYS
from scoring.reading.caption_scan import Row
from scoring.reading.decoding import line_breaks
from scoring.reading.item_checks import shown_id
from scoring.reading.json_items import MAX_ITEMS, JsonItem, first_line
from scoring.reading.json_syntax import line_start

_LINE: Final = re.compile(r"[^ \t\u3000\xa0\ufeff\n\r][^\n\r]*")  # from its first character on that is not blank
_ID_COLUMNS: Final = (*(key for key in ID_KEYS if key != "id"), "id", "아이디", "파일명", "이미지")
_KOREAN_COLUMNS: Final = (*KOREAN_KEYS, "설명", "설명문", "캡션")
_CAPTION_COLUMNS: Final = (
    *_KOREAN_COLUMNS,
    *("caption", "captions", "comment", "description", "sentence", "sentences", "text", "answer", "raw"),
)
_ID_NAMES: Final = frozenset(key.lower() for key in _ID_COLUMNS)
_NAMES: Final = _ID_NAMES | frozenset(key.lower() for key in _CAPTION_COLUMNS)
_HEADER_CHARS: Final = 1_000
_MAX_COLUMNS: Final = 50
# How csv writers write a field that contains quotes: wrapped in quotes, those inside doubled.
_WRAPPED: Final = re.compile(r'"[^"]*+(?:""[^"]*+)++"')


class _Columns(NamedTuple):
    """Where a table has what; ``id_keys`` is the name of the column of ids, if that is known."""

    item_id: int = 0
    caption: int = 1
    names: tuple[int, ...] = ()
    width: int = 2
    id_keys: tuple[str, ...] = ID_KEYS

    def row(self, fields: list[str], line: int) -> Row:
        caption = fields[self.caption]
        names = tuple(fields[place] for place in self.names)
        return Row(JsonItem(caption, caption, 0, line), fields[self.item_id], line, True, self.id_keys, names)


def has_table(text: str) -> bool:
    """Whether ``text``, which opens no JSON array or object, is a table: there is a tab inside a line."""
    return re.search(r"[^\n\r]\t|\t[^\n\r]", text) is not None


def table_rows(text: str) -> Iterator[Row | FileError]:
    """The rows of a table in file order; a line that is not a row becomes an error."""
    offset, line, rows, is_first = 0, 1, 0, True
    columns = _Columns()
    for match in _LINE.finditer(text):
        start = line_start(text, match.start(), offset)
        line += line_breaks(text, offset, start)
        offset = start
        fields = text[start : match.end()].lstrip("\ufeff").split("\t")  # files joined keep their marks
        header = _header(fields) if is_first else None
        if header is not None:
            columns, is_first = header, False
            continue
        if is_first and fields[0].strip().lower() in _ID_NAMES:
            yield FileError("tsv_header", line=line)
            return
        is_first = False
        rows += 1
        if rows > MAX_ITEMS:
            yield FileError("too_many_items", {"limit": MAX_ITEMS}, line=line)
            return
        yield _tsv_row(fields, line, columns)


def has_csv(text: str) -> bool:
    """Whether the first line of ``text`` is a header of CSV: one of its fields is the name of a column."""
    line = _first(text)
    fields = line.split(_separator(line))
    return len(fields) > 1 and not {field.strip(' "').lower() for field in fields}.isdisjoint(_NAMES)


def csv_rows(text: str) -> Iterator[Row | FileError]:
    """The rows of a CSV in file order; a row that is none becomes an error, broken quotes the last one."""
    columns: _Columns | None = None
    for number, record in enumerate(_records(text)):
        if isinstance(record, FileError):
            yield record
            return
        line, fields = record
        if number > MAX_ITEMS:  # 0 is the header line
            yield FileError("too_many_items", {"limit": MAX_ITEMS}, line=line)
            return
        if not any(map(str.strip, fields)):
            continue
        if columns is not None:
            yield _row(fields, line, columns)
            continue
        columns = _header(fields)
        if columns is None:
            yield FileError("csv_header", line=line)
            return


def _records(text: str) -> Iterator[tuple[int, list[str]] | FileError]:
    """The line and the fields of every record that is not blank."""
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, strict=True)
    if _separator(_first(text)) == "|":
        reader = csv.reader(lines, delimiter="|", quoting=csv.QUOTE_NONE, skipinitialspace=True)
    following = 1
    try:
        for fields in filter(None, reader):  # of a blank line: empty
            following = reader.line_num + 1
            yield reader.line_num - line_breaks(",".join(fields)), fields
    except csv.Error:
        yield FileError("csv_quotes", line=following)


def _first(text: str) -> str:
    """The beginning of the first line that is not blank."""
    line = first_line(text)
    return "" if line is None else line[0][:_HEADER_CHARS]


def _separator(line: str) -> str:
    return "|" if "|" in line and "," not in line else ","


def _header(fields: list[str]) -> _Columns | None:
    """The columns that a header line names; ``None`` if it names none of ids or none of captions."""
    places: dict[str, int] = {}
    for place, field in enumerate(fields[:_MAX_COLUMNS]):
        places.setdefault(field.strip().lower(), place)
    ids = [key for key in _ID_COLUMNS if key.lower() in places]
    captions = [key for key in _CAPTION_COLUMNS if key.lower() in places]
    if not ids or not captions:
        return None
    files = tuple(places[key] for key in ids[1:] if key in NAME_KEYS)
    return _Columns(places[ids[0].lower()], places[captions[0].lower()], files, len(fields), (ids[0],))


def _tsv_row(fields: list[str], line: int, columns: _Columns) -> Row | FileError:
    if len(fields) == 1:
        return FileError("tsv_no_tab", line=line)
    if columns.width == 2 < len(fields):
        shown = shown_id(fields[columns.item_id]) or None
        return FileError("tsv_extra_tabs", {"found": len(fields)}, line=line, item_id=shown)
    row = _row(fields, line, columns)
    if isinstance(row, Row):
        item_id, caption = fields[columns.item_id], fields[columns.caption]
        if len(item_id) > 2 and item_id[0] == item_id[-1] == '"':
            return FileError("tsv_quoted", line=line, item_id=shown_id(item_id), field="id")
        if _WRAPPED.fullmatch(caption):
            return FileError("tsv_quoted", line=line, item_id=shown_id(item_id) or None, field="caption")
    return row


def _row(fields: list[str], line: int, columns: _Columns) -> Row | FileError:
    if len(fields) != columns.width:  # what is where the id should be may be text of a reference
        return FileError("table_columns", {"found": len(fields), "expected": columns.width}, line=line)
    return columns.row(fields, line)
