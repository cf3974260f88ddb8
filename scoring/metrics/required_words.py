"""Required words: the share of the words that an item demands which its caption holds, whatever their form (0-1).

The words are with the references (``required``). A recipe hands them over as one text, a line for each word or
phrase; ``#`` separates forms either of which will do (우산#양산). Words and caption are compared as Okt's dictionary
forms without particles, endings and punctuation: 우산 is in 우산을, 걷다 in 걸어간다 only if Okt says so, and 빨간 우산
in 빨갛고 우산이. A word must begin and end with a morph (배 is not in 배추), but where Okt cuts it does not matter, nor
does a space (빨간우산).

It reads no reference caption. A word that is denied (우산이 없다) counts as held.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from typing import Any, Final

from scoring.errors import Message
from scoring.metrics.base import LexicalMetric, Tokenize
from scoring.text.answers import alternatives_of
from scoring.text.lemmas import RULE as LEMMA_RULE
from scoring.text.lemmas import morphs_of
from scoring.text.okt import Tagged

DROPPED: Final = frozenset({"Josa", "Eomi", "PreEomi", "Punctuation"})

Content = tuple[str, ...]  # dictionary forms in order


def text_of(words: Iterable[str]) -> str:
    """The words that an item demands as one text for this metric."""
    return "\n".join(" ".join(word.split()) for word in words)


def content_of(tagged: Iterable[Tagged]) -> Content:
    """The dictionary forms of a text without particles, endings and punctuation; with them if it has nothing else."""
    morphs = morphs_of(tagged)
    return tuple(morph.lemma for morph in morphs if morph.pos not in DROPPED) or tuple(m.lemma for m in morphs)


def holds(caption: Content, word: Content) -> bool:
    """Whether ``word`` is in ``caption`` from the beginning of a morph to the end of one."""
    wanted, text = "".join(word), "".join(caption)
    edges = {0, *accumulate(map(len, caption))}
    start = text.find(wanted) if wanted else -1
    while start >= 0:
        if start in edges and start + len(wanted) in edges:
            return True
        start = text.find(wanted, start + 1)
    return False


class RequiredWords(LexicalMetric):
    """Share of the demanded words that the caption holds."""

    name = "required_words"
    label = Message("필수 낱말", "Required words")
    rule = "required-words@1"
    group = "meaning"
    reads = "okt-tagged"

    def parameters(self) -> dict[str, Any]:
        return {"lemmas": LEMMA_RULE}

    def pieces(self, text: str) -> Sequence[str]:
        return list(chain.from_iterable(map(alternatives_of, text.split("\n"))))

    def tokens(self, text: str, tokenize: Tokenize) -> list[list[Content]]:
        """For each line the contents of its alternatives."""
        return [[content_of(tokenize(piece)) for piece in alternatives_of(line)] for line in text.split("\n")]

    def value(self, reference: Sequence[Sequence[Content]], candidate: Sequence[Sequence[Content]]) -> float:
        caption = tuple(chain.from_iterable(chain.from_iterable(candidate)))
        return sum(any(holds(caption, word) for word in words) for words in reference) / len(reference)
