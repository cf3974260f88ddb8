"""How many tokens a model reads of a text, estimated without its tokenizer.

The number of tokens is estimated by the letters of a text: contest-like Korean gives about one token a letter with
multilingual BERT's kind of tokenizer (1.01 measured) and 0.8 with the SentencePiece of BLEURT-20's kind (the tests
measure both). A vocabulary with longer pieces gives fewer tokens for every text, which does not matter: the speed of a
scoring is measured in the same unit. English has about four letters a token, so a file of it counts for more than it
costs.
"""

from __future__ import annotations

from typing import Final

MODEL_TOKENS: Final = 512  # the longest input of the models; what is longer is cut by them too
SPECIAL_TOKENS: Final = 2  # [CLS] and [SEP]


def estimated_tokens(text: str) -> int:
    """Tokens of ``text`` without special ones: one for each letter, without any cut."""
    return len(text) - text.count(" ")
