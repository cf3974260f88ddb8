"""Scores that people gave: JSON or JSON lines of ``{"id": ..., "score": ...}``, a number from 1 to 5 for each item.

The scale is that of the judge's rubric. Where several people scored an item, its score is their mean: one line an item.
Other keys are ignored. Items without a score are fine, as people mostly score a sample.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any, Final

from scoring.errors import ErrorList, FileError, InvalidFile, quoted
from scoring.judging.parsing import HIGHEST, LOWEST
from scoring.reading.decoding import decode
from scoring.reading.item_checks import MAX_ID_CHARS
from scoring.reading.json_items import JsonItem, scan, type_name
from scoring.reading.texts import Defect, normalize

FEWEST_ITEMS: Final = 2  # of an agreement


def read_human(data: bytes, known: Collection[str]) -> dict[str, float]:
    """The score of each item in the file, by id; every id is one of ``known``.

    Raises ``InvalidFile`` with every error: its line, id and field.
    """
    text = decode(data)
    if _is_agreement(text):
        raise InvalidFile([FileError("agreement_output")])
    _format, entries = scan(text)
    found = ErrorList()
    scores: dict[str, float] = {}
    lines: dict[str, int] = {}
    for entry in entries:
        if isinstance(entry, FileError):
            found.note(entry)
            continue
        errors = list(_errors(entry, known, lines))
        found.note(*errors)
        if not errors:
            item, _defect = _id_of(entry.value)
            scores[item], lines[item] = float(entry.value["score"]), entry.line
    found.raise_any()
    if not scores:
        raise InvalidFile([FileError("no_items")])
    return scores


def _is_agreement(text: str) -> bool:
    """Whether it is what ``judge-agreement`` writes, in the place of the scores that it was computed from."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "human_sha256" in found


def _id_of(value: dict[str, Any]) -> tuple[str, Defect | None]:
    """The id in NFC, as in all other files, with its first defect if it has one."""
    return normalize(str(value["id"]), MAX_ID_CHARS, one_line=True)


def _errors(item: JsonItem, known: Collection[str], lines: dict[str, int]) -> Iterator[FileError]:
    """Everything that is wrong with one entry; ``lines`` are those of the items before."""
    value = item.value
    if not isinstance(value, dict):
        yield FileError("wrong_type", {"expected": "object", "found": type_name(value)}, item.line)
        return
    if item.fault is not None:
        for (code, params), _path, line in item.faults():
            yield FileError(code, params, line)
        return
    if "id" not in value:
        yield FileError("missing_field", line=item.line, field="id")
        return
    if isinstance(value["id"], bool) or not isinstance(value["id"], str | int):
        found = {"expected": "string_or_integer", "found": type_name(value["id"])}
        yield FileError("wrong_type", found, item.line_of(("id",)), field="id")
        return
    name, defect = _id_of(value)
    if defect is not None:
        code = "id_too_long" if defect[0] == "text_too_long" else defect[0]
        yield FileError(code, defect[1], item.line_of(("id",)), quoted(name), "id")
    elif name in lines:
        yield FileError("duplicate_reference_id", {"first_line": lines[name]}, item.line, quoted(name), "id")
    elif name not in known:
        yield FileError("unknown_id", line=item.line, item_id=quoted(name), field="id")
    yield from _errors_of_score(item, quoted(name))


def _errors_of_score(item: JsonItem, name: str) -> Iterator[FileError]:
    if "score" not in item.value:
        yield FileError("missing_field", line=item.line, item_id=name, field="score")
        return
    score, line = item.value["score"], item.line_of(("score",))
    if isinstance(score, bool) or not isinstance(score, int | float):
        yield FileError("wrong_type", {"expected": "number", "found": type_name(score)}, line, name, "score")
    elif not LOWEST <= score <= HIGHEST:
        yield FileError("score_out_of_range", {"low": LOWEST, "high": HIGHEST}, line, name, "score")
