"""mecab-ko with mecab-ko-dic through python-mecab-ko: the analyser of the contest's scorer.

konlpy's ``Mecab`` on the mecab-python3 wheel runs the Japanese engine, which lacks mecab-ko's left-space penalty and
segments about a third of real sentences differently.

The binding takes time quadratic in the text (6 s for 100 KB of digits), so a text above ``MECAB_PIECE_CHARS`` is
analysed in pieces, cut at white space where there is any.
"""

from __future__ import annotations

import sys
import threading
from importlib import metadata
from typing import Any, Final

from scoring.errors import ScoringFault
from scoring.text.tokenization import Tokenizer, readable, split_at_space

MECAB_PIECE_CHARS: Final = 10_000


class MecabKo(Tokenizer):
    """Morphs of mecab-ko."""

    name = "mecab-ko"

    def __init__(self) -> None:
        import mecab
        from mecab.utils import create_lattice

        self._lock = threading.Lock()
        self._mecab = mecab.MeCab()
        self._tagger: Any = self._mecab._tagger
        self._create_lattice: Any = create_lattice

    def signature(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "engine": f"python-mecab-ko {metadata.version('python-mecab-ko')}",
            "dictionary": f"python-mecab-ko-dic {metadata.version('python-mecab-ko-dic')}",
            "dictionary_words": [dictionary.number_of_words for dictionary in self._mecab.dictionary],
            "piece_chars": MECAB_PIECE_CHARS,
        }

    def tokenize(self, text: str) -> tuple[str, ...]:
        with self._lock:
            return tuple(
                sys.intern(morph)  # one string for each morph, however many texts of a run have it
                for piece in split_at_space(readable(text), MECAB_PIECE_CHARS)
                for morph in self._surfaces(piece)
            )

    def _surfaces(self, piece: str) -> list[str]:
        """What ``MeCab.morphs`` returns, without its tags for every morph, which take as long as the analysis."""
        lattice = self._create_lattice(piece)
        if not self._tagger.parse(lattice):
            raise ScoringFault(f"mecab-ko: {self._tagger.what()}")
        return [node.surface for _, node in lattice]
