"""Texts that are longer than a model reads, so that only their beginning is scored."""

from __future__ import annotations

import unicodedata
from typing import Final, NamedTuple

MASKED_TOKENS: Final = 128  # read of a text by the masked language model, which reads it once for each of them


class Cut(NamedTuple):
    """Whether the model sees only the beginning of the reference, and of the candidate, of a pair."""

    reference: bool
    candidate: bool


def most_tokens(text: str) -> int:
    """An upper bound for the tokens that any tokenizer makes of ``text``, without special ones.

    A piece has at least one character, or one byte if a tokenizer falls back to bytes; before that a tokenizer may
    compose or decompose the text and put a space before it.
    """
    if text.isascii():
        return len(text) + 1
    composed = len(unicodedata.normalize("NFKC", text).encode("utf-8", "surrogatepass"))
    raw = len(text.encode("utf-8", "surrogatepass"))
    return max(raw, composed, len(unicodedata.normalize("NFKD", text))) + 1
