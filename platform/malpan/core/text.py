"""Short texts from people or their machines: names of teams and files, memos."""

from __future__ import annotations

import unicodedata
from typing import Final

from scoring.invisible import invisible_characters, is_invisible, is_unseen, without_invisible
from scoring.marks import without_stacked_marks

MARKDOWN_MAX_CHARS: Final = 50_000  # of a text that organisers write
NOTICE_PART_MAX_CHARS: Final = (
    MARKDOWN_MAX_CHARS // 2 - 1
)  # of an erratum, and of a notice that one is put at the end of


def nfc(text: str) -> str:
    """``text`` in NFC, however many marks somebody stacked on a letter: the first thirty stay."""
    return unicodedata.normalize("NFC", without_stacked_marks(text))


def one_line(text: str) -> str:
    """``text`` in NFC on one line, with single spaces, so that texts that look equal are equal in the database."""
    return " ".join(nfc(text).split())


def has_unseen(text: str) -> bool:
    """Whether ``text`` contains an invisible character, which could disguise a name.

    What belongs to an emoji is none: the keyboards of phones write a selector or a joiner into many, and who chose one
    there could not know what to remove.
    """
    return any(map(_is_unseen, text)) or bool(invisible_characters(nfc(text)))


def without_unseen(text: str) -> str:
    """``one_line`` of ``text`` without invisible characters but those of emoji; safe to store and to show."""
    seen = "".join(character for character in one_line(text) if not _is_unseen(character))
    return one_line(without_invisible(seen))


def _is_unseen(character: str) -> bool:
    """Whether it is invisible wherever it stands; ``scoring.invisible`` knows those that belong to an emoji."""
    return is_unseen(character) and not is_invisible(character)
