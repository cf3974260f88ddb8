"""Words by which somebody could tell whose outputs are: those that stand in the outputs of one system alone, again and
again. A name, a brand, a signature or an unusual character is among them; so is a habit of style. People decide.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scoring.arena.blinding import MASK

OUTPUTS_LEAST: Final = 3  # of one system, with the word in them
WORDS_MOST: Final = 20  # of a system, the most frequent first

_WORD: Final = re.compile(r"[^\W_]+(?:[-.@_/:]+[^\W_]+)*")
_SIGN: Final = re.compile(r"[^\w\s\x00-\x7f]")
_STEM_LEAST: Final = 2  # characters that are left of a word without its particle
_ENDINGS: Final = re.compile(  # particles and the copula, behind a noun in any of which a name may stand
    r"(?:이었습니다|였습니다|입니다|이라는|이라고|이라면|에서는|에게서|으로는|으로서|으로써|이에요|예요|이며|이고|이다|라는|"
    r"라고|에서|에게|으로|까지|부터|처럼|보다|이나|이란|에는|로서|로써|과는|와는|은|는|이|가|을|를|의|에|와|과|도|로|만)\Z"
)


@dataclass(frozen=True, slots=True)
class TellingWord:
    """``outputs``: how many outputs of the system have it."""

    word: str
    outputs: int


def telling_words(outputs: Mapping[str, Sequence[str]], known: Iterable[str] = ()) -> dict[str, list[TellingWord]]:
    """Of each system's ``outputs``, the words that no output of another system has, nor a text that is ``known`` to
    all, such as a question. A word counts without its particle, whatever its case and width.
    """
    counts = {system: Counter(word for text in texts for word in words_of(text)) for system, texts in outputs.items()}
    systems_with = Counter(word for counted in counts.values() for word in counted)
    common = {word for text in known for word in words_of(text)}
    return {
        system: [
            TellingWord(word, count)
            for word, count in sorted(counted.items(), key=lambda each: (-each[1], each[0]))
            if count >= OUTPUTS_LEAST and systems_with[word] == 1 and word not in common
        ][:WORDS_MOST]
        for system, counted in counts.items()
    }


def words_of(text: str) -> set[str]:
    """The words of ``text`` and its signs beyond ASCII that are symbols, such as emoji."""
    folded = unicodedata.normalize("NFKC", text.replace(MASK, " ")).casefold()
    words = {_ENDINGS.sub("", word) if len(word) > _STEM_LEAST else word for word in _WORD.findall(folded)}
    signs = {sign for sign in _SIGN.findall(folded) if unicodedata.category(sign) == "So"}
    return {word for word in words if len(word) >= _STEM_LEAST and not word.isdigit()} | signs
