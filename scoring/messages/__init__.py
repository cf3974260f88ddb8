"""Every sentence about a defect of a file, by its code. ``FileError`` fills them.

By subject: the bytes and the JSON (``files``), the items and how they match (``items``), captions (``captions``),
essays (``essays``); their common parts are in ``language``.
"""

from __future__ import annotations

from typing import Final

from scoring.messages.captions import CAPTIONS
from scoring.messages.essays import ESSAYS
from scoring.messages.files import BYTES, SYNTAX
from scoring.messages.items import ANSWERS, ITEMS, MATCHING
from scoring.messages.language import (
    COUNT_DIFFERS,
    DUPLICATE_ID,
    ID_MISMATCH,
    NOT_JSON,
    TERMS,
    WRONG_SHAPE,
    Language,
    Message,
    term,
)

__all__ = [
    "CAPTIONS",
    "COUNT_DIFFERS",
    "DUPLICATE_ID",
    "ESSAYS",
    "ID_MISMATCH",
    "MESSAGES",
    "NOT_JSON",
    "TERMS",
    "WRONG_SHAPE",
    "Language",
    "Message",
    "term",
]

MESSAGES: Final[dict[str, Message]] = {**BYTES, **SYNTAX, **ITEMS, **MATCHING, **ANSWERS, **CAPTIONS, **ESSAYS}
