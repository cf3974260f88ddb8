"""Korean morphological analysers, as the contest's scorers use them, made safe against strange text.

* ``mecab-ko`` through python-mecab-ko. konlpy's ``Mecab`` on the mecab-python3 wheel runs the Japanese engine, which
  lacks mecab-ko's left-space penalty and segments about a third of real sentences differently.
* ``Okt`` (Open Korean Text) through konlpy, on a JVM that starts at first use.

What is done to a text before an analyser sees it never changes an ordinary text:

* NUL and lone surrogates become a space: mecab stops reading at the first, both bindings refuse the second.
* mecab-ko's binding takes time quadratic in the text (6 s for 100 KB of digits), so a text above
  ``MECAB_PIECE_CHARS`` is analysed in pieces, cut at white space where there is any.
* Okt takes time quadratic in an unbroken run of Hangul (0.05 ms a character in runs of 5, 0.2 in runs of 30, 0.6 in
  runs of 100; 34,000 do not finish in minutes), so a longer run than ``OKT_RUN_CHARS`` is cut there: words between
  spaces have fewer than 30, and text that leaves out its spaces is still whole up to there. It is quadratic as well in
  strings that might be addresses (``a.b.a.b.``: 25 s for 5,000 characters), so no string without a space is longer
  than ``OKT_WORD_CHARS`` to it. With both, time is linear in the text: about 0.6 ms a character at worst.

All limits stand in the signature. One analyser per process; all of it may be called from several threads.
"""

from __future__ import annotations

import os
import re
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from typing import Any, Final, Generic, TypeVar

from scoring.errors import ScoringFault
from scoring.text.jvm import okt_jar, start_jvm

Tokens = tuple[str, ...]
Tagged = tuple[str, str, str]  # morph, part of speech, lemma
KeptT = TypeVar("KeptT")
AnalyserT = TypeVar("AnalyserT", bound="Analyser")

MECAB_PIECE_CHARS: Final = 10_000
OKT_RUN_CHARS: Final = 100
OKT_WORD_CHARS: Final = 200
SPACE: Final = "Space"
OKT_THREADS: Final = min(4, os.cpu_count() or 1)
MEMO_CHARS: Final = 1_000_000  # about 40 MB with its tokens

_UNREADABLE: Final = re.compile("[\x00\ud800-\udfff]")
_LONG_HANGUL_RUN: Final = re.compile(f"[가-힣ㄱ-ㅎㅏ-ㅣ]{{{OKT_RUN_CHARS}}}(?=[가-힣ㄱ-ㅎㅏ-ㅣ])")


class TokenMemo(Generic[KeptT]):
    """What was found in the texts seen last, bounded by the characters of the texts kept. Thread-safe."""

    def __init__(self, max_chars: int = MEMO_CHARS) -> None:
        self._max_chars = max_chars
        self._chars = 0
        self._kept: OrderedDict[str, KeptT] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def chars(self) -> int:
        """Characters of all texts kept now."""
        return self._chars

    def get(self, text: str) -> KeptT | None:
        with self._lock:
            tokens = self._kept.get(text)
            if tokens is not None:
                self._kept.move_to_end(text)
            return tokens

    def put(self, text: str, tokens: KeptT) -> None:
        if not text or len(text) > self._max_chars:
            return
        with self._lock:
            if text not in self._kept:
                self._chars += len(text)
            self._kept[text] = tokens
            self._kept.move_to_end(text)
            while self._chars > self._max_chars:
                oldest, _ = self._kept.popitem(last=False)
                self._chars -= len(oldest)


class Analyser(ABC):
    """Splits Korean text into morphs. Subclasses analyse; the guard, the lock and the memo are here."""

    name: str

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memo: TokenMemo[Tokens] = TokenMemo()

    def morphs(self, text: str) -> Tokens:
        """The morphs of ``text`` in order, without white space between words."""
        known = self._memo.get(text)
        if known is not None:
            return known
        tokens = self._find_morphs(text)
        self._memo.put(text, tokens)
        return tokens

    @abstractmethod
    def _find_morphs(self, text: str) -> Tokens: ...

    @abstractmethod
    def signature(self) -> dict[str, Any]:
        """Engine, dictionary and limits: what can change the morphs."""


class MecabKo(Analyser):
    """mecab-ko with mecab-ko-dic, the analyser of the contest's scorer."""

    name = "mecab-ko"

    def __init__(self) -> None:
        super().__init__()
        import mecab
        from mecab.utils import create_lattice

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

    def _find_morphs(self, text: str) -> Tokens:
        with self._lock:
            return tuple(
                morph for piece in split_at_space(readable(text), MECAB_PIECE_CHARS) for morph in self._surfaces(piece)
            )

    def _surfaces(self, piece: str) -> list[str]:
        """What ``MeCab.morphs`` gives, without the tags it makes for every morph: they take as long as the analysis."""
        lattice = self._create_lattice(piece)
        if not self._tagger.parse(lattice):
            raise ScoringFault(f"mecab-ko: {self._tagger.what()}")
        return [node.surface for _, node in lattice]


class Okt(Analyser):
    """Open Korean Text with konlpy's values (``norm`` and ``stem`` off).

    konlpy analyses a text anew for its morphs and for its lemmas. Here the engine inside konlpy's package is asked
    once for both, and once for a word (eojeol) however often it comes: the engine looks at nothing beyond U+0020. Other
    space characters (U+00A0, U+3000) do not part words: where one stands inside a word, the engine finds morphs around
    it; a word that begins with one is ``Space`` to it as a whole, and konlpy leaves ``Space`` out, whatever letters
    are in it. So do we. Left out as well is a blank morph of another kind (a line break is one in konlpy).

    The engine keeps no state, so several threads may be in it; it runs outside Python's lock. It is asked from
    ``OKT_THREADS`` threads of its own alone: JPype attaches a thread to the JVM at its first call, and one that ends
    would stay attached for ever.
    """

    name = "okt"

    def __init__(self) -> None:
        super().__init__()
        start_jvm()
        import jpype

        self._engine: Any = jpype.JClass("org.openkoreantext.processor.OpenKoreanTextProcessorJava")
        self._texts: TokenMemo[tuple[Tagged, ...]] = TokenMemo()
        self._pieces: TokenMemo[tuple[Tagged, ...]] = TokenMemo()
        self._threads = ThreadPoolExecutor(OKT_THREADS, thread_name_prefix="okt")

    def tagged(self, text: str) -> tuple[Tagged, ...]:
        """(morph, part of speech, lemma) of each morph of ``text``, as many as ``morphs(text)`` and in that order.

        The part of speech is Okt's (``Noun``, ``Josa``, ``Verb``, ``Adjective`` …). Verbs and adjectives have their
        dictionary form as lemma (파란: 파랗다), every other morph has itself.
        """
        known = self._texts.get(text)
        if known is None:
            known = self._find_tagged(text)
            self._texts.put(text, known)
        return known

    def signature(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "engine": f"konlpy {metadata.version('konlpy')}",
            "dictionary": okt_jar().stem,
            "run_chars": OKT_RUN_CHARS,
            "word_chars": OKT_WORD_CHARS,
        }

    def _find_tagged(self, text: str) -> tuple[Tagged, ...]:
        pieces = [piece for word in readable(text).split(" ") if word for piece in okt_pieces(word)]
        tokens_of = {piece: self._pieces.get(piece) for piece in pieces}
        unknown = [piece for piece, tokens in tokens_of.items() if tokens is None]
        if unknown:
            stripes = [unknown[start::OKT_THREADS] for start in range(min(OKT_THREADS, len(unknown)))]
            for stripe, found in zip(stripes, self._threads.map(self._analyse_all, stripes), strict=True):
                tokens_of.update(zip(stripe, found, strict=True))
        return tuple(token for piece in pieces for token in tokens_of[piece] or ())

    def _find_morphs(self, text: str) -> Tokens:
        return tuple(morph for morph, _, _ in self.tagged(text))

    def _analyse_all(self, pieces: Sequence[str]) -> list[tuple[Tagged, ...]]:
        """The tokens of each piece, kept for the next time."""
        found = [tuple(self._analyse(piece)) for piece in pieces]
        for piece, tokens in zip(pieces, found, strict=True):
            self._pieces.put(piece, tokens)
        return found

    def _analyse(self, piece: str) -> Iterator[Tagged]:
        tokens = self._engine.tokenize(piece).iterator()
        while tokens.hasNext():
            token = tokens.next()
            morph = str(token.text())
            pos = str(token.pos().toString())
            if pos != SPACE and morph.strip():
                lemma = token.stem()
                yield morph, pos, str(lemma.get()) if lemma.isDefined() else morph


def okt_pieces(word: str) -> Iterator[str]:
    """``word``, which has no U+0020, cut into what Okt takes bounded time for: most words are one piece.

    A run of Hangul is cut after every ``OKT_RUN_CHARS`` characters; what is then longer than ``OKT_WORD_CHARS``, at
    white space or at that length.
    """
    if len(word) <= OKT_RUN_CHARS:
        yield word
        return
    start = 0
    for match in _LONG_HANGUL_RUN.finditer(word):
        yield from split_at_space(word[start : match.end()], OKT_WORD_CHARS)
        start = match.end()
    yield from split_at_space(word[start:], OKT_WORD_CHARS)


def readable(text: str) -> str:
    """``text`` with the code points that no analyser can read (NUL, lone surrogates) replaced by a space."""
    return _UNREADABLE.sub(" ", text)


def split_at_space(text: str, limit: int) -> Iterator[str]:
    """Pieces of at most ``limit`` characters, cut before the last white space that fits, else at ``limit``."""
    start = 0
    while len(text) - start > limit:
        cut = max(text.rfind(space, start + 1, start + limit + 1) for space in " \n\t")
        cut = start + limit if cut < 0 else cut
        yield text[start:cut]
        start = cut
    yield text[start:]


_instances: dict[tuple[type[Analyser], int], Analyser] = {}
_instances_lock = threading.Lock()


def mecab_ko() -> MecabKo:
    """The mecab-ko of this process."""
    return _instance(MecabKo)


def okt() -> Okt:
    """The Okt of this process. Starts a JVM the first time (about 2 s). Raises ``AnalyserUnavailable``."""
    return _instance(Okt)


def _instance(kind: type[AnalyserT]) -> AnalyserT:
    key = (kind, os.getpid())  # a forked child makes its own: a lock copied while held would never open
    with _instances_lock:
        if key not in _instances:
            _instances[key] = kind()
        found = _instances[key]
    assert isinstance(found, kind)
    return found
