"""Which texts are longer than a model reads, and so reach the score with their beginnings only."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple


class Cut(NamedTuple):
    """Whether the model sees only the beginning of the reference, and of the candidate, of a pair."""

    reference: bool
    candidate: bool


def most_tokens(text: str) -> int:
    """No tokenizer makes more tokens of ``text``, special ones left out: told without one.

    A piece is at least a character, or a byte where a tokenizer falls back to bytes; before that it may compose or
    decompose the text, and put a space before it.
    """
    if text.isascii():
        return len(text) + 1
    composed = len(unicodedata.normalize("NFKC", text).encode("utf-8", "surrogatepass"))
    raw = len(text.encode("utf-8", "surrogatepass"))
    return max(raw, composed, len(unicodedata.normalize("NFKD", text))) + 1
