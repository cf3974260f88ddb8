"""Okt (Open Korean Text) with konlpy's values (``norm`` and ``stem`` off), on a JVM that starts at first use.

konlpy analyses a text anew for its morphs and for its lemmas. Here the engine inside konlpy's package is asked once for
both, and once for a word (eojeol) however often it occurs in the texts of a call: the engine treats words between
U+0020 independently. Other space characters (U+00A0, U+3000) do not separate words: inside a word, the engine finds
morphs around them; a word that begins with one is one ``Space`` token, which konlpy drops with all letters in it. So do
we. A blank morph of another kind is dropped too (a line break is one in konlpy).

Okt takes time quadratic in an unbroken run of Hangul (0.05 ms a character in runs of 5, 0.2 in runs of 30, 0.6 in runs
of 100; 34,000 do not finish in minutes), so a run longer than ``OKT_RUN_CHARS`` is cut there: words between spaces have
fewer than 30, and text without spaces stays whole up to that length. It is quadratic also in strings that might be
addresses (``a.b.a.b.``: 25 s for 5,000 characters), so it gets no string without a space longer than
``OKT_WORD_CHARS``. With both, time is linear in the text: about 0.6 ms for each character at worst.

The engine keeps no state, so several threads may use it; it runs outside Python's lock. Only ``OKT_THREADS`` dedicated
threads call it: JPype attaches a thread to the JVM at its first call, and a thread that ends would stay attached for
ever.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from itertools import chain
from typing import Any, Final

from scoring.text.jvm import okt_jar, start_jvm
from scoring.text.tokenization import OnShare, Tokenizer, Tokens, readable, split_at_space, tokenizer

Tagged = tuple[str, str, str]  # morph, part of speech, lemma

OKT_RUN_CHARS: Final = 100
OKT_WORD_CHARS: Final = 200
SPACE: Final = "Space"
OKT_THREADS: Final = min(4, os.cpu_count() or 1)
BATCH_PIECES: Final = 4_096  # analysed between two reports

_LONG_HANGUL_RUN: Final = re.compile(f"[가-힣ㄱ-ㅎㅏ-ㅣ]{{{OKT_RUN_CHARS}}}(?=[가-힣ㄱ-ㅎㅏ-ㅣ])")


class Okt(Tokenizer):
    """(morph, part of speech, lemma) of each morph.

    The part of speech is Okt's (``Noun``, ``Josa``, ``Verb``, ``Adjective`` …). Verbs and adjectives have their
    dictionary form as lemma (파란: 파랗다), every other morph is its own lemma.
    """

    name = "okt-tagged"

    def __init__(self) -> None:
        start_jvm()
        import jpype

        self._engine: Any = jpype.JClass("org.openkoreantext.processor.OpenKoreanTextProcessorJava")
        self._threads = ThreadPoolExecutor(OKT_THREADS, thread_name_prefix="okt")

    def signature(self) -> dict[str, Any]:
        return {
            "name": "okt",
            "engine": f"konlpy {metadata.version('konlpy')}",
            "dictionary": okt_jar().stem,
            "run_chars": OKT_RUN_CHARS,
            "word_chars": OKT_WORD_CHARS,
        }

    def tokenize(self, text: str) -> tuple[Tagged, ...]:
        return self.tokenize_all([text], lambda _: None)[0]

    def morphs(self, text: str) -> tuple[str, ...]:
        """The morphs of ``text``, without tags."""
        return surfaces(self.tokenize(text))

    def tokenize_all(self, texts: Sequence[str], report: OnShare) -> list[tuple[Tagged, ...]]:
        """``tokenize`` of each text. Each distinct piece of all texts is analysed once; equal tokens are one object."""
        found: dict[str, tuple[Tagged, ...]] = dict.fromkeys((p for text in texts for p in text_pieces(text)), ())
        distinct, same = list(found), dict[Tagged, Tagged]()
        for start in range(0, len(distinct), BATCH_PIECES):
            report(start / len(distinct))
            batch = distinct[start : start + BATCH_PIECES]
            stripes = [batch[number::OKT_THREADS] for number in range(min(OKT_THREADS, len(batch)))]
            for stripe, analysed in zip(stripes, self._threads.map(self._analyse_all, stripes), strict=True):
                for piece, tokens in zip(stripe, analysed, strict=True):
                    found[piece] = tuple([same.setdefault(token, token) for token in tokens])
        return [tuple(chain.from_iterable(map(found.__getitem__, text_pieces(text)))) for text in texts]

    def _analyse_all(self, pieces: Sequence[str]) -> list[list[Tagged]]:
        return [list(self._analyse(piece)) for piece in pieces]

    def _analyse(self, piece: str) -> Iterator[Tagged]:
        tokens = self._engine.tokenize(piece).iterator()
        while tokens.hasNext():
            token = tokens.next()
            morph = sys.intern(str(token.text()))
            pos = sys.intern(str(token.pos().toString()))
            if pos != SPACE and morph.strip():
                lemma = token.stem()
                yield morph, pos, sys.intern(str(lemma.get())) if lemma.isDefined() else morph


class OktMorphs(Tokenizer):
    """The morphs of Okt."""

    name = "okt"
    source = Okt.name

    def signature(self) -> dict[str, Any]:
        return okt().signature()

    def tokenize(self, text: str) -> tuple[str, ...]:
        return okt().morphs(text)

    def view(self, tokens: Tokens) -> tuple[str, ...]:
        return surfaces(tokens)


def okt() -> Okt:
    """The Okt of this process. Starts a JVM the first time (about 2 s). Raises ``AnalyserUnavailable``."""
    found = tokenizer(Okt.name)
    assert isinstance(found, Okt)
    return found


def surfaces(tagged: Sequence[Tagged]) -> tuple[str, ...]:
    """The morphs without their tags."""
    return tuple([morph for morph, _, _ in tagged])


def text_pieces(text: str) -> Iterator[str]:
    """The strings of ``text`` for the engine, in order: its words, cut if they are too long."""
    for word in readable(text).split(" "):
        if len(word) > OKT_RUN_CHARS:
            yield from okt_pieces(word)
        elif word:
            yield word


def okt_pieces(word: str) -> Iterator[str]:
    """``word``, which has no U+0020, cut so that Okt's time is limited: most words are one piece.

    A run of Hangul is cut after every ``OKT_RUN_CHARS`` characters; a piece still longer than ``OKT_WORD_CHARS`` is cut
    at white space or at that length.
    """
    if len(word) <= OKT_RUN_CHARS:
        yield word
        return
    start = 0
    for match in _LONG_HANGUL_RUN.finditer(word):
        yield from split_at_space(word[start : match.end()], OKT_WORD_CHARS)
        start = match.end()
    yield from split_at_space(word[start:], OKT_WORD_CHARS)
