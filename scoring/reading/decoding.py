"""The bytes of an upload to text: UTF-8, with or without a byte order mark; errors name any other format."""

from __future__ import annotations

import codecs
import json
from typing import Any, Final

from scoring.errors import FileError, InvalidFile

MAX_BYTES: Final = 20 * 1024 * 1024

# First bytes of the files that people upload by mistake. A file of the contest starts with [, { or white space.
_MAGIC: Final[tuple[tuple[bytes, str], ...]] = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\xd0\xcf\x11\xe0", "office"),
    (b"\x1f\x8b", "archive"),
    (b"7z\xbc\xaf", "archive"),
    (b"Rar!", "archive"),
    (b"\xfd7zXZ", "archive"),
    (b"BZh", "archive"),
    (b"\x28\xb5\x2f\xfd", "archive"),
    (b"%PDF", "pdf"),
    (b"\x89PNG", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"GIF8", "image"),
    (b"PAR1", "table"),
    (b"ARROW1", "table"),
    (b"SQLite format 3", "table"),
    (b"\x80\x02", "program"),
    (b"\x80\x03", "program"),
    (b"\x80\x04", "program"),
    (b"\x80\x05", "program"),
    (b"\x93NUMPY", "program"),
    (b"\x89HDF", "program"),
)
# A zip archive whose first member is one of these is a document: OOXML (xlsx, docx) and OWPML or ODF (hwpx, ods).
_DOCUMENT_MEMBERS: Final = (b"[Content_Types].xml", b"mimetype", b"_rels/")
_MARKUP_HEAD: Final = 200


def decode(data: bytes) -> str:
    """The text of an upload, without its byte order mark. Raises ``InvalidFile`` with one error."""
    if not data:
        raise _invalid("empty_file")
    if len(data) > MAX_BYTES:
        raise _invalid("too_many_bytes", size=len(data), limit=MAX_BYTES)
    kind = _kind_of(data)
    if kind is not None:
        raise _invalid("not_a_text_file", kind=kind)
    encoding = json.detect_encoding(data)
    if not encoding.startswith("utf-8") and _is_wide(data, encoding):
        raise _invalid("utf16", encoding=encoding[:6].upper())
    text = _decode_utf8(data)
    if not text.strip(" \t\r\n\ufeff"):
        raise _invalid("blank_file")
    return text


def line_breaks(text: str, start: int = 0, end: int | None = None) -> int:
    """How many lines end in ``text[start:end]``; a line ends with LF, CR LF or a lone CR, as editors count them."""
    stop = len(text) if end is None else end
    return text.count("\n", start, stop) + text.count("\r", start, stop) - text.count("\r\n", start, stop)


def _invalid(code: str, line: int | None = None, **params: Any) -> InvalidFile:
    return InvalidFile([FileError(code, params, line=line)])


def _kind_of(data: bytes) -> str | None:
    """What a file that is not JSON text is, by its first bytes."""
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            is_document = kind == "zip" and data[30:].startswith(_DOCUMENT_MEMBERS)  # 30: a zip member's fixed header
            return "office" if is_document else kind
    head = data[:_MARKUP_HEAD].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return "html"
    return "xml" if head.startswith((b"<?xml", b"<!doctype", b"<svg")) else None


def _is_wide(data: bytes, encoding: str) -> bool:
    """Whether ``data`` is JSON in UTF-16 or UTF-32. Without a mark it must decode: zero bytes prove nothing."""
    if encoding in ("utf-16", "utf-32"):  # named without an endianness: there is a byte order mark
        return True
    try:
        return data.decode(encoding).lstrip().startswith(("[", "{"))
    except UnicodeDecodeError:
        return False


def _decode_utf8(data: bytes) -> str:
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        start, is_cut = error.start, error.reason == "unexpected end of data"
    # Raised outside the handler: a chained UnicodeDecodeError would carry the whole file into a traceback.
    if _looks_like_cp949(data):
        raise _invalid("cp949")
    line = line_breaks(data[:start].decode("utf-8")) + 1
    if is_cut:  # the file ends inside a character
        raise _invalid("cut_off", line=line, size=len(data))
    raise _invalid("invalid_utf8", line=line, byte=f"0x{data[start]:02X}", offset=start + 1)


def _looks_like_cp949(data: bytes) -> bool:
    """Whether the file is CP949 as a whole, rather than damaged UTF-8 that CP949 happens to decode.

    Read as UTF-8, nearly every Hangul byte of a CP949 file is an error; in a damaged UTF-8 file few are.
    """
    try:
        data.decode("cp949")
    except UnicodeDecodeError:
        return False
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    beyond_ascii = len(text) - len(text.encode("ascii", errors="ignore"))
    return 2 * broken > beyond_ascii
