"""Texts that are kept in two languages, read in the reader's."""

from __future__ import annotations

from django.utils.translation import get_language


def in_language(korean: str, english: str) -> str:
    """The text for the reader: English where it is asked for and written, else Korean."""
    return english if english and (get_language() or "ko").startswith("en") else korean
