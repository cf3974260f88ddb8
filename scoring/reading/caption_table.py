"""Captions in a table: a line holds an id, a tab and a caption (TSV), with or without a header line.

There is no quoting: double quotes are text. If a program has clearly wrapped fields in them, that is an error, as the
quotes would otherwise count as tokens. Blank lines are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scoring.errors import FileError
from scoring.reading.caption_scan import ID_KEYS, Row
from scoring.reading.decoding import line_breaks
from scoring.reading.item_checks import shown_id
from scoring.reading.json_items import MAX_ITEMS, JsonItem
from scoring.reading.json_syntax import line_start

_LINE: Final = re.compile(r"[^ \t\u3000\xa0\ufeff\n\r][^\n\r]*")  # from its first character on that is not blank
_CAPTION_NAMES: Final = frozenset(
    {"caption", "captions", "description", "description_kr", "sentence", "text", "answer", "설명", "설명문", "캡션"}
)
# How csv writers write a field that contains quotes: wrapped in quotes, those inside doubled.
_WRAPPED: Final = re.compile(r'"[^"]*+(?:""[^"]*+)++"')


def has_table(text: str) -> bool:
    """Whether ``text``, which opens no JSON array or object, is a table: there is a tab inside a line."""
    return re.search(r"[^\n\r]\t|\t[^\n\r]", text) is not None


def table_rows(text: str) -> Iterator[Row | FileError]:
    """The rows of a table in file order; a line that is not a row becomes an error."""
    offset, line, rows, is_first = 0, 1, 0, True
    for match in _LINE.finditer(text):
        start = line_start(text, match.start(), offset)
        line += line_breaks(text, offset, start)
        offset = start
        fields = text[start : match.end()].lstrip("\ufeff").split("\t")  # files joined keep their marks
        header = _header(fields) if is_first else None
        is_first = False
        if header is not None:
            if header == "wrong":
                yield FileError("tsv_header", line=line)
            continue
        rows += 1
        if rows > MAX_ITEMS:
            yield FileError("too_many_items", {"limit": MAX_ITEMS}, line=line)
            return
        yield _row(fields, line)


def _header(fields: list[str]) -> str | None:
    """``right`` or ``wrong`` for a header line, ``None`` for a line of captions."""
    names = [field.strip().lower() for field in fields[:2]]
    if len(fields) == 2 and names[0] in ID_KEYS and names[1] in _CAPTION_NAMES:
        return "right"
    is_header = names[0] in ID_KEYS or (names[0] in _CAPTION_NAMES and len(names) > 1 and names[1] in ID_KEYS)
    return "wrong" if is_header else None


def _row(fields: list[str], line: int) -> Row | FileError:
    if len(fields) == 1:
        return FileError("tsv_no_tab", line=line)
    item_id, caption = fields[:2]
    shown = shown_id(item_id) or None
    if len(fields) > 2:
        return FileError("tsv_extra_tabs", {"found": len(fields)}, line=line, item_id=shown)
    if len(item_id) > 2 and item_id[0] == item_id[-1] == '"':
        return FileError("tsv_quoted", line=line, item_id=shown, field="id")
    if _WRAPPED.fullmatch(caption):
        return FileError("tsv_quoted", line=line, item_id=shown, field="caption")
    return Row(JsonItem(caption, caption, 0, line), item_id, line, is_table=True)
