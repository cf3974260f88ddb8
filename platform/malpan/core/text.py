"""Short texts that people type or their machines send: names of teams and files, memos."""

from __future__ import annotations

import unicodedata
from typing import Final

# control, format (bidirectional overrides, zero width), surrogate, private, unassigned; line, paragraph separators
UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def one_line(text: str) -> str:
    """``text`` in NFC on one line, runs of space made one: equal to the eye is then equal to the database."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def has_unseen(text: str) -> bool:
    """Whether ``text`` holds a character that cannot be seen, a disguise in a name."""
    return any(unicodedata.category(character) in UNSEEN for character in text)


def without_unseen(text: str) -> str:
    """``one_line`` of ``text`` less everything that cannot be seen; safe to store and to show."""
    shown = "".join(character for character in one_line(text) if unicodedata.category(character) not in UNSEEN)
    return shown.strip()
