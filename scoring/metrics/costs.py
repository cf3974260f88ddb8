"""What a model reads of a text, estimated without its tokenizer.

How many tokens a real tokenizer makes of a text is estimated by its letters: contest-like Korean gives about one token
a letter with multilingual BERT's kind of tokenizer (1.01 measured) and 0.8 with the SentencePiece of BLEURT-20's kind
(the tests measure both). A vocabulary with longer pieces gives fewer tokens of every text alike, which changes nothing:
a scoring's speed is measured in the same unit. English has about four letters a token, so a file of it counts for more
than it costs.
"""

from __future__ import annotations

from typing import Final

MODEL_TOKENS: Final = 512  # the longest input of the models; what is longer is cut by them too
SPECIAL_TOKENS: Final = 2  # [CLS] and [SEP]


def estimated_tokens(text: str) -> int:
    """Tokens of ``text`` without special ones: one a letter, as if nothing were cut."""
    return len(text) - text.count(" ")
