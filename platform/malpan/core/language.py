"""Texts stored in two languages, shown in the reader's."""

from __future__ import annotations

from django.utils.translation import get_language


def in_language(korean: str, english: str) -> str:
    """The text for the reader: English if the reader uses it and there is one, else Korean."""
    return english if english and (get_language() or "ko").startswith("en") else korean
