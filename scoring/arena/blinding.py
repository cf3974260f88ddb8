"""Outputs as judges see them: without the formatting and the names by which somebody could tell whose they are.

``normalised`` changes marks, never words or digits: Unicode form and invisible characters, spaces and blank lines,
Markdown and HTML marks, shapes of bullets and of quotation marks, quotation marks around the whole text, and labels
such as "답변:" at its start. What a text says, and the order in which it says it, stay.

``masked`` puts ``MASK`` in the place of names. They are found whatever their case, width and the spaces, hyphens and
invisible characters inside. A name of fewer than ``LONG_NAME`` characters is hidden only where it stands as a name and
is no piece of another word (``name_words``): "고래" in "고래입니다" but not in "참고래" and "고래싸움", "AI" in "AI는"
but not in "fair". Where a team has the name of a thing, the thing is hidden as well: that is the price.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from scoring.arena.name_words import is_name
from scoring.invisible import without_invisible

MASK: Final = "〔가림〕"
LONG_NAME: Final = 4  # characters that count (``_folded``)

_PASSES: Final = 20  # marks within marks

_SPACES: Final = re.compile("[\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_LINE_ENDS: Final = re.compile("\r\n?|[\x0b\x0c\u0085\u2028\u2029]")
_QUOTES: Final = str.maketrans("“”„‟″＂‘’‚‛′＇", "\"\"\"\"\"\"''''''")
_LABEL: Final = re.compile(
    r"""\A\s*(?:[\[(<【〔]\s*)?
    (?:최종\s*답변?|답변|정답|대답|출력|응답|결과|캡션|요약문?|answer|response|output|assistant|caption|summary)
    \s*(?:[\])>】〕]\s*:?|:|：)\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_MARKS: Final = tuple(
    (re.compile(pattern, re.MULTILINE), by)
    for pattern, by in (
        (r"<br\s*/?>", "\n"),
        (r"</?(?:b|i|u|s|em|strong|p|div|span|h[1-6]|ul|ol|li|code|pre|blockquote)(?:\s[^<>\n]*)?/?>", ""),
        (r"^[ ]*(?:```|~~~)[^\n`]*\n?", ""),  # fences of code
        (r"^[ ]*(?:[-*_=][ ]*){3,}$\n?", ""),  # rules
        (r"^[ ]{0,3}\#{1,6}[ ]+(.*?)(?:[ ]+\#+)?[ ]*$", r"\1"),  # headings
        (r"^[ ]*(?:>[ ]?)+", ""),  # quoted lines
        (r"^[ ]*[-*+•‣◦▪▫●○■□▶►◆◇※✓✔➤→][ ]+", "- "),  # bullets
        (r"^[ ]*(\d{1,3})[.)][ ]+", r"\1. "),
        (r"!?\[([^\[\]\n]*)\]\([^()\s]*\)", r"\1"),  # links and images
        (r"(\*\*|__)(?=\S)([^\n]{1,500}?)(?<=\S)\1", r"\2"),  # bounded: a long line of marks would take for ever
        (r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])", r"\1"),
        (r"(?<!\w)_(?=\S)([^_\n]+?)(?<=\S)_(?!\w)", r"\1"),
        (r"~~(?=\S)([^~\n]+?)(?<=\S)~~", r"\1"),
        (r"`+([^`\n]+?)`+", r"\1"),
        (r"[ ]+$", ""),
        (r"[ ]{2,}", " "),
        (r"\n{3,}", "\n\n"),
    )
)


def normalised(text: str) -> str:
    """``text`` without what only its formatting says. Again, it changes nothing (marks may nest)."""
    found = text
    for _ in range(_PASSES):
        again = _once(found)
        if again == found:
            break
        found = again
    return found


def _once(text: str) -> str:
    found = unicodedata.normalize("NFC", without_invisible(text))
    found = _SPACES.sub(" ", _LINE_ENDS.sub("\n", found)).translate(_QUOTES)
    for pattern, by in _MARKS:
        found = pattern.sub(by, found)
    found = found.strip()
    found = _LABEL.sub("", found, count=1) or found
    for quote in ('"', "'"):
        if len(found) > 2 and found[0] == found[-1] == quote and quote not in found[1:-1]:
            found = found[1:-1].strip() or found
    return found


def masked(text: str, names: Iterable[str]) -> str:
    """``text`` with every one of ``names`` hidden; names without a letter or a digit hide nothing."""
    folded, places = _folded(text)
    hidden = [False] * len(text)
    for name in sorted({_folded(name)[0] for name in names}, key=len, reverse=True):
        if any(each.isalnum() for each in name):
            for start, end in _found(name, folded, places, text):
                hidden[start:end] = [True] * (end - start)
    if not any(hidden):
        return text
    parts: list[str] = []
    for place, character in enumerate(text):
        if not hidden[place]:
            parts.append(character)
        elif place == 0 or not hidden[place - 1]:
            parts.append(MASK)
    return "".join(parts)


def _found(name: str, folded: str, places: list[int], text: str) -> Iterator[tuple[int, int]]:
    """Where ``name`` is in ``text``, by start and end."""
    at = folded.find(name)
    while at >= 0:
        start, end = places[at], places[at + len(name) - 1] + 1
        if len(name) >= LONG_NAME or is_name(text, start, end):
            yield start, end
        at = folded.find(name, at + 1)


def _folded(text: str) -> tuple[str, list[int]]:
    """The letters and digits of ``text`` in one case and width, and the place in ``text`` of each."""
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for each in unicodedata.normalize("NFKC", character).casefold():
            if each.isalnum():
                characters.append(each)
                places.append(place)
    return "".join(characters), places
