"""Characters that nobody sees: they split words, break equality, make an empty text look full or disguise a name.

Invisible are: zero-width characters and joiners, direction marks, Hangul fillers, soft hyphens, variation selectors and
tag characters (Unicode 16.0, ``Default_Ignorable_Code_Point`` and the older bidirectional controls). Inside emoji they
have their proper use and are not counted: a joiner between two emoji, a variation selector or a keycap after its base,
tags after the black flag. Texts are NFC.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Final

# Control, format (bidirectional overrides, zero width), surrogate, private, unassigned; line and paragraph separators.
UNSEEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
BLANK: Final = "\u2800"  # of Braille, where it is the space between words: seen by no one in any other text
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_PICTURE: Final = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_ELEMENT: Final = f"{_PICTURE}[\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?"
_EMOJI: Final = re.compile(
    "\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f"  # the flag of a region
    "|[0-9#*]\ufe0f\u20e3"  # a keycap
    f"|{_ELEMENT}(?:\u200d{_ELEMENT})*"
)
_EMOJI_OR_INVISIBLE: Final = re.compile(f"({_EMOJI.pattern})|{_INVISIBLE.pattern}")


def invisible_characters(text: str) -> Counter[int]:
    """How often each invisible code point occurs in ``text``, without those that belong to an emoji."""
    if text.isascii() or not _INVISIBLE.search(text):
        return Counter()
    return Counter(map(ord, _INVISIBLE.findall(_EMOJI.sub("", text))))


def without_invisible(text: str, *, even_in_emoji: bool = False) -> str:
    """``text`` without invisible characters: but for those that belong to an emoji, or without any."""
    if even_in_emoji:
        return _INVISIBLE.sub("", text)
    return _EMOJI_OR_INVISIBLE.sub(lambda match: match[1] or "", text)


def is_invisible(character: str) -> bool:
    """Whether it is invisible wherever it does not belong to an emoji."""
    return _INVISIBLE.fullmatch(character) is not None


def is_unseen(character: str) -> bool:
    """Whether nobody sees it outside of an emoji: it is invisible, of no visible category, or the blank of Braille."""
    return unicodedata.category(character) in UNSEEN_CATEGORIES or not is_seen(character)


def is_seen(printable: str) -> bool:
    """Whether a text of printable characters has neither an invisible one nor the blank of Braille."""
    return BLANK not in printable and not _INVISIBLE.search(printable)


def looks_empty(text: str) -> bool:
    """Whether ``text`` is not empty but contains nothing visible."""
    return bool(text.strip()) and not _INVISIBLE.sub("", text).replace(BLANK, " ").strip()


def code_point_name(code: int) -> str:
    """The usual way to write a code point: ``U+200B``."""
    return f"U+{code:04X}"
