"""Morphs with part of speech and lemma, for metrics that look through inflection (파란, 파랗고: 파랗다).

Lemmas are Open Korean Text's, through konlpy (``scoring.tokenization.Okt.tagged``). It takes some inflected verbs and
adjectives of everyday captions for nouns (푸른, 타고) and gives a few the lemma of another word (걸어다니고: 걸다); those
that were found are set right here, by surface, and the table is part of the rule: ``RULE`` changes with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol

from scoring.tokenization import Tagged

RULE: Final = "okt-lemmas@1"
JOSA: Final = "Josa"


class Morph(NamedTuple):
    """One morph as it stands in the text, its part of speech in Okt's words, and its dictionary form."""

    surface: str
    pos: str
    lemma: str


class Tagger(Protocol):
    """What gives (morph, part of speech, lemma) triples: ``scoring.tokenization.Okt``, or a test's stand-in."""

    def tagged(self, text: str) -> tuple[Tagged, ...]: ...

    def signature(self) -> dict[str, Any]: ...


# lemma: the forms of it that Okt takes for something else
_MISTAKEN: Final[Mapping[str, str]] = {
    "푸르다": "푸른 푸르게",
}
LEMMA_OF: Final[Mapping[str, str]] = MappingProxyType(
    {form: lemma for lemma, forms in _MISTAKEN.items() for form in forms.split()}
)


def morphs_of(tagger: Tagger, text: str) -> tuple[Morph, ...]:
    """The morphs of ``text`` in order, as many as the analyser's own, with lemmas set right."""
    return tuple(Morph(surface, pos, LEMMA_OF.get(surface, lemma)) for surface, pos, lemma in tagger.tagged(text))


def without_josa(morphs: tuple[Morph, ...]) -> tuple[Morph, ...]:
    """``morphs`` less the particles (이, 가, 을, 에서 …)."""
    return tuple(morph for morph in morphs if morph.pos != JOSA)
