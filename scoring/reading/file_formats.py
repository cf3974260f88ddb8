"""The formats of predictions and references: what each is called, and how a table among them is recognised and read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from scoring.errors import FileError, Language, Message
from scoring.reading.caption_scan import Row
from scoring.reading.caption_table import csv_rows, has_csv, has_table, table_rows

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
    "csv": Message(
        "머리줄이 있는 CSV(image_id, caption 등의 열)", "CSV with a header line (columns image_id, caption …)"
    ),
    "id-lists": Message(
        "pycocoevalcap 사전({아이디: [{caption: 설명문}]})", "dictionary of pycocoevalcap ({id: [{caption}]})"
    ),
    "coco": Message("COCO 주석(annotations, images의 file_name)", "COCO annotations (with the file names in images)"),
    "karpathy": Message(
        "Karpathy 분할(images의 sentences, 파일에 든 모든 그림)",
        "Karpathy split (sentences of images, every image of the file)",
    ),
    "vatex": Message("VATEX(videoID, koCap이 없으면 enCap)", "VATEX (videoID, koCap or else enCap)"),
    "msr-vtt": Message("MSR-VTT(videos, sentences)", "MSR-VTT (videos, sentences)"),
    "activitynet": Message(
        "ActivityNet Captions(영상마다 sentences를 한 문단으로 이음)",
        "ActivityNet Captions (the sentences of a film joined to one paragraph)",
    ),
    "aihub": Message("AI 허브 라벨(annotation.description_kr)", "AI-Hub labels (annotation.description_kr)"),
    "aihub-mscoco": Message("AI 허브 한국어 MSCOCO(caption_ko)", "AI-Hub Korean MSCOCO (caption_ko)"),
}


@dataclass(frozen=True, slots=True)
class Table:
    """Captions as text other than JSON. ``matches`` is asked of the decoded text; ``rows`` are in file order, and what
    cannot be read is an error. JSON is recognised by ``caption_scan`` and ``json_items``.
    """

    format: str
    matches: Callable[[str], bool]
    rows: Callable[[str], Iterator[Row | FileError]]


TABLES: list[Table] = [Table("csv", has_csv, csv_rows), Table("tsv", has_table, table_rows)]  # the first that matches


def format_label(file_format: str, language: Language = "ko") -> str:
    """The name of a format as a participant reads it; empty for one that is not known."""
    known = FORMAT_LABELS.get(file_format)
    return known.text(language) if known else ""
