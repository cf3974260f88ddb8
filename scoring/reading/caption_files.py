"""Caption files: candidates and references of pictures and films, in every usual format, detected from the content.

Candidates: ``{id: caption}``; a list of ``{"image_id" | "video_id" | "id", "caption"}``, alone or inside an object
(``captions``, ``result``, ``results`` …); JSON lines of such objects; a table, of tabs or with a header line of commas.
A caption may be in a list of one. References: the same with several captions or several rows of one id, and the
layouts of data sets (``file_formats`` names them; ``caption_keys`` has the names of their fields). An object with a
reference may also have ``required``, a list of words that a caption must hold.

Ids are compared as text, in NFC and without the ending of a picture, film or label file; ``cat.jpg`` and ``cat.png`` in
one file are refused, as they would become one item. Where references say the file of a picture beside its id, a
candidate may name it by either; a name that two items share is refused. A missing id is no error: it scores 0. Errors
quote ids, and from a references file nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from scoring.errors import ErrorList, FileError, InvalidFile
from scoring.reading.caption_checks import RowCheck, without_ending
from scoring.reading.caption_scan import CaptionScanner, Row
from scoring.reading.decoding import decode, line_breaks
from scoring.reading.file_formats import TABLES
from scoring.reading.item_checks import MAX_REFERENCES, shown_id
from scoring.reading.json_items import MAX_VALUES, first_line, has_too_many_values
from scoring.reading.json_syntax import near
from scoring.reading.other_tasks import FileKind, kind_of, refuse_other_kind
from scoring.records import Item, Items

__all__ = ["MAX_REFERENCES", "read_captions", "scan_captions", "without_ending"]

_OBJECT_FORMATS: Final[frozenset[str]] = frozenset({"id-object", "wrapped-object"})  # an id is a key: once


def read_captions(
    data: bytes, references: Items | None = None, *, is_reference: bool = False, joins_endings: bool = False
) -> Items:
    """The captions of a file. Every id must be one of ``references``, if they are given.

    A candidate has one caption, which may be empty; a reference has one to ``MAX_REFERENCES``, none empty, in the order
    of the file. ``joins_endings``: ids that differ only in their ending are one item, not an error. Raises
    ``InvalidFile``.
    """
    file_format, entries = scan_captions(decode(data), quoting=not is_reference)
    may_repeat = is_reference and file_format not in _OBJECT_FORMATS
    known = None if references is None else dict.fromkeys(item.id for item in references.items)
    aliases = {} if references is None else references.aliases
    captions = _Captions(is_reference, may_repeat, joins_endings, known, aliases)
    captions.read(entries)
    refuse_other_kind(captions.kinds, "captions_file", len(captions.first_lines), captions.found)
    if captions.has_strange_ids:
        raise InvalidFile([FileError("no_known_id", {"example": shown_id(next(iter(known or ())))})])
    captions.found.raise_any(before=captions.errors_of_the_whole())
    return Items(
        tuple(item.answer(item_id) for item_id, item in captions.items.items()),
        captions.layout or file_format,
        hashlib.sha256(data).hexdigest(),
        aliases=captions.aliases_of_the_items(),
    )


def scan_captions(text: str, *, quoting: bool = True) -> tuple[str, Iterator[Row | FileError]]:
    """The format of ``text`` (not blank) and its rows in file order; what cannot be read becomes an error.

    The first character decides: a bracket opens JSON, anything else must be a table. For labels of AI-Hub the format is
    that of the JSON around them. Without ``quoting`` no error quotes the text.
    """
    first = first_line(text)
    if first is not None and first[0][0] in "[{":
        if has_too_many_values(text):
            return "json-array", iter((FileError("too_many_values", {"limit": MAX_VALUES}),))
        return CaptionScanner(text, quoting).scan(first)
    for table in TABLES:
        if table.matches(text):
            return table.format, table.rows(text)
    start = 0 if first is None else first.start()
    stop = CaptionScanner(text, quoting).no_container(start)
    if stop.code != "not_json":
        return "json-array", CaptionScanner(text, quoting).refused(stop)
    place = {"near": near(text, start, start) if quoting else ""}
    return "tsv", iter((FileError("no_caption_format", place, line=1 + line_breaks(text, 0, start)),))


@dataclass(slots=True)
class _Item:
    """What was read for one id."""

    line: int
    texts: list[str] = field(default_factory=list)
    required: dict[str, None] = field(default_factory=dict)  # in order, each once
    raw: list[str] = field(default_factory=list)

    def answer(self, item_id: str) -> Item:
        raw = tuple(self.raw) if self.raw != self.texts else ()
        others, required = tuple(self.texts[1:]), tuple(self.required)
        return Item(item_id, self.texts[0], self.line, others=others, required=required, raw=raw)


@dataclass(slots=True)
class _Captions:
    """One pass over a file. ``may_repeat``: several rows of one id are its several references."""

    is_reference: bool
    may_repeat: bool
    joins_endings: bool
    known_ids: dict[str, None] | None  # in the order of the references
    aliases: Mapping[str, str | None]  # of the references
    items: dict[str, _Item] = field(default_factory=dict)
    first_lines: dict[str, int] = field(default_factory=dict)
    first_written: dict[str, str] = field(default_factory=dict)  # the id with its ending, as in its first row
    found: ErrorList = field(default_factory=ErrorList)
    is_whole: bool = True  # every row and its id could be read
    layout: str = ""  # the data set whose layout the rows have
    kinds: set[FileKind | None] = field(default_factory=set)  # of file that the rows look like
    names: dict[str, str | None] = field(default_factory=dict)  # other name -> id; None if several items have it

    def read(self, entries: Iterable[Row | FileError]) -> None:
        for entry in entries:
            if isinstance(entry, FileError):
                self.found.note(entry)
                self.is_whole = False
            else:
                self._take(entry)

    def _take(self, row: Row) -> None:
        check = RowCheck(
            row,
            is_reference=self.is_reference,
            locating=not self.found.is_full,
            known=self.known_ids or (),
            aliases=self.aliases,
        )
        texts, required = check.texts(), check.required()
        self.kinds.add(None if row.key is not None else kind_of(row.item.value))
        if check.id is None:
            self.is_whole = False
        else:
            self._match(check)
            self.first_lines.setdefault(check.id, row.line)
            self.first_written.setdefault(check.id, check.written_id)
            if texts is not None:
                item = self.items.setdefault(check.id, _Item(row.line))
                if len(item.texts) <= MAX_REFERENCES < len(item.texts) + len(texts):
                    check.note_too_many()
                item.texts += texts
                item.required |= dict.fromkeys(required)
                item.raw += check.written_texts() or texts
        self.layout = self.layout or check.layout
        self.found.note(*check.in_file_order())

    def _match(self, check: RowCheck) -> None:
        """Compare the id with those of earlier rows and, if given, of the references."""
        line = self.first_lines.get(check.id or "")
        is_repeated = line is not None and not self.joins_endings
        if is_repeated and not check.match_spelling(self.first_written[check.id or ""], line or 0):
            return
        if self.is_reference:
            for name in check.names():
                self.names[name] = check.id if self.names.get(name, check.id) == check.id else None
        check.match_id({} if self.may_repeat else self.first_lines, self.known_ids, is_reference=self.is_reference)

    @property
    def has_strange_ids(self) -> bool:
        """Whether the ids of the file could be read, and none of them is one of the references."""
        is_known = self.is_whole and self.known_ids and self.first_lines
        return bool(is_known) and self.first_lines.keys().isdisjoint(self.known_ids or ())

    def errors_of_the_whole(self) -> Iterator[FileError]:
        if not self.is_whole:
            return
        if not self.first_lines:
            yield FileError("no_items")

    def aliases_of_the_items(self) -> dict[str, str | None]:
        """The names of files that are not the ids of their items."""
        return {name: item_id for name, item_id in self.names.items() if name != item_id}
