"""Texts of people as data for a judge: cleaned, cut, and fenced by a mark that their authors cannot write.

The fence is a hash of the prompt and of all texts of the item: equal items are asked in equal words everywhere, and a
text that holds its own fence would be a fixed point of SHA-256. Inside it nothing can look like a mark of a chat
template: angle brackets, which all of them use, are replaced by the wide ones, ``[INST]`` and its kind likewise. What
cannot be seen (control characters, bidirectional overrides, zero-width characters, surrogates, private use) is removed.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

VERSION: Final = 1  # raised whenever a change here could change what is sent
FENCE_CHARS: Final = 32
_REMOVED: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_WIDE: Final = str.maketrans({"<": "＜", ">": "＞"})
_ROLE_MARK: Final = re.compile(r"\[(/?[A-Z][A-Z_]+)\]")
_BREAKS: Final = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Fenced:
    """The texts of one item as they are sent. ``cut``: the roles of those of which only the beginning is sent."""

    fence: str
    text: str
    cut: tuple[str, ...]


def cleaned(text: str) -> str:
    """``text`` without what cannot be seen and without marks of chat templates; lines end with ``\\n``."""
    lines = _BREAKS.sub("\n", text)
    seen = "".join(
        character for character in lines if character in "\n\t" or unicodedata.category(character) not in _REMOVED
    )
    return _ROLE_MARK.sub(r"［\1］", seen.translate(_WIDE))


def fenced(texts: Mapping[str, str], prompt_sha256: str, max_chars: int) -> Fenced:
    """``texts`` by role, each between two lines that name the fence and the role."""
    whole = {role: cleaned(text) for role, text in texts.items()}
    sent = {role: text[:max_chars] for role, text in whole.items()}
    fence = _fence(sent, prompt_sha256)
    blocks = [f"[[{fence}:{role}:begin]]\n{text}\n[[{fence}:{role}:end]]" for role, text in sent.items()]
    return Fenced(fence, "\n\n".join(blocks), tuple(role for role in texts if len(sent[role]) < len(whole[role])))


def _fence(texts: Mapping[str, str], prompt_sha256: str) -> str:
    """A mark that is in none of ``texts``."""
    number = 0
    while True:
        parts = (str(number), prompt_sha256, *(part for pair in texts.items() for part in pair))
        digest = hashlib.sha256(b"".join(_with_length(part) for part in parts)).hexdigest()[:FENCE_CHARS]
        if not any(digest in text for text in texts.values()):
            return digest
        number += 1


def _with_length(part: str) -> bytes:
    encoded = part.encode("utf-8", "surrogatepass")
    return len(encoded).to_bytes(8, "big") + encoded
