"""Tokenizers by name, and what all of them do with texts that no analyser can read.

A metric declares which tokenizer it reads (``Metric.reads``), and a run analyses every distinct text once with each
(``scoring.text.run_tokens``).

Ordinary texts reach an analyser unchanged: only NUL and lone surrogates become a space (mecab stops reading at the
first, both bindings refuse the second), and texts that would take an analyser too long are cut (``mecab_ko``, ``okt``).
All limits are in the signature. One analyser per process; everything here is thread-safe.
"""

from __future__ import annotations

import os
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from inspect import isabstract
from typing import Any, ClassVar, Final

from scoring.registry import Registry, classes_in, require

Tokens = tuple[Any, ...]  # strings, or (morph, part of speech, lemma) triples of a tagger
OnShare = Callable[[float], None]  # gets the share of the texts that is analysed; may raise to stop it

REPORT_EVERY: Final = 256  # texts

_UNREADABLE: Final = re.compile("[\x00\ud800-\udfff]")


class Tokenizer(ABC):
    """Splits text into tokens, the same in every process. The constructor has no arguments and may take long.

    ``source``: this tokenizer is a view of the tokens of the one with this name, so a text that has those needs no
    analysis.
    """

    name: ClassVar[str]
    source: ClassVar[str | None] = None

    @abstractmethod
    def tokenize(self, text: str) -> Tokens:
        """The tokens of ``text`` in order, without white space between words."""

    @abstractmethod
    def signature(self) -> dict[str, Any]:
        """Engine, dictionary and limits: what can change the tokens, as JSON."""

    def tokenize_all(self, texts: Sequence[str], report: OnShare) -> list[Tokens]:
        """``tokenize`` of each text."""
        found = []
        for number, text in enumerate(texts):
            if number % REPORT_EVERY == 0:
                report(number / len(texts))
            found.append(self.tokenize(text))
        return found

    def view(self, tokens: Tokens) -> Tokens:
        """The tokens of a text from those of ``source``."""
        return tokens


def tokenizer(name: str) -> Tokenizer:
    """The tokenizer called ``name`` of this process, made at the first call. Raises ``KeyError``.

    Only whoever wants the same one waits while it is made: a warm-up that starts Java for seconds, or a plug-in that
    asks a server, holds up no thread that reads another tokenizer.
    """
    kind = TOKENIZERS[name]
    key = (kind, os.getpid())  # a forked child makes its own: a lock copied while locked would never open
    if key not in _instances:
        with _being_made.setdefault(key, threading.Lock()):
            if key not in _instances:
                _instances[key] = kind()
    return _instances[key]


def tokenizer_signature(name: str) -> dict[str, Any]:
    """What can change the tokens of the tokenizer called ``name``, a plug-in's version included."""
    return {**tokenizer(name).signature(), **TOKENIZERS.origin(name)}


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


def _checked(name: str, offered: Any) -> type[Tokenizer]:
    require(isinstance(offered, type) and issubclass(offered, Tokenizer), "no subclass of Tokenizer")
    require(getattr(offered, "name", None) == name, f"its name is not {name!r}")
    require(not isabstract(offered), "tokenize or signature is missing")
    require(offered.source is None, "a view of another tokenizer can only be built in")
    kind: type[Tokenizer] = offered
    return kind


TOKENIZERS: Final[Registry[type[Tokenizer]]] = Registry(
    "malpan.tokenizers",
    lambda: classes_in("scoring.text", Tokenizer),  # type: ignore[type-abstract]
    _checked,
)

_instances: dict[tuple[type[Tokenizer], int], Tokenizer] = {}
_being_made: dict[tuple[type[Tokenizer], int], threading.Lock] = {}
