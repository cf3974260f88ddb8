"""Texts stored in two languages, shown in the reader's."""

from __future__ import annotations

from typing import Literal

from django.utils.translation import get_language


def reader_language() -> Literal["ko", "en"]:
    """The language of the reader, for texts that the instrument has in both."""
    return "en" if (get_language() or "ko").startswith("en") else "ko"


def in_language(korean: str, english: str) -> str:
    """The text for the reader: English if the reader uses it and there is one, else Korean."""
    return english if english and reader_language() == "en" else korean
