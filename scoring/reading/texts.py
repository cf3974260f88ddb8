"""The checks of a text before any analyser reads it: NFC, limited length, nothing that breaks an analyser.

python-mecab-ko stops reading at a NUL and raises ``TypeError`` on a lone surrogate. ``MAX_TEXT_CHARS`` bounds what is
kept of one item; what an analyser sees of a long text is much less (``scoring.text.cutting``).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final

from scoring.marks import MAX_MARKS, has_stacked_marks

MAX_TEXT_CHARS: Final = 200_000

_FORBIDDEN: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_FORBIDDEN_IN_LINE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_NFC_SHRINKS: Final = 3  # at most: a Hangul syllable of three letters becomes one character

Defect = tuple[str, dict[str, Any]]  # an error's code and params


def normalize(text: str, limit: int = MAX_TEXT_CHARS, *, one_line: bool = False) -> tuple[str, Defect | None]:
    """``text`` in NFC, with its first defect if it has one. ``limit`` and lengths count characters of the NFC text.

    Texts that would make normalising slow are refused first: Python orders combining marks in quadratic time.
    """
    defect = forbidden_character(text, one_line=one_line) or _length_defect(text, limit * _NFC_SHRINKS, limit)
    if defect is None and has_stacked_marks(text):
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
