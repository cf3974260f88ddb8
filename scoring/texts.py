"""What a text must be before any analyser sees it: NFC, of bounded length, free of what breaks or stalls an analyser.

python-mecab-ko stops reading at a NUL and raises ``TypeError`` on a lone surrogate. Time grows with the square of an
unbroken run: measured on one core, python-mecab-ko takes 0.02 s for 2,500 characters and 0.1 s for 10,000, Okt 14 s for
2,000 syllables of Hangul. A recipe that uses Okt has to set a lower limit of its own.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any, Final

MAX_TEXT_CHARS: Final = 10_000
MAX_RUN_CHARS: Final = 2_500
MAX_MARKS: Final = 30  # the Stream-Safe Text Format of Unicode Standard Annex 15

_FORBIDDEN: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_FORBIDDEN_IN_LINE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LAST_MARK: Final = 0x1E94A  # of the combining characters in Unicode 14, the version of Python 3.11
_NFC_SHRINKS: Final = 3  # at most: a Hangul syllable of three letters becomes one character

Defect = tuple[str, dict[str, Any]]  # an error's code and params


def normalize(text: str, limit: int = MAX_TEXT_CHARS, *, one_line: bool = False) -> tuple[str, Defect | None]:
    """``text`` in NFC, with its first defect if it has one. ``limit`` and lengths count characters of the NFC text.

    What would make normalising itself slow is refused first: Python orders combining marks in quadratic time.
    """
    defect = forbidden_character(text, one_line=one_line) or _length_defect(text, limit * _NFC_SHRINKS, limit)
    if defect is None and not text.isascii() and _mark_runs().search(text):
        defect = "too_many_marks", {"limit": MAX_MARKS}
    if defect is not None:
        return text, defect
    normal = unicodedata.normalize("NFC", text)
    return normal, _length_defect(normal, limit, limit) or _run_defect(normal)


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


def _run_defect(text: str) -> Defect | None:
    longest = max(map(len, text.split()), default=0) if len(text) > MAX_RUN_CHARS else 0
    return ("run_too_long", {"length": longest, "limit": MAX_RUN_CHARS}) if longest > MAX_RUN_CHARS else None


@cache
def _mark_runs() -> re.Pattern[str]:
    """Finds more combining marks in a row than a text may hold."""
    marks = "".join(chr(code) for code in range(0x300, _LAST_MARK + 1) if unicodedata.combining(chr(code)))
    return re.compile(f"[{marks}]{{{MAX_MARKS + 1}}}")
