"""Short texts from people or their machines: names of teams and files, memos."""

from __future__ import annotations

import unicodedata
from typing import Final

MARKDOWN_MAX_CHARS: Final = 50_000  # of a text that organisers write
NOTICE_PART_MAX_CHARS: Final = (
    MARKDOWN_MAX_CHARS // 2 - 1
)  # of an erratum, and of a notice that one is put at the end of
# control, format (bidirectional overrides, zero width), surrogate, private, unassigned; line, paragraph separators
UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def one_line(text: str) -> str:
    """``text`` in NFC on one line, with single spaces, so that texts that look equal are equal in the database."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def has_unseen(text: str) -> bool:
    """Whether ``text`` contains an invisible character, which could disguise a name."""
    return any(unicodedata.category(character) in UNSEEN for character in text)


def without_unseen(text: str) -> str:
    """``one_line`` of ``text`` without invisible characters; safe to store and to show."""
    shown = "".join(character for character in one_line(text) if unicodedata.category(character) not in UNSEEN)
    return shown.strip()
