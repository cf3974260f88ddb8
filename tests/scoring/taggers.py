"""A stand-in for the analyser with tags, and NLTK's METEOR as witness, given the words it would take from WordNet."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

IDENTITY_STEMMER = SimpleNamespace(stem=lambda word: word)  # Porter's does nothing to Hangul, but shortens Latin words


class FakeTagger:
    """Splits at white space and says of every word the part of speech and lemma it was told; else that it is a noun."""

    def __init__(self, known: Mapping[str, tuple[str, str]] | None = None) -> None:
        self._known = known or {}

    def __call__(self, text: str) -> tuple[tuple[str, str, str], ...]:
        return tuple((word, *self._known.get(word, ("Noun", word))) for word in text.split())


class FakeWordNet:
    """A WordNet whose synsets are the given groups of words."""

    def __init__(self, groups: Sequence[Sequence[str]] = ()) -> None:
        self._groups = groups

    def synsets(self, word: str) -> list[Any]:
        return [
            SimpleNamespace(lemmas=lambda group=group: [SimpleNamespace(name=lambda name=name: name) for name in group])
            for group in self._groups
            if word in group
        ]


def nltk_meteor(
    references: Sequence[Sequence[str]], candidate: Sequence[str], groups: Sequence[Sequence[str]] = ()
) -> float:
    """NLTK's METEOR with its own parameters; of several references the best."""
    from nltk.translate.meteor_score import meteor_score  # here: it takes seconds, most of them for scipy

    return float(meteor_score(references, candidate, stemmer=IDENTITY_STEMMER, wordnet=FakeWordNet(groups)))
