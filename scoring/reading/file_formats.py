"""The formats of predictions and references: what each is called, and how a table among them is recognised and read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from scoring.errors import FileError, Language, Message
from scoring.reading.caption_scan import Row
from scoring.reading.caption_table import has_table, table_rows

FORMAT_LABELS: Final[dict[str, Message]] = {
    "json-array": Message("JSON 배열(항목 객체의 목록)", "JSON array (a list of item objects)"),
    "json-object": Message("JSON 객체(항목을 담은 객체)", "JSON object (an object that holds the items)"),
    "jsonl": Message("JSONL(한 줄에 항목 하나)", "JSONL (one item a line)"),
    "id-object": Message("JSON 객체({아이디: 설명문})", "JSON object ({id: caption})"),
    "wrapped-list": Message(
        "JSON 객체 안의 목록({captions: [항목, …]})", "list inside a JSON object ({captions: [item, …]})"
    ),
    "wrapped-object": Message(
        "JSON 객체 안의 객체({captions: {아이디: 설명문}})", "object inside a JSON object ({captions: {id: caption}})"
    ),
    "tsv": Message("TSV(아이디와 설명문을 탭으로 구분)", "TSV (id, tab, caption)"),
    "coco": Message("COCO 주석(annotations)", "COCO annotations"),
    "aihub": Message("AI 허브 라벨(annotation.description_kr)", "AI-Hub labels (annotation.description_kr)"),
}


@dataclass(frozen=True, slots=True)
class Table:
    """Captions as text other than JSON. ``matches`` is asked of the decoded text; ``rows`` are in file order, and what
    cannot be read is an error. JSON is recognised by ``caption_scan`` and ``json_items``.
    """

    format: str
    matches: Callable[[str], bool]
    rows: Callable[[str], Iterator[Row | FileError]]


TABLES: list[Table] = [Table("tsv", has_table, table_rows)]  # the first that matches


def format_label(file_format: str, language: Language = "ko") -> str:
    """The name of a format as a participant reads it; empty for one that is not known."""
    known = FORMAT_LABELS.get(file_format)
    return known.text(language) if known else ""
