"""The checks of a text before any analyser reads it: NFC, limited length, nothing that breaks an analyser.

python-mecab-ko stops reading at a NUL and raises ``TypeError`` on a lone surrogate. ``MAX_TEXT_CHARS`` bounds what is
kept of one item; what an analyser sees of a long text is much less (``scoring.text.cutting``).
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import groupby
from typing import Any, Final

MAX_TEXT_CHARS: Final = 200_000
MAX_MARKS: Final = 30  # the Stream-Safe Text Format of Unicode Standard Annex 15

_FORBIDDEN: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_FORBIDDEN_IN_LINE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_NFC_SHRINKS: Final = 3  # at most: a Hangul syllable of three letters becomes one character

Defect = tuple[str, dict[str, Any]]  # an error's code and params


def normalize(text: str, limit: int = MAX_TEXT_CHARS, *, one_line: bool = False) -> tuple[str, Defect | None]:
    """``text`` in NFC, with its first defect if it has one. ``limit`` and lengths count characters of the NFC text.

    Texts that would make normalising slow are refused first: Python orders combining marks in quadratic time.
    """
    defect = forbidden_character(text, one_line=one_line) or _length_defect(text, limit * _NFC_SHRINKS, limit)
    if defect is None and _has_stacked_marks(text):
        defect = "too_many_marks", {"limit": MAX_MARKS}
    if defect is not None:
        return text, defect
    normal = unicodedata.normalize("NFC", text)
    return normal, _length_defect(normal, limit, limit)


def forbidden_character(text: str, *, one_line: bool = False) -> Defect | None:
    """A control character or half a surrogate pair, with its 1-based position. Tab and line breaks are allowed, unless
    the text must be ``one_line``.
    """
    match = (_FORBIDDEN_IN_LINE if one_line else _FORBIDDEN).search(text)
    if match is None:
        return None
    code = "lone_surrogate" if "\ud800" <= match[0] <= "\udfff" else "control_character"
    return code, {"character": f"U+{ord(match[0]):04X}", "position": match.start() + 1}


def _length_defect(text: str, most: int, limit: int) -> Defect | None:
    return ("text_too_long", {"length": len(text), "limit": limit}) if len(text) > most else None


def _has_stacked_marks(text: str) -> bool:
    """Whether more than ``MAX_MARKS`` combining marks follow each other."""
    if text.isascii():
        return False
    suspects = (match[0] for match in _suspect_runs().finditer(text))
    runs = (run for suspect in suspects for is_mark, run in groupby(suspect, _is_mark) if is_mark)
    return any(sum(1 for _ in run) > MAX_MARKS for run in runs)


def _is_mark(character: str) -> bool:
    return unicodedata.combining(character) > 0


@cache
def _suspect_runs() -> re.Pattern[str]:
    """Runs of characters that may be marks: of the Basic Multilingual Plane exactly those, above it (marks of music
    and of rare scripts, but emoji too) all. A class that lists the upper marks as well searches thirty times slower.
    """
    marks = "".join(chr(code) for code in range(0x300, 0x10000) if unicodedata.combining(chr(code)))
    suspect = f"[{marks}\U00010000-\U0001ffff]"
    return re.compile(f"{suspect}{suspect}{{{MAX_MARKS},}}")  # one class alone first: Python scans faster so
