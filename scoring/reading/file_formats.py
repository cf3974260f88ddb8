"""What the formats of predictions and references are called, in Korean and English."""

from __future__ import annotations

from typing import Final

from scoring.messages import Language
from scoring.records import FileFormat

FORMAT_LABELS: Final[dict[FileFormat, tuple[str, str]]] = {
    "json-array": ("JSON 배열(항목 객체의 목록)", "JSON array (a list of item objects)"),
    "json-object": ("JSON 객체(항목을 담은 객체)", "JSON object (an object that holds the items)"),
    "jsonl": ("JSONL(한 줄에 항목 하나)", "JSONL (one item a line)"),
    "id-object": ("JSON 객체({아이디: 설명문})", "JSON object ({id: caption})"),
    "wrapped-list": (
        "JSON 객체 안의 목록({captions: [항목, …]})",
        "list inside a JSON object ({captions: [item, …]})",
    ),
    "wrapped-object": (
        "JSON 객체 안의 객체({captions: {아이디: 설명문}})",
        "object inside a JSON object ({captions: {id: caption}})",
    ),
    "tsv": ("TSV(아이디와 설명문을 탭으로 구분)", "TSV (id, tab, caption)"),
    "coco": ("COCO 주석(annotations)", "COCO annotations"),
    "aihub": ("AI 허브 라벨(annotation.description_kr)", "AI-Hub labels (annotation.description_kr)"),
}


def format_label(file_format: FileFormat, language: Language = "ko") -> str:
    """The name of a format as a participant reads it."""
    korean, english = FORMAT_LABELS[file_format]
    return korean if language == "ko" else english
