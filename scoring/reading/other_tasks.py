"""Which task a file was made for, so that one sentence names the mistake instead of an error for every item."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, Literal

from scoring.errors import ErrorList, FileError, InvalidFile
from scoring.text.essays import TRAITS

# Keys of ``scoring.messages.TERMS``, which has their words.
FileKind = Literal["answers_file", "captions_file", "essays_file", "essay_references_file"]

MIN_ITEMS: Final = 2  # a single item of another kind is a slip, and its own errors say more
_CAPTIONS: Final = ("caption", "captions", "caption_ko")


def kind_of(value: Any) -> FileKind | None:
    """What kind of file an item is of; ``None`` where that is not clear, as of a text under ``output``."""
    if not isinstance(value, dict):
        return None
    output = value.get("output")
    inner = output if isinstance(output, dict) else {}
    if "judge" in value or any(trait in value or trait in inner for trait in TRAITS):
        return "essays_file"
    if output is None and "essay" in value and isinstance(value.get("score"), dict):
        return "essay_references_file"
    if output is None and any(key in value for key in _CAPTIONS):
        return "captions_file"
    answer = inner.get("answer")
    return "answers_file" if answer is not None and "{" not in str(answer) else None


def refuse_other_kind(kinds: Collection[FileKind | None], meant: FileKind, items: int, found: ErrorList) -> None:
    """One error for a file whose ``items``, all of one kind, are of another kind than ``meant``.

    ``kinds`` are those of its items. Only a file that has errors anyway is refused. Raises ``InvalidFile``.
    """
    if not found.total or items < MIN_ITEMS or len(kinds) != 1:
        return
    [kind] = kinds
    if kind not in (None, meant):
        raise InvalidFile([FileError("other_task_file", {"task": kind, "meant": meant})])
