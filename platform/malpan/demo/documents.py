"""The files of the demo that the organiser publishes: references (privately), questions, a sample, format notes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from malpan.demo.content import CHOICE, ContestItem, Item, verdict

TEXTS: Final = Path(__file__).parent / "texts"
_SAMPLE_FORM: Final = "여기에 고른 문장을 쓰세요."
_SAMPLE_REASON: Final = "여기에 그렇게 판단한 이유를 쓰세요."
_SAMPLE_BARE: Final = "답"
_SAMPLE_CHOICE: Final = "1"


def references_file(items: Sequence[Item]) -> bytes:
    """Questions with their reference answers: only for ``publish_reference_version``."""
    return _official(items, lambda item: {"answer": item.reference})


def questions_file(items: Sequence[Item]) -> bytes:
    """The questions alone, without any answer."""
    return _official(items, None)


def sample_file(items: Sequence[Item]) -> bytes:
    """A valid submission that answers every question with a placeholder in the right format."""
    return _official(items, lambda item: {"answer": _placeholder(item)})


def readme_file(track_slug: str) -> bytes:
    """The notes on the format of a track, Korean first, in Markdown."""
    return (TEXTS / f"format-{track_slug}.md").read_bytes()


def page_text(name: str) -> str:
    """The text of a page of the demo, in Markdown; ``name`` like ``demo.ko``."""
    return (TEXTS / f"{name}.md").read_text(encoding="utf-8")


def file_stem(track_slug: str) -> str:
    """The name of the published files of a track, without an ending: ``rag_qa``."""
    return track_slug.replace("-", "_")


def _placeholder(item: Item) -> str:
    if isinstance(item, ContestItem):
        return _SAMPLE_BARE if item.is_bare else f"{verdict(_SAMPLE_FORM)} {_SAMPLE_REASON}"
    return _SAMPLE_CHOICE if item.question_type == CHOICE else _SAMPLE_BARE


def _official(items: Sequence[Item], output: Callable[[Item], dict[str, str]] | None) -> bytes:
    rows: list[dict[str, Any]] = []
    for item in items:
        row: dict[str, Any] = {"id": item.id, "input": item.input}
        rows.append(row if output is None else {**row, "output": output(item)})
    return (json.dumps(rows, ensure_ascii=False, indent=2) + "\n").encode()
