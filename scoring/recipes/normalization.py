"""What every recipe does with a text before it is scored: Unicode NFC, and the limit of its length, in words.

The official scorers compare the texts as they are in the files.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Final

from scoring.errors import Message
from scoring.records import Items, ScoreWarning
from scoring.text.cutting import READ_CHARS, READ_RUN_CHARS

AS_READ: Final = Message(
    "모든 글은 유니코드 NFC로 바꾼 뒤 채점합니다(공식 채점기는 바꾸지 않습니다). 아주 긴 글은 앞의 "
    f"{READ_CHARS:,}자, 띄어쓰기 없이 이어진 글은 앞의 {READ_RUN_CHARS:,}자만 분석하며, 글이 같은지만 보는 "
    "지표는 전체를 봅니다.",
    "All texts are normalised to Unicode NFC first (the official scorers do not). Of a very long text the first "
    f"{READ_CHARS:,} characters are analysed, of a run without a space the first {READ_RUN_CHARS:,}; metrics that only "
    "compare texts see the whole.",
)

# What composes: the letters of a syllable, or a syllable and its last letter.
_JAMO: Final = re.compile("[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|[\uac00-\ud7a3][\u11a8-\u11c2]")
_COMPATIBLE: Final = re.compile("[\uf900-\ufaff\U0002f800-\U0002fa1f]")  # with a few that are no compatibility ones


def normalization_warnings(predictions: Items) -> list[ScoreWarning]:
    """How many answers NFC changed, by what it changed in them; an answer may count for several."""
    found: dict[str, dict[str, Any]] = {}
    for item in predictions.items:
        for code, example in _changes("\n".join(item.raw)):
            params = found.setdefault(code, {"count": 0, "example": example})
            params["count"] += 1
    codes = ("nfc_normalized", "nfc_ideographs", "nfc_other")
    return [ScoreWarning(code, found[code]) for code in codes if code in found]


def _changes(text: str) -> Iterator[tuple[str, str]]:
    """(code, example) of every kind of change that NFC makes in ``text``. Linear in the text."""
    for code, pattern in (("nfc_normalized", _JAMO), ("nfc_ideographs", _COMPATIBLE)):
        changed = next((match[0] for match in pattern.finditer(text) if _normal(match[0]) != match[0]), None)
        if changed is not None:
            yield code, f"{_code_points(changed)} → {_code_points(_normal(changed))}"
    rest = _COMPATIBLE.sub(" ", _JAMO.sub(" ", text))
    if (changed := next((part for part in _clusters(rest) if _normal(part) != part), None)) is not None:
        yield "nfc_other", f"{_code_points(changed)} → {_code_points(_normal(changed))}"


def _clusters(text: str) -> Iterator[str]:
    """The parts of ``text`` that are not NFC: of such words, a character with the marks that follow it."""
    for word in text.split():
        if unicodedata.is_normalized("NFC", word):
            continue
        start = 0
        for place in range(1, len(word) + 1):
            if place == len(word) or not unicodedata.combining(word[place]):
                yield word[start:place]
                start = place


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _code_points(text: str) -> str:
    return " ".join(f"U+{ord(character):04X}" for character in text[:4]) + (" …" if len(text) > 4 else "")
